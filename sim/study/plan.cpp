#include "sim/study/plan.h"

#include <chrono>
#include <fmt/format.h>
#include <oneapi/tbb/info.h>

#include "sim/config/spec_type.h"
#include "sim/config/writer.h"
#include "sim/study/predict.h"
#include "sim/training/check.h"

namespace headway::study {

std::vector<std::string> PlanReport::reasons() const {
  if (status() == Status::ok) {
    return {};
  }
  return {
      "No layout of this cluster fits, keeps the rules and the limits; the table says what each "
      "fails on."};
}

std::vector<PlannedRun> PlanReport::plans() const {
  std::vector<PlannedRun> out;
  for (const plan::Plan& plan : result.plans) {
    PlannedRun& run = out.emplace_back();
    run.setting = plan.setting;
    run.gpus = std::int64_t{plan.setting.nodes} * scenario.cluster.node.gpus;
    run.variants = plan.variants;
    run.behind = plan::behind(plan, result.plans.front(), objective);
    run.pareto = plan.pareto;
    run.estimate = core::if_positive(plan.estimate);
    run.layout = {plan.layout, plan.micro_batches};
    run.step = plan.step;
    if (plan.campaign) {
      run.campaign = plan.campaign->result;
      run.cost = cost_of(*plan.campaign, price_source);
    }
  }
  return out;
}

PlanReport search_plans(const config::LoadedScenario& loaded,
                        const plan::PlanOptions& options,
                        core::Seconds load_time) {
  const auto start = std::chrono::steady_clock::now();
  PlanReport report;
  report.version = HEADWAY_VERSION;
  report.scenario = loaded.scenario;
  report.digest = scenario_digest(loaded);
  report.price_source = study::price_source(loaded);
  report.objective = options.objective;
  report.beside = options.beside;
  training::check_apart_from_layout(loaded.scenario, loaded.marks);  // here, where places are known
  plan::PlanOptions placed = options;
  placed.marks = loaded.marks;
  report.result = plan::search(loaded.scenario, placed);
  const core::Seconds elapsed(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  report.timing.load = load_time;
  report.timing.step = elapsed;
  report.timing.total = load_time + elapsed;
  report.timing.threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  return report;
}

std::string plan_file(const PlanReport& report, std::size_t place) {
  const plan::Plan& plan = report.result.plans[place];
  training::Scenario s = report.scenario;
  s.name = fmt::format("{}, plan {}", s.name, place + 1);
  s.cluster.nodes = plan.setting.nodes;
  s.training.global_batch = plan.setting.global_batch;
  s.training.sequence_length = plan.setting.sequence_length;
  s.training.precision = plan.setting.precision;
  s.parallelism = plan.layout;
  s.search = {};
  return config::write_spec(*config::find_kind("scenarios")->type, &s);
}

}  // namespace headway::study
