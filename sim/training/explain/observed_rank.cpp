#include "sim/training/explain/observed_rank.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/gpu/kernel_time.h"
#include "sim/training/explain/traced_steps.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step_clock.h"
#include "sim/training/unequal/check_unequal.h"

namespace headway::training {

namespace {

using core::GpuSpan;
using core::GpuWork;
using core::KernelKind;
using core::Tick;

GpuWork work_of_kernel(KernelKind kind) {
  switch (kind) {
    case KernelKind::gemm:
    case KernelKind::grouped_gemm:
      return GpuWork::matrix_products;
    case KernelKind::attention_forward:
    case KernelKind::attention_backward:
      return GpuWork::attention;
    case KernelKind::host_copy:
      return GpuWork::memory;
    default:
      return GpuWork::other_computation;
  }
}

/// A kernel of an operation: its share of the operation's time, and what of that the GPU works.
struct KernelPart {
  GpuWork work = GpuWork::other_computation;
  double share = 0;
  core::Seconds works;
  std::int64_t launches = 1;
};

/// The kernels of each operation of the step graph, found once.
class KernelParts {
 public:
  KernelParts(const workload::StepGraph& graph, KernelTimes times)
      : graph_(graph), times_(std::move(times)) {}

  const std::vector<KernelPart>& of(const StepOrigin& origin) {
    const auto [place, fresh] = parts_.try_emplace({origin.block, origin.operation});
    if (fresh) {
      place->second = split(operation(origin));
    }
    return place->second;
  }

  [[nodiscard]] const workload::Operation& operation(const StepOrigin& origin) const {
    return graph_.blocks[static_cast<std::size_t>(origin.block)]
        .operations[static_cast<std::size_t>(origin.operation)];
  }

 private:
  [[nodiscard]] std::vector<KernelPart> split(const workload::Operation& operation) const {
    std::vector<KernelPart> parts;
    const core::Seconds gap = gpu::launch_gap(*times_.gpu, times_.launch);
    core::Seconds sum;
    for (const core::Kernel& kernel : operation.kernels) {
      const core::Seconds time =
          gpu::kernel_time(*times_.gpu, times_.shares, kernel, times_.launch);
      const bool on_cpu = kernel.kind == KernelKind::host_update;
      const core::Seconds works = on_cpu ? core::Seconds(0)
                                         : time - gap * (static_cast<double>(kernel.count) /
                                                         static_cast<double>(kernel.every));
      const std::int64_t launched = kernel.count * std::max<std::int64_t>(1, kernel.launches);
      const std::int64_t launches = (launched + kernel.every - 1) / kernel.every;
      parts.push_back({work_of_kernel(kernel.kind), time.si(), works, on_cpu ? 0 : launches});
      sum += time;
    }
    for (KernelPart& part : parts) {
      part.share = sum > core::Seconds(0) ? part.share / sum.si() : 0;
    }
    return parts;
  }

  const workload::StepGraph& graph_;
  KernelTimes times_;
  std::map<std::pair<int, int>, std::vector<KernelPart>> parts_;
};

/// Collects what one rank does.
class RankSpans {
 public:
  RankSpans(const LoweredStep& lowered, const network::Actor& actor, KernelParts& parts)
      : lowered_(lowered), actor_(actor), parts_(parts) {
    arrives_.resize(actor.groups.size());
    for (const auto& step : lowered.problem.programs[actor.program]) {
      if (step.code == network::StepCode::arrive) {
        arrives_[step.slot] = true;
      }
    }
  }

  void add(const network::TraceEntry& entry) {
    for_each_step(lowered_.problem, actor_, entry, [this](std::uint32_t i, Tick begin, Tick end) {
      const auto& step = lowered_.problem.programs[actor_.program][i];
      if (step.code == network::StepCode::compute) {
        add_computation(lowered_.origins[actor_.program][i], begin, end);
      } else if (step.code == network::StepCode::wait && !arrives_[step.slot]) {
        add_span({seconds(begin), seconds(end), GpuWork::send_receive, 1, 1});
      }
    });
  }

  void add(const network::TransferEntry& entry) {
    const auto& step = lowered_.problem.programs[actor_.program][entry.step];
    const std::uint32_t group = actor_.groups[step.slot];
    Tick& last = last_of_group_[group];
    const Tick begin = std::max(entry.arrived, last);
    last = entry.completed;
    GpuSpan span{seconds(begin), seconds(entry.completed), work_of_group(group), 1, 1};
    if (const auto use = lowered_.use_of_group[group]; use < lowered_.collectives.size()) {
      span.scale_up_bytes = lowered_.collectives[use].alone.scale_up_bytes;
      span.nic_bytes = lowered_.collectives[use].alone.nic_bytes;
    }
    add_span(span);
  }

  [[nodiscard]] std::vector<GpuSpan> take() { return std::move(spans_); }

 private:
  static core::Seconds seconds(Tick ticks) { return core::Clock::step().to_seconds(ticks); }

  void add_span(const GpuSpan& span) {
    if (span.end > span.begin) {
      spans_.push_back(span);
    }
  }

  void add_computation(const StepOrigin& origin, Tick begin, Tick end) {
    if (origin.block < 0) {
      return;
    }
    const auto& operation = parts_.operation(origin);
    if (operation.kind != workload::OperationKind::compute) {
      // What kernels take longer beside a collective; a delay is no work.
      if (operation.kind == workload::OperationKind::collective) {
        add_span({seconds(begin), seconds(end), GpuWork::other_computation, 1, 0});
      }
      return;
    }
    const core::Seconds whole = seconds(end - begin);
    core::Seconds now = seconds(begin);
    for (const KernelPart& part : parts_.of(origin)) {
      const core::Seconds length = whole * part.share;
      const double busy = length > core::Seconds(0) ? std::min(1.0, part.works / length) : 0;
      add_span({now, now + length, part.work, busy, part.launches});
      now += length;
    }
  }

  [[nodiscard]] GpuWork work_of_group(std::uint32_t group) const {
    const std::uint32_t use = lowered_.use_of_group[group];
    return use < lowered_.collectives.size() ? core::work_of(lowered_.collectives[use].call.kind)
                                             : GpuWork::memory;  // between GPU and host
  }

  const LoweredStep& lowered_;
  const network::Actor& actor_;
  KernelParts& parts_;
  std::vector<bool> arrives_;  ///< per slot; elsewhere the rank only receives
  std::map<std::uint32_t, Tick> last_of_group_;
  std::vector<GpuSpan> spans_;
};

/// The rank that is lowered for this one.
RankCoordinates stand_in(const TensorOrbits& orbits, RankCoordinates at) {
  if (!orbits.empty()) {
    at.tensor = orbits.kept[orbits.orbit[static_cast<std::size_t>(at.tensor)]];
  }
  return at;
}

/// The actors of these ranks: ranks that are lowered, in order, are the actors.
std::vector<std::uint32_t> actors_of(const RankLayout& layout,
                                     const TensorOrbits& orbits,
                                     const std::vector<core::Rank>& ranks) {
  std::map<std::uint32_t, std::uint32_t> actor_of_rank;
  for (const core::Rank rank : ranks) {
    actor_of_rank[layout.rank(stand_in(orbits, layout.coordinates(rank))).index()] = 0;
  }
  std::uint32_t actor = 0;
  for (std::int64_t r = 0; r < layout.ranks(); ++r) {
    const core::Rank rank(static_cast<std::uint32_t>(r));
    if (const auto found = actor_of_rank.find(rank.index()); found != actor_of_rank.end()) {
      found->second = actor;
    }
    actor += orbits.keeps(layout.coordinates(rank).tensor) ? 1U : 0U;
  }
  std::vector<std::uint32_t> actors;
  actors.reserve(ranks.size());
  for (const core::Rank rank : ranks) {
    actors.push_back(
        actor_of_rank[layout.rank(stand_in(orbits, layout.coordinates(rank))).index()]);
  }
  return actors;
}

}  // namespace

ObservedRanks observe_ranks(const CheckedScenario& checked,
                            const std::vector<core::Rank>& ranks,
                            const std::function<void(std::size_t done, std::size_t total)>& count) {
  refuse_unequal(checked, "comparing profiles on");
  const Scenario& s = checked.scenario();
  const workload::StepGraph graph = step_graph(checked);
  const network::Fabric fabric = build_fabric(s.cluster, hash_seed(s));
  const RankOrbits orbits{tensor_orbits(checked, fabric), {}};  // each replica has its own ranks
  const LoweredStep lowered = lower(checked, graph, fabric, {.origins = true, .orbits = &orbits});
  network::RunOptions how;
  how.trace = true;
  how.transfers = true;
  how.progress = network::in_parts(count);
  const network::RunResult run = run_step(lowered, how);
  KernelParts parts(graph, kernel_times(s));
  const RankLayout layout = rank_layout(checked);
  const auto actors = actors_of(layout, orbits.tensor, ranks);
  std::map<std::uint32_t, RankSpans> of_class;
  for (const std::uint32_t actor : actors) {
    of_class.try_emplace(run.class_of_actor[actor], lowered, lowered.problem.actors[actor], parts);
  }
  const auto tell = [&of_class](const auto& entries) {
    for (const auto& entry : entries) {
      if (const auto found = of_class.find(entry.actor); found != of_class.end()) {
        found->second.add(entry);
      }
    }
  };
  tell(run.trace);
  tell(run.transfers);
  std::map<std::uint32_t, std::vector<GpuSpan>> spans;
  for (auto& [number, of_rank] : of_class) {
    spans[number] = of_rank.take();
  }
  ObservedRanks out{core::Clock::step().to_seconds(run.end), {}};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    out.ranks.push_back(
        {ranks[i], layout.coordinates(ranks[i]), spans.at(run.class_of_actor[actors[i]])});
  }
  return out;
}

}  // namespace headway::training
