#include "sim/training/explain/power_trace.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

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

/// Books the kernels of an entry of the trace: of instructions in a row, or of one. What the CPU
/// adds to an instruction lies between its kernels.
void add_entry(const LoweredStep& lowered,
               const network::Actor& actor,
               const network::TraceEntry& entry,
               double gpus,
               Windows& windows) {
  for_each_step(lowered.problem, actor, entry, [&](std::uint32_t i, Tick begin, Tick end) {
    const network::ProgramStep& step = lowered.problem.programs[actor.program][i];
    if (step.code == StepCode::compute && step.ticks > 0) {
      const Tick idle = lowered.idle[actor.program][i];
      const double runs = 1 - static_cast<double>(idle) / static_cast<double>(step.ticks);
      windows.add(begin, end, gpus * runs);
    }
  });
}

/// GPUs of one kind of node that work on one stage: they compute at about the same time.
struct StageOfKind {
  int stage = 0, kind = 0;
  auto operator<=>(const StageOfKind&) const = default;
};

/// What so many GPUs of each draw, window by window.
using GpuPower = std::map<StageOfKind, std::vector<core::Watts>>;

std::map<StageOfKind, double> count_gpus(const CheckedScenario& checked,
                                         std::int64_t first_node,
                                         std::int64_t nodes) {
  const Scenario& s = checked.scenario();
  const RankLayout layout(s.parallelism, checked.data_parallel());
  std::map<StageOfKind, double> counts;
  for (std::int64_t n = first_node; n < first_node + nodes; ++n) {
    for (int g = 0; g < s.cluster.node.gpus; ++g) {
      const auto rank = static_cast<std::uint32_t>(n * s.cluster.node.gpus + g);
      ++counts[{layout.coordinates(core::Rank(rank)).pipeline, kind_of_node(s.cluster, n)}];
    }
  }
  return counts;
}

/// The nodes of each rack, as the job counts them: racks that hold equally many GPUs of each stage
/// and kind are one.
std::set<std::map<StageOfKind, double>> racks_of(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  const auto order = node_order(s.cluster, s.parallelism, checked.data_parallel(),
                                static_cast<std::uint64_t>(s.run.seed));
  std::map<std::int64_t, std::map<StageOfKind, double>> racks;
  for (std::int64_t n = 0; n < s.cluster.nodes; ++n) {
    const std::int64_t place =
        order.node.empty() ? n : std::int64_t{order.node[static_cast<std::size_t>(n)]};
    for (const auto& [of, gpus] : count_gpus(checked, n, 1)) {
      racks[place / s.run.recovery.rack_nodes][of] += gpus;
    }
  }
  std::set<std::map<StageOfKind, double>> kinds;
  for (const auto& [number, gpus] : racks) {
    kinds.insert(gpus);
  }
  return kinds;
}

/// Power of GPUs of which so many compute.
std::vector<core::Watts> drawn_by(double gpus,
                                  const gpu::GpuSpec& gpu,
                                  const std::vector<double>& computing) {
  std::vector<core::Watts> power;
  power.reserve(computing.size());
  for (const double busy : computing) {
    power.push_back(gpus * gpu.idle_power + busy * (gpu.power - gpu.idle_power));
  }
  return power;
}

struct RackPower {
  std::vector<core::Watts> windows;
  core::Watts standing;
};

/// The power of the rack that swings most over the step.
/// @param windows  of the GPUs of each owner of a program
RackPower most_swinging_rack(const CheckedScenario& checked,
                             const std::vector<ProgramOwner>& owners,
                             const std::vector<Windows>& windows) {
  const Scenario& s = checked.scenario();
  const auto whole = count_gpus(checked, 0, s.cluster.nodes);
  GpuPower all;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const StageOfKind of{owners[i].stage, owners[i].kind};
    all[of] = drawn_by(whole.at(of), node_of_kind(s.cluster, of.kind).gpu, windows[i].computing());
  }
  const NodeSpec& spare = s.cluster.node;
  const core::Watts spares =
      s.run.recovery.rack_spares *
      (static_cast<double>(spare.gpus) * spare.gpu.idle_power + spare.host_power);
  RackPower found;
  core::Watts swing(-1);
  for (const auto& rack : racks_of(checked)) {
    std::vector<core::Watts> power(all.begin()->second.size(), spares);
    core::Watts standing = spares;
    for (const auto& [of, gpus] : rack) {
      const NodeSpec& node = node_of_kind(s.cluster, of.kind);
      const auto& drawn = all.at(of);
      standing += gpus * node.gpu.idle_power + gpus / node.gpus * node.host_power;
      for (std::size_t w = 0; w < power.size(); ++w) {
        power[w] += gpus / whole.at(of) * drawn[w] + gpus / node.gpus * node.host_power;
      }
    }
    const auto [least, most] = std::minmax_element(power.begin(), power.end());
    if (*most - *least > swing) {
      swing = *most - *least;
      found = {std::move(power), standing};
    }
  }
  return found;
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
  const bool racks = s.cluster.power && s.cluster.power->rack;
  std::vector<Windows> stages(racks ? lowered.owners.size() : 0, Windows(run.end));
  for (const network::TraceEntry& entry : run.trace) {
    const auto& actor = lowered.problem.actors[actor_of_class[entry.actor]];
    const double here = run.multiplicity[entry.actor] * gpus / ranks;
    add_entry(lowered, actor, entry, here,
              kinds[static_cast<std::size_t>(lowered.owners[actor.program].kind)]);
    if (racks) {
      add_entry(lowered, actor, entry, here, stages[actor.program]);
    }
  }
  PowerTrace trace{core::Clock::step().to_seconds(run.end), kinds.front().length(), {}, {}, {}};
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
  if (racks) {
    RackPower rack = most_swinging_rack(checked, lowered.owners, stages);
    trace.rack = std::move(rack.windows);
    trace.rack_standing = rack.standing;
  }
  return trace;
}

}  // namespace headway::training
