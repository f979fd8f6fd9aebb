#include "sim/plan/entry.h"

#include <utility>

#include "sim/core/infeasible.h"
#include "sim/training/step/step.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::plan {

namespace {

/// The most by which the analytic tier overestimates a step. It lets transfers over the NICs follow
/// one another, which in the simulation share them and end together: little where gradients are
/// reduced once a step, more with experts, whose groups are others, most where weights and
/// gradients travel with every micro-batch. Source: overestimates over random layouts of dense
/// models and mixtures, rounded up (tests/analytic/analytic_test.cpp, tests/plan/search_test.cpp).
double tier_error(const training::Scenario& s) {
  const bool every_micro_batch =
      workload::reduces_every_micro_batch(s.training.framework, s.parallelism);
  if (s.model.moe) {
    return every_micro_batch ? 0.35 : 0.1;
  }
  return every_micro_batch ? 0.15 : 0.05;
}

}  // namespace

std::optional<Lack> lack(const training::CheckedScenario& layout, double headroom) {
  const training::MemoryResult memory = training::predict_memory(layout);
  const double gpus = layout.scenario().cluster.node.gpus;
  return lack({memory.peak, memory.capacity, memory.host_peak / gpus, memory.host_capacity / gpus},
              headroom);
}

Entry make_entry(training::CheckedScenario layout, core::Seconds estimate) {
  Entry entry{std::move(layout), estimate, {}, 0, false, {}};
  entry.bound = estimate * (1 - tier_error(entry.layout.scenario()));
  return entry;
}

ParallelismSpec resolved(const training::CheckedScenario& layout) {
  ParallelismSpec p = layout.scenario().parallelism;
  p.data = layout.data_parallel();
  p.schedule = workload::effective_schedule(p);
  return p;
}

training::Scenario with_layout(const training::Scenario& scenario, const ParallelismSpec& layout) {
  training::Scenario s = scenario;
  s.parallelism = layout;
  return s;
}

bool faster(const Entry& a, const Entry& b) {
  return a.step.time != b.step.time ? a.step.time < b.step.time : a.index < b.index;
}

void simulate(bool fold, Entry& entry, const core::Count& count) {
  training::StepOptions options;
  options.fold = fold;
  options.hash_draws = 0;
  options.progress = count;
  try {
    entry.step = training::simulate_step(entry.layout, options);
  } catch (const core::Infeasible&) {
    entry.too_large = true;
  }
}

}  // namespace headway::plan
