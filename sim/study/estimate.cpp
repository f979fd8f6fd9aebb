#include "sim/study/estimate.h"

#include "sim/analytic/analytic.h"
#include "sim/study/predict.h"
#include "sim/study/words.h"
#include "sim/training/check.h"
#include "sim/training/step/step.h"

namespace headway::study {

namespace {

/// Of the run without failures; nothing without `run.until`.
std::optional<core::Seconds> pure_work(const training::CheckedScenario& checked,
                                       core::Seconds step) {
  const auto& until = checked.scenario().run.until;
  if (!until) {
    return std::nullopt;
  }
  if (until->wall) {
    return until->wall;
  }
  const double steps = until->steps ? static_cast<double>(*until->steps)
                                    : until->tokens.value_or(0) / checked.tokens_per_step();
  return steps * step;
}

}  // namespace

Estimate estimate(const config::LoadedScenario& loaded) {
  const auto checked = training::check(loaded.scenario, loaded.marks);
  const auto& scenario = checked.scenario();
  analytic::AnalyticTier tier(scenario);
  const auto analytic = tier.evaluate(checked);
  Estimate result;
  result.version = HEADWAY_VERSION;
  result.scenario = label_of(scenario, scenario_digest(loaded));
  result.layout = {checked.gpus(), checked.data_parallel(), checked.micro_batches()};
  result.asked = asked_in_words(scenario, result.layout);
  result.model = model_size(checked);
  result.pipeline = analytic.pipeline;
  result.reduction = analytic.reduction;
  result.update = analytic.update;
  result.imbalance = analytic.imbalance;
  result.step.time = analytic.time;
  training::set_rates(checked, result.step);
  result.step.memory = training::predict_memory(checked);
  result.work = pure_work(checked, analytic.time);
  return result;
}

}  // namespace headway::study
