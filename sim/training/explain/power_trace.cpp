#include "sim/training/explain/power_trace.h"

#include <algorithm>
#include <cmath>

#include "sim/network/flow/problem.h"
#include "sim/training/explain/traced_steps.h"
#include "sim/training/orbits/rank_orbits.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step_clock.h"
#include "sim/training/step/step_inputs.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

namespace {

using core::Tick;
using network::StepCode;

/// Windows are as long, or a hundredth of a step that is shorter than a second.
constexpr core::Seconds kWindow{0.01};
constexpr double kLeastWindows = 100;  ///< Source: chosen, so that a short step has a shape
constexpr double kMostWindows = 1e6;   ///< Source: chosen: what a file of a long step may hold

/// GPUs that compute, summed over windows of equal length.
class Windows {
 public:
  explicit Windows(Tick end) {
    const double whole = core::Clock::step().to_seconds(end).si();
    const double count = std::clamp(std::ceil(whole / kWindow.si()), kLeastWindows, kMostWindows);
    length_ = std::max(1.0, static_cast<double>(end) / count);
    part_.resize(static_cast<std::size_t>(count) + 1);
    rise_.resize(part_.size() + 1);
  }

  /// So many GPUs compute from one tick to another.
  void add(Tick begin, Tick end, double gpus) {
    if (end <= begin) {
      return;
    }
    const std::size_t from = place(begin), to = place(end);
    if (from == to) {
      part_[from] += gpus * static_cast<double>(end - begin);
      return;
    }
    part_[from] += gpus * (static_cast<double>(from + 1) * length_ - static_cast<double>(begin));
    part_[to] += gpus * (static_cast<double>(end) - static_cast<double>(to) * length_);
    rise_[from + 1] += gpus;
    rise_[to] -= gpus;
  }

  /// Mean of each window.
  [[nodiscard]] std::vector<double> computing() const {
    std::vector<double> list(part_.size() - 1);
    double whole = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      whole += rise_[i];
      list[i] = whole + part_[i] / length_;
    }
    return list;
  }
  [[nodiscard]] core::Seconds length() const { return core::Clock::step().to_seconds(1) * length_; }

 private:
  [[nodiscard]] std::size_t place(Tick at) const {
    return std::min(part_.size() - 1, static_cast<std::size_t>(static_cast<double>(at) / length_));
  }

  double length_ = 1;         ///< ticks
  std::vector<double> part_;  ///< GPUs x ticks, of windows in part
  std::vector<double> rise_;  ///< of whole windows: how many more from this one on
};

/// Books what an entry of the trace computes: instructions in a row, or one.
void add_entry(const network::Problem& problem,
               const network::Actor& actor,
               const network::TraceEntry& entry,
               double gpus,
               Windows& windows) {
  for_each_step(problem, actor, entry, [&](std::uint32_t i, Tick begin, Tick end) {
    if (problem.programs[actor.program][i].code == StepCode::compute) {
      windows.add(begin, end, gpus);
    }
  });
}

}  // namespace

PowerTrace power_trace(const CheckedScenario& checked, bool fold) {
  const Scenario& s = checked.scenario();
  const network::Fabric fabric = build_fabric(s.cluster, hash_seed(s));
  const RankOrbits orbits = fold ? rank_orbits(checked, fabric) : RankOrbits{};
  const LoweredStep lowered = lower(checked, step_graph(checked), fabric, {.orbits = &orbits});
  network::RunOptions options;
  options.fold = fold;
  options.trace = true;
  const network::RunResult run = run_step(lowered, options);
  std::vector<std::uint32_t> actor_of_class(run.multiplicity.size());
  for (std::size_t a = run.class_of_actor.size(); a-- > 0;) {
    actor_of_class[run.class_of_actor[a]] = static_cast<std::uint32_t>(a);
  }
  double ranks = 0;
  for (const std::uint32_t many : run.multiplicity) {
    ranks += many;
  }
  const auto gpus = static_cast<double>(checked.gpus());
  std::vector<Windows> kinds(static_cast<std::size_t>(node_kinds(s.cluster)), Windows(run.end));
  for (const network::TraceEntry& entry : run.trace) {
    const auto& actor = lowered.problem.actors[actor_of_class[entry.actor]];
    add_entry(lowered.problem, actor, entry, run.multiplicity[entry.actor] * gpus / ranks,
              kinds[static_cast<std::size_t>(lowered.owners[actor.program].kind)]);
  }
  PowerTrace trace{core::Clock::step().to_seconds(run.end), kinds.front().length(), {}};
  for (int kind = 0; kind < node_kinds(s.cluster); ++kind) {
    const NodeSpec& node = node_of_kind(s.cluster, kind);
    const auto idle = static_cast<double>(nodes_of_kind(s.cluster, kind) * node.gpus);
    const auto computing = kinds[static_cast<std::size_t>(kind)].computing();
    trace.gpus.resize(computing.size());
    for (std::size_t w = 0; w < computing.size(); ++w) {
      trace.gpus[w] +=
          idle * node.gpu.idle_power + computing[w] * (node.gpu.power - node.gpu.idle_power);
    }
  }
  return trace;
}

}  // namespace headway::training
