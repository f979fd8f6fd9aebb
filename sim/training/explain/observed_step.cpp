#include "sim/training/explain/observed_step.h"

#include <algorithm>

#include "sim/core/error.h"
#include "sim/training/explain/traced_steps.h"
#include "sim/training/step/breakdown.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"
#include "sim/training/step/step_clock.h"

namespace headway::training {

namespace {

using core::Activity;
using core::Tick;

/// Ticks of one class of ranks.
struct PassTicks {
  Tick forward = 0, backward = 0;
};

/// Adds up what each class did, instruction by instruction.
class PassSums {
 public:
  PassSums(const workload::StepGraph& graph,
           const LoweredStep& lowered,
           const network::RunResult& run)
      : graph_(graph), lowered_(lowered), rank_(run.multiplicity.size()) {
    for (std::size_t a = 0; a < run.class_of_actor.size(); ++a) {
      rank_[run.class_of_actor[a]] = &lowered.problem.actors[a];
    }
    sums_.resize(rank_.size());
    for (const network::TraceEntry& entry : run.trace) {
      add(entry);
    }
  }

  [[nodiscard]] const std::vector<PassTicks>& sums() const { return sums_; }

 private:
  void add(const network::TraceEntry& entry) {
    for_each_step(
        lowered_.problem, *rank_[entry.actor], entry,
        [&](std::uint32_t i, Tick begin, Tick end) { book(entry.actor, i, end - begin); });
  }

  void book(std::uint32_t of_class, std::uint32_t index, Tick ticks) {
    const network::Actor& rank = *rank_[of_class];
    const auto& step = lowered_.problem.programs[rank.program][index];
    if (step.code == network::StepCode::wait) {
      const auto& group = lowered_.problem.groups[rank.groups[step.slot]];
      if (group.between_stages() || group.activity == Activity::data) {
        return;
      }
    }
    const int call = lowered_.origins[rank.program][index].call;
    if (call < 0 || step.activity == Activity::optimizer) {
      return;
    }
    const auto stage = static_cast<std::size_t>(lowered_.stage_of(rank.program));
    switch (graph_.stages[stage].calls[static_cast<std::size_t>(call)].kind) {
      case workload::CallKind::forward:
        sums_[of_class].forward += ticks;
        break;
      case workload::CallKind::backward:
      case workload::CallKind::weight_gradient:
        sums_[of_class].backward += ticks;
        break;
      default:
        break;
    }
  }

  const workload::StepGraph& graph_;
  const LoweredStep& lowered_;
  std::vector<const network::Actor*> rank_;  ///< one of each class
  std::vector<PassTicks> sums_;
};

OverRanks over_ranks(const std::vector<PassTicks>& sums,
                     Tick PassTicks::*pass,
                     const std::vector<std::uint32_t>& multiplicity) {
  const auto clock = core::Clock::step();
  OverRanks out{clock.to_seconds(sums.front().*pass), core::Seconds(0), core::Seconds(0)};
  double ranks = 0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const core::Seconds time = clock.to_seconds(sums[c].*pass);
    out.least = std::min(out.least, time);
    out.most = std::max(out.most, time);
    out.mean += multiplicity[c] * time;
    ranks += multiplicity[c];
  }
  out.mean = out.mean / ranks;
  return out;
}

}  // namespace

ObservedStep observe_step(const CheckedScenario& checked,
                          const std::vector<Degradation>& degradations,
                          bool passes,
                          const std::function<void(double share)>& told) {
  const Scenario& s = checked.scenario();
  const workload::StepGraph graph = step_graph(checked);
  const network::Fabric fabric = build_fabric(s.cluster, hash_seed(s));
  const RankOrbits orbits = degradations.empty() ? rank_orbits(checked, fabric) : RankOrbits{};
  LoweredStep lowered = lower(checked, graph, fabric, {.origins = passes, .orbits = &orbits});
  degrade(degradations, rank_layout(checked), fabric, lowered);
  network::RunOptions how;
  how.trace = passes;
  how.progress = told;
  const network::RunResult run = run_step(lowered, how);
  const auto clock = core::Clock::step();
  ObservedStep out;
  out.time = clock.to_seconds(run.end);
  const StepBreakdown broken = break_down(lowered, run);
  double ranks = 0;
  for (const std::uint32_t members : run.multiplicity) {
    ranks += members;
  }
  for (std::size_t c = 0; c < run.multiplicity.size(); ++c) {
    for (std::size_t a = 0; a < core::kActivities; ++a) {
      out.breakdown.values[a] +=
          run.multiplicity[c] / ranks * clock.to_seconds(broken.classes[c].values[a]);
    }
  }
  if (passes) {
    const PassSums sums(graph, lowered, run);
    out.forward = over_ranks(sums.sums(), &PassTicks::forward, run.multiplicity);
    out.backward = over_ranks(sums.sums(), &PassTicks::backward, run.multiplicity);
  }
  const MemoryResult memory = predict_memory(checked);
  out.allocated = memory.allocated;
  out.reserved = memory.reserved;
  return out;
}

}  // namespace headway::training
