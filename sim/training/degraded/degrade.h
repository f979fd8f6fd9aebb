// A step on a cluster with slow parts.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/ids.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/flow/problem.h"

namespace headway::training {

class RankLayout;
struct LoweredStep;

/// A part that is slower than it should be.
struct Degradation {
  enum class Kind {
    gpu,        ///< the GPU of this rank computes at `keeps` of its speed
    link,       ///< the network card of this rank's GPU carries `keeps` of its rate, both ways
    all_gpus,   ///< every GPU computes at `keeps` of its speed
    all_links,  ///< every network card carries `keeps` of its rate (the rest is other traffic)
    stage,      ///< this rank's pipeline stage passes micro-batches at `keeps` of its speed
    ways,       ///< all ways between sites carry `keeps` of their rate: no part of a lowered step,
                ///< whose flows have it (with_slow_ways)
  };
  Kind kind = Kind::gpu;
  double keeps = 1;  ///< 0 < keeps <= 1
  core::Rank rank{0};
};

/// What the flow engine adds to the compute times of a GPU that keeps so much of its speed.
///     1e6 (1 / keeps - 1), in parts per million
std::int64_t slowdown_ppm(double keeps);

/// The links of the network card that serves a GPU: every plane, both directions.
std::vector<core::LinkId> card_links(const network::Fabric& fabric, core::GpuId gpu);

/// Every pass of these actors, all those of a stage, takes 1 / keeps as long: its kernels, and the
/// transfers among its tensor and context ranks.
void slow_stage(const std::vector<std::uint32_t>& actors, double keeps, network::Problem& problem);

/// Slows the actors and links of a lowered step. A slow part changes speeds, never which bytes go
/// where, so the healthy step is lowered and changed afterwards. Of several on one part the slowest
/// counts.
void degrade(const std::vector<Degradation>& degradations,
             const RankLayout& layout,
             const network::Fabric& fabric,
             LoweredStep& lowered);

}  // namespace headway::training
