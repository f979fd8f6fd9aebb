#include "sim/campaign/drill_step.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/training/lower.h"
#include "sim/training/placement.h"
#include "sim/workload/build.h"

namespace headway::campaign {

namespace {

constexpr double kMillion = 1e6;

core::Tick step_ticks(const training::LoweredStep& lowered) {
  network::RunOptions options;
  options.trace = false;
  return network::run(lowered.problem, options).end;
}

/// The ports of the rail that serves this GPU, one a plane, in both directions.
void degrade_port(network::Fabric& fabric, std::uint32_t gpu, double share) {
  const network::GpuPlace place = fabric.place(core::GpuId(gpu));
  for (std::uint32_t plane = 0; plane < fabric.shape().planes; ++plane) {
    for (const bool up : {true, false}) {
      const core::LinkId port = fabric.nic_link(place.node, place.rail, plane, up);
      fabric.degrade(port, share, fabric.link(port).cables);
    }
  }
}

/// Actors are numbered by rank.
std::size_t rank_on(const training::CheckedScenario& checked, std::uint32_t gpu) {
  const training::RankLayout layout = training::rank_layout(checked);
  std::uint32_t rank = 0;
  while (layout.gpu(core::Rank(rank)).index() != gpu) {
    ++rank;
  }
  return rank;
}

}  // namespace

double slowdown_of(const training::CheckedScenario& checked, const SlowPart& part) {
  const auto& s = checked.scenario();
  const auto graph = workload::build_step_graph(s.model, s.training, s.parallelism,
                                                checked.data_parallel(), checked.micro_batches());
  network::Fabric fabric = training::build_fabric(s.cluster);
  const core::Tick healthy = step_ticks(training::lower(checked, graph, fabric));
  const auto gpu = static_cast<std::uint32_t>(part.node * s.cluster.node.gpus + part.gpu);
  HEADWAY_CHECK(gpu < checked.gpus(), "GPU {} of {}", gpu, checked.gpus());
  if (part.link_share < 1) {
    degrade_port(fabric, gpu, part.link_share);
  }
  training::LoweredStep lowered = training::lower(checked, graph, fabric);
  lowered.problem.actors[rank_on(checked, gpu)].slowdown_ppm =
      std::llround((1 / part.compute_share - 1) * kMillion);
  const core::Tick slow = step_ticks(lowered);
  // One slow part can let others start in a luckier order; a gain of that kind is no effect of it.
  return std::max(1.0, static_cast<double>(slow) / static_cast<double>(healthy));
}

}  // namespace headway::campaign
