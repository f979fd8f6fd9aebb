// headway solve: which value of one field meets a condition on a figure.
#include <string>

#include "sim/core/read_file.h"
#include "sim/report/points/solve_report.h"
#include "sim/study/predict.h"

#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/verb.h"

namespace headway::apps {

int run_solve(int argc, char** argv) {
  CLI::App app(
      "Looks for the value of one field of a scenario with which a figure of its run meets a "
      "condition: the smallest such value, or the largest where smaller ones do. Values are "
      "doubled and halved, then a range is halved; all points have equal random draws.");
  CommonOptions common;
  study::SolveRequest request;
  describe(app, "solve",
           "  headway solve s.yaml cluster.nodes --for 'campaign.wall_days.p95 <= 30'\n"
           "  headway solve s.yaml run.checkpoint.interval --for 'campaign.ettr.p50 >= 0.9' "
           "--within '1 min:600 min'");
  app.add_option("SCENARIO", request.file, "Scenario file (YAML), or its name in the catalogue")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("KEY", request.key, "Field that is looked for, as --set takes it")
      ->required()
      ->option_text(" ")
      ->check(utf8_text());
  app.add_option("--for", request.condition, "Condition, as assert: has it (docs/definitions.md)")
      ->required()
      ->option_text("'PATH <= NUMBER'")
      ->check(utf8_text());
  app.add_option("--within", request.within, "Where to look, instead of around the value at hand")
      ->option_text("LO:HI")
      ->check(utf8_text());
  app.add_option("--precision", request.precision, "Of the answer; whole numbers are exact")
      ->option_text("SHARE [0.01]")
      ->check(number_between(1e-6, 0.5));
  add_scenario_options(app, common);
  add_execution_options(app, common);
  add_output_options(app, common, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &common)) {
    return *code;
  }
  check_out(common);
  const config::LoadOptions load = load_options(common);
  request.text = core::read_file(request.file, core::kLargestConfiguration);
  request.set = load.set;
  const auto report = [&] {
    Progress progress(common);
    return study::solve(
        request, load.roots,
        {common.threads, common.fold, validation::load_known_errors(load.roots),
         [&](const std::string& value) { progress.phase(request.key + " = " + value); }});
  }();
  deliver(common,
          printed(report, common, report::solve_json, report::solve_csv, report::solve_document));
  return study::exit_code(report.status());
}

}  // namespace headway::apps
