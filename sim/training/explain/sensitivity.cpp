// The step with one input changed at a time.
#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/training/explain/explain.h"
#include "sim/training/explain/inputs.h"
#include "sim/training/step/step.h"

namespace headway::training {

namespace {

using core::Seconds;

/// @returns nothing where the changed machine contradicts a measured curve
std::optional<Seconds> step_with(const Scenario& scenario,
                                 const Input& input,
                                 double factor,
                                 core::JointProgress& progress) {
  const core::Count count = progress.counted_piece();
  std::optional<Seconds> time;
  try {
    time = simulate_step(check(scaled(scenario, input, factor)),
                         {.trace = false, .hash_draws = 0, .progress = count})
               .time;
  } catch (const core::Error&) {
    // nothing
  }
  if (count) {
    count(1, 1);
  }
  return time;
}

}  // namespace

Seconds Sensitivity::span(Seconds step) const {
  const auto distance = [&](const std::optional<Seconds>& time) {
    return time ? std::abs((*time - step).si()) : 0.0;
  };
  return Seconds(std::max(distance(lower), distance(higher)));
}

std::vector<Sensitivity> step_sensitivities(const CheckedScenario& checked,
                                            Seconds step,
                                            double change,
                                            const core::Count& count) {
  std::vector<Input> inputs = step_inputs();
  if (checked.scenario().parallelism.offload != workload::Offload::none) {
    inputs.push_back(host_way_input());
  }
  core::JointProgress progress(count, 2 * inputs.size());
  std::vector<Sensitivity> list;
  for (const Input& input : inputs) {
    list.push_back({input.name, input.fields,
                    step_with(checked.scenario(), input, 1 - change, progress),
                    step_with(checked.scenario(), input, 1 + change, progress), change});
  }
  std::stable_sort(list.begin(), list.end(), [&](const Sensitivity& a, const Sensitivity& b) {
    return a.span(step) > b.span(step);
  });
  return list;
}

}  // namespace headway::training
