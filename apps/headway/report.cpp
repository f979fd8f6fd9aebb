// headway report: results that were kept, as one page of HTML.
#include <fmt/format.h>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/text_file.h"
#include "sim/report/page/page.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/report_file.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

report::PageResult result_at(const std::string& file) {
  auto json = report::Json::parse(import::read_input(file), nullptr, false);
  if (json.is_discarded()) {
    throw core::Error(core::SourceMark{.file = file},
                      "this is no JSON; write a result with 'headway run "
                      "SCENARIO --explain --pictures --out r.json'");
  }
  return {report::ReadResult(std::move(json), file), "from " + file};
}

}  // namespace

int run_report(int argc, char** argv) {
  CLI::App app(
      "Writes results as one page of HTML: tiles, verdict, charts, a timeline of the pipeline, and "
      "every figure with its meaning. It needs no network. --report FILE of run, plan, compare, "
      "drill, validate, sweep and collect writes it at once. --trace FILE of run and drill writes "
      "a trace for "
      "ui.perfetto.dev.");
  CommonOptions options;
  options.out = "report.html";
  std::vector<std::string> files;
  describe(app, "report",
           "  headway run s.yaml --explain --pictures --out s.json; headway report s.json\n"
           "  headway report a.json b.json --out both.html --force");
  app.add_option("RESULT", files, "Results as --format json wrote them")
      ->required()
      ->option_text("...");
  app.add_option("--out", options.out, "File to write")
      ->check(file_name())
      ->option_text("FILE [report.html]");
  app.add_flag("--force", options.force, "Let --out overwrite a file");
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  check_out(options);
  std::vector<report::PageResult> results;
  for (const auto& file : files) {
    results.push_back(result_at(file));
  }
  const std::string library = chart_library(ChartLibrary::packed);
  const std::string page = report::report_page(results, library);
  deliver(options, page);
  if (page.size() > report::kLargestPage) {
    remark(options, fmt::format("the page has {:.1f} MB; of fewer results it opens faster",
                                static_cast<double>(page.size()) / 1e6));
  }
  if (library.empty()) {
    remark(options, "no chart library: the page has tables instead (docs/report.md)");
  }
  return 0;
}

}  // namespace headway::apps
