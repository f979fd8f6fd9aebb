// A step on a cluster with slow parts.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/ids.h"
#include "sim/network/fabric/fabric.h"

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

/// Slows the actors and links of a lowered step. A slow part changes speeds, never which bytes go
/// where, so the healthy step is lowered and changed afterwards. Of several on one part the slowest
/// counts.
void degrade(const std::vector<Degradation>& degradations,
             const RankLayout& layout,
             const network::Fabric& fabric,
             LoweredStep& lowered);

}  // namespace headway::training
