// headway check: reads configuration files and reports every error of all of them.
#include <string>
#include <vector>

#include "sim/report/verbs/check_report.h"
#include "sim/report/wrap.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

int run_check(int argc, char** argv) {
  CLI::App app(
      "Reads scenarios and catalogue entries and reports every error with its place; simulates "
      "nothing.");
  CommonOptions options;
  std::vector<std::string> files;
  describe(app, "check",
           "  headway check my-scenario.yaml\n"
           "  headway check configs/*/*.yaml --format json");
  app.add_option("FILE", files, "Scenario or catalogue files (YAML)")
      ->required()
      ->option_text("...");
  add_scenario_options(app, options);
  add_output_options(app, options, {"table", "json"});
  app.add_flag("--quiet", options.quiet, "No line for files that are correct");
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  const auto checks = study::check_files(files, load_options(options));
  if (options.format == "json") {
    deliver(options, report::check_json(checks));
  } else if (!options.quiet || !options.out.empty()) {
    deliver(options, report::hanging(report::check_text(checks), page_of(options).width));
  }
  for (const auto& check : checks) {
    if (!check.errors.empty()) {
      print_complaint(core::format_diagnostics(check.errors));
    }
  }
  return study::all_correct(checks) ? 0 : 2;
}

}  // namespace headway::apps
