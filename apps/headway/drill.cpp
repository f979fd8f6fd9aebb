// headway drill: one fault in a running job, what follows, what it costs, what
// would have helped.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/fault_argument.h"
#include "sim/report/screen/drill_screen.h"
#include "sim/report/verbs/drill_report.h"
#include "sim/study/predict.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/report_file.h"
#include "apps/headway/verb.h"

namespace headway::apps {

using namespace core::literals;

namespace {

/// On lines of at most 100 characters.
std::string kinds() {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::string line = "Kinds:";
  for (const auto& [kind, word] : enum_words(drill::FaultKind{})) {
    if (line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = "      ";
    }
    line += " " + std::string(word);
  }
  return text + line;
}

bool asks_for_list(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](const char* word) { return std::string_view(word) == "--list"; });
}

drill::DrillOptions options_of(const std::vector<std::string>& monitors,
                               double hours,
                               bool remedies) {
  drill::DrillOptions how;
  how.horizon = hours * 1_h;
  how.remedies = remedies;
  for (const auto& monitor : monitors) {
    const auto [name, time] = report::parse_monitor(monitor);
    how.monitors.insert_or_assign(name, time);
  }
  return how;
}

struct DrillArguments {
  CommonOptions common;
  std::string scenario, fault;
  std::vector<std::string> monitors;
  double hours = 24;
  bool no_remedies = false, list = false;
  TraceFiles traces;
};

void add_options(CLI::App& app, DrillArguments& given) {
  describe(app, "drill",
           "  headway drill s.yaml --fault nvme-slow@node12,rate='15 MB/s' --set "
           "run.checkpoint.mode=sync\n"
           "  headway drill s.yaml --fault hang --monitor watchdog=off --format "
           "json");
  app.add_option("SCENARIO", given.scenario, "Scenario file (YAML), or its name in the catalogue")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("--fault", given.fault,
                 "KIND[@WHERE][,key=value]; WHERE is nodeN, nodeN/gpuM, leafN, rackN, siteN")
      ->required()
      ->option_text("FAULT");
  app.add_option("--monitor", given.monitors, "A watcher: its time, on or off; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=TIME|on|off");
  app.add_option("--hours", given.hours, "Simulated time after the fault")
      ->check(number_between(0.1, 2400))
      ->option_text("N [24]");
  app.add_flag("--list", given.list,
               "All kinds with their keys, units and defaults, and all monitors");
  app.add_flag("--no-remedies", given.no_remedies,
               "Do not run the drill again with changes of design");
  app.add_option("--set", given.common.set, "Change a value, as cluster.nodes=64; may be repeated")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  add_section_options(app, given.common, "timeline, blame, ledger", report::drill_sections());
  add_progress_options(app, given.common);
  add_report_option(app, given.common);
  add_drill_trace_option(app, given.traces);
  add_output_options(app, given.common, {"table", "json", "csv", "md"});
}

}  // namespace

int run_drill(int argc, char** argv) {
  CLI::App app(
      "One fault in a running job: what follows, who notices, what it costs, what helps.\n" +
      kinds());
  DrillArguments given;
  add_options(app, given);
  CommonOptions& options = given.common;
  if (asks_for_list(argc, argv)) {
    const report::Page page = page_of(options);
    deliver(options, OutFile{"", report::drill_list(page), page.colour});
    return 0;
  }
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options, {options.report, given.traces.drill});
  const auto result = [&] {
    Progress progress(options);
    progress.phase("drilling");
    const auto loaded = config::load_scenario(given.scenario, load_options(options));
    auto how = options_of(given.monitors, given.hours, !given.no_remedies);
    how.count = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
    return study::run_drill(
        loaded, report::parse_fault(given.fault, loaded.scenario.cluster.node.gpus), how);
  }();
  const auto json = [&] { return report::drill_json(result); };
  auto files = with_report(options,
                           printed(result, options, report::drill_json, report::drill_csv,
                                   report::drill_document, report::drill_screen),
                           json);
  add_traces(options, given.traces, json, {}, files);
  deliver(options, files);
  for (const auto& reason : result.reasons) {
    remark(options, std::string(core::to_word(result.status)) + ": " + reason);
  }
  return study::exit_code(result.status);
}

}  // namespace headway::apps
