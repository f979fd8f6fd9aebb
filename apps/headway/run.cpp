// headway run: one scenario, predicted.
#include <chrono>
#include <string>

#include "sim/report/run_json.h"
#include "sim/report/verbs/run_table.h"
#include "sim/study/predict.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

study::RunReport predict(const std::string& scenario, const CommonOptions& options, bool explain) {
  Progress progress(options);
  progress.phase("reading " + scenario);
  const auto start = std::chrono::steady_clock::now();
  const auto loaded = config::load_scenario(scenario, load_options(options));
  study::PredictOptions how;
  how.load_time = core::Seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  how.threads = options.threads;
  how.fold = options.fold;
  how.explain = explain;
  how.compared = validation::load_compared_runs(config_roots());
  how.progress = [&](std::string_view phase) { progress.phase(phase); };
  how.count = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
  return study::predict(loaded, how);
}

}  // namespace

int run_run(int argc, char** argv) {
  CLI::App app("Predicts step time, memory, MFU, ETTR, goodput and cost of one scenario.");
  CommonOptions options;
  std::string scenario;
  bool explain = false;
  describe(app, "run",
           "  headway run configs/scenarios/llama-3.1-405b-16k-h100.yaml\n"
           "  headway run s.yaml --set parallelism.tensor=4 --format json --out r.json");
  app.add_option("SCENARIO", scenario, "Scenario file (YAML)")->required()->option_text(" ");
  app.add_flag("--explain", explain,
               "The step's largest parts with their formulas, and its sensitivities");
  add_scenario_options(app, options);
  add_execution_options(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  const auto result = predict(scenario, options, explain);
  deliver(options,
          printed(result, options.format, report::run_json, report::run_csv, report::run_document));
  if (options.format == "json" || options.format == "csv" || !options.out.empty()) {
    for (const auto& reason : result.reasons) {
      remark(options, std::string(core::to_word(result.status)) + ": " + reason);
    }
  }
  return study::exit_code(result.status);
}

}  // namespace headway::apps
