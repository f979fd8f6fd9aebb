// headway compare: two scenarios side by side, and which layer makes the
// difference.
#include <string>
#include <vector>

#include "sim/report/verbs/compare_report.h"
#include "sim/study/predict.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/report_file.h"
#include "apps/headway/verb.h"

namespace headway::apps {

int run_compare(int argc, char** argv) {
  CLI::App app(
      "Predicts two scenarios side by side: step time, goodput, days and "
      "dollars. With --layers "
      "the difference is divided among the layers of the architecture.");
  CommonOptions options;
  std::vector<std::string> files;
  study::CompareOptions how;
  describe(app, "compare",
           "  headway compare configs/scenarios/reference-general-purpose.yaml "
           "configs/scenarios/reference-purpose-built.yaml --layers\n"
           "  headway compare a.yaml b.yaml --set run.trials=50 --format json");
  app.add_option("A_B", files, "Two scenario files (YAML)")
      ->required()
      ->expected(2)
      ->option_text(" ");
  app.add_flag("--layers", how.layers, "Switch layers one at a time, in every order (Shapley)");
  add_scenario_options(app, options);
  add_execution_options(app, options);
  add_report_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options, {options.report});
  const auto result = [&] {
    Progress progress(options);
    progress.phase("comparing architectures");
    how.threads = options.threads;
    how.fold = options.fold;
    how.progress = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
    return study::compare(config::load_scenario(files[0], load_options(options)),
                          config::load_scenario(files[1], load_options(options)), how);
  }();
  deliver(options, with_report(options,
                               printed(result, options, report::compare_json, report::compare_csv,
                                       report::compare_document),
                               [&] { return report::compare_json(result); }));
  return result.a.fits && result.b.fits ? 0 : study::exit_code(study::Status::infeasible);
}

}  // namespace headway::apps
