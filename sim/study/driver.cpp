#include "sim/study/driver.h"

#include <algorithm>
#include <oneapi/tbb/info.h>
#include <utility>

#include "sim/core/error.h"
#include "sim/training/step/step.h"

namespace headway::study {

namespace {

/// A step does not know how the run is operated.
training::Scenario of_step(training::Scenario scenario) {
  scenario.name.clear();
  const auto seed = scenario.run.seed;
  scenario.run = {};
  scenario.run.seed = seed;  // placements are drawn
  scenario.claim = {};
  scenario.assertions.clear();
  scenario.cluster.spares = 0;
  return scenario;
}

}  // namespace

Driver::Driver(const DriverOptions& options)
    : options_(options),
      threads_(options.threads > 0 ? options.threads : tbb::info::default_concurrency()),
      limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads_)) {}

const training::StepResult& Driver::step(const training::CheckedScenario& checked) {
  training::Scenario asked = of_step(checked.scenario());
  const auto known = std::find_if(steps_.begin(), steps_.end(),
                                  [&](const KnownStep& step) { return step.asked == asked; });
  if (known != steps_.end()) {
    return known->result;
  }
  auto packets = options_.packets;
  if (packets) {
    packets->threads = threads_;
  }
  steps_.push_back(
      {std::move(asked), training::simulate_step(checked, {.fold = options_.fold,
                                                           .trace = options_.trace,
                                                           .packets = packets,
                                                           .hash_draws = options_.hash_draws,
                                                           .progress = options_.progress})});
  return steps_.back().result;
}

std::optional<campaign::CampaignOutcome> Driver::campaign(
    const training::CheckedScenario& checked) {
  if (!checked.scenario().run.until) {
    return std::nullopt;
  }
  return campaign::simulate_campaign(checked, step(checked),
                                     {.threads = threads_,
                                      .pictures = options_.pictures,
                                      .known = options_.known,
                                      .phase = options_.phase,
                                      .progress = options_.progress});
}

}  // namespace headway::study
