// A step on a cluster with a slow part.
#pragma once

#include <vector>

#include "sim/core/ids.h"
#include "sim/network/fabric.h"
#include "sim/network/problem.h"

namespace headway::training {

/// A part that is slower than it should be.
struct Degradation {
  enum class Kind {
    gpu,        ///< this GPU computes at `keeps` of its speed
    link,       ///< the network card of this GPU carries `keeps` of its rate, both ways
    all_gpus,   ///< every GPU computes at `keeps` of its speed
    all_links,  ///< every network card carries `keeps` of its rate (the rest is other traffic)
  };
  Kind kind = Kind::gpu;
  double keeps = 1;  ///< 0 < keeps <= 1
  core::GpuId gpu{0};
};

/// Lowers the capacity of the links that are degraded.
void degrade_links(const std::vector<Degradation>& degradations, network::Fabric& fabric);

/// Slows the actors whose GPUs are; actor and rank and GPU have one number (packed placement).
///     slowdown = 1 / keeps - 1, of all compute; of several the largest
void slow_actors(const std::vector<Degradation>& degradations, network::Problem& problem);

}  // namespace headway::training
