#include "apps/headway/report_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <system_error>
#include <utility>

#include "sim/core/read_file.h"
#include "sim/report/page/page.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

/// The library has 0.4 to 0.9 MB; what is far larger is not it.
constexpr std::size_t kLargestLibrary = std::size_t{16} << 20U;

}  // namespace

void add_report_option(CLI::App& app, CommonOptions& options, bool in_help) {
  auto* option = app.add_option("--report", options.report,
                                "Also a page of HTML with charts, which needs no network")
                     ->check(file_name())
                     ->option_text("FILE");
  if (!in_help) {
    option->group("");  // `headway report --help` tells it for all verbs
  }
}

std::string chart_library(ChartLibrary form) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path file = program.parent_path().parent_path() / "share" / "headway" /
                        (form == ChartLibrary::packed ? "charts.packed" : "charts.js");
  return !error && fs::is_regular_file(file, error) ? core::read_file(file, kLargestLibrary) : "";
}

std::vector<OutFile> with_report(const CommonOptions& options,
                                 OutFile shown,
                                 const std::function<std::string()>& json) {
  std::vector<OutFile> files{std::move(shown)};
  if (!options.report.empty()) {
    auto result = report::Json::parse(json());
    if (result.contains("scenario") && result["scenario"].contains("name")) {
      auto& name = result["scenario"]["name"];
      name = title_of(name.get<std::string>(), options);
    }
    files.push_back({options.report,
                     report::report_page({{{std::move(result), options.report}, options.command}},
                                         chart_library(ChartLibrary::packed))});
  }
  return files;
}

namespace {

void add_trace_format_option(CLI::App& app, std::string& format) {
  app.add_option("--trace-format", format, "Of traces, whatever their names")
      ->check(one_of({"perfetto", "chrome"}))
      ->option_text("perfetto|chrome")
      ->group("");  // stands beside --trace
}

CLI::Option* add_trace_option(CLI::App& app,
                              const char* name,
                              std::string& file,
                              const char* what) {
  return app.add_option(name, file, what)->check(file_name())->option_text("FILE");
}

}  // namespace

void add_trace_options(CLI::App& app, TraceFiles& files) {
  add_trace_option(app, "--trace", files.step,
                   "Also the step as a trace for ui.perfetto.dev (FILE.json or "
                   "--trace-format chrome: Chrome's); "
                   "--trace-ranks 0-7,64 adds what these ranks do, --trace-steps N more steps; "
                   "--trace-run FILE: the failures of one trial");
  app.add_option("--trace-ranks", files.ranks, "Also these ranks' kernels and transfers in --trace")
      ->option_text("0-7,64")
      ->group("");  // stands beside --trace
  app.add_option("--trace-steps", files.steps, "So many steps in --trace, one after another")
      ->transform(whole_number(1, report::kMostTraceSteps))
      ->option_text("N")
      ->group("");  // likewise
  add_trace_format_option(app, files.format);
  add_trace_option(app, "--trace-run", files.run, "Also the failures of one trial as a trace")
      ->group("");  // likewise
}

void add_drill_trace_option(CLI::App& app, TraceFiles& files) {
  add_trace_option(app, "--trace", files.drill,
                   "Also what follows the fault as a trace (--trace-format chrome: Chrome's)");
  add_trace_format_option(app, files.format);
}

void add_traces(const CommonOptions& options,
                const TraceFiles& traces,
                const std::function<std::string()>& json,
                std::vector<report::Trace> of_step,
                std::vector<OutFile>& files) {
  const auto wanted = {std::pair(&traces.step, &report::trace_of_step),
                       std::pair(&traces.run, &report::trace_of_run),
                       std::pair(&traces.drill, &report::trace_of_drill)};
  for (const auto& [file, make] : wanted) {
    if (file->empty()) {
      continue;
    }
    const report::ReadResult result{report::Json::parse(json()), *file};
    std::vector<report::Trace> processes{make(result)};
    if (file == &traces.step) {
      std::move(of_step.begin(), of_step.end(), std::back_inserter(processes));
      if (auto links = report::trace_of_links(result)) {
        processes.push_back(std::move(*links));
      }
      const auto length = report::number_at(result.json(), {"step", "time_s"});
      report::repeat_step(traces.steps, core::Seconds(length.value_or(0)), processes);
    }
    files.push_back({*file, report::trace_text(processes, *file, traces.format)});
    for (const report::Trace& trace : processes) {
      for (const auto& note : trace.left_out) {
        remark(options, fmt::format("{}: {}", *file, note));
      }
    }
  }
}

}  // namespace headway::apps
