// headway plan: which parallel layout is fastest on this cluster.
#include <chrono>
#include <string>

#include "sim/report/plan_report.h"
#include "sim/report/predict.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

std::string print(const report::PlanReport& result, const std::string& format) {
  if (format == "json") {
    return report::plan_json(result);
  }
  if (format == "csv") {
    return report::plan_csv(result);
  }
  const auto document = report::plan_document(result);
  return format == "md" ? report::to_markdown(document) : report::to_text(document);
}

}  // namespace

int run_plan(int argc, char** argv) {
  CLI::App app(
      "Tries the tensor, pipeline, data and micro-batch layouts of a scenario and ranks them by "
      "step time.");
  CommonOptions options;
  std::string scenario;
  plan::PlanOptions how;
  describe(app, "plan",
           "  headway plan configs/scenarios/gpt-3-175b-1024-a100.yaml\n"
           "  headway plan s.yaml --set cluster.nodes=64 --top 3 --format json");
  app.add_option("SCENARIO", scenario, "Scenario file (YAML)")->required()->option_text(" ");
  app.add_option("--top", how.keep, "Plans printed")
      ->check(CLI::Range(1, 1000))
      ->option_text("N [10]");
  add_scenario_options(app, options);
  add_execution_options(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  const auto result = [&] {
    Progress progress(options);
    progress.phase("reading " + scenario);
    const auto start = std::chrono::steady_clock::now();
    const auto loaded = config::load_scenario(scenario, load_options(options));
    const core::Seconds load(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    how.threads = options.threads;
    how.fold = options.fold;
    how.progress = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
    progress.phase("simulating layouts");
    return report::search_plans(loaded, how, load);
  }();
  deliver(options, print(result, options.format));
  return report::exit_code(result.status());
}

}  // namespace headway::apps
