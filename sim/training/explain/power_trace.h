// What the GPUs of a cluster draw over one step, from what the simulation saw every rank do.
#pragma once

#include <vector>

#include "sim/core/model_constant.h"
#include "sim/core/units.h"
#include "sim/training/check.h"

namespace headway::training {

/// Power of all GPUs that train, averaged over windows of equal length.
struct PowerTrace {
  core::Seconds step;  ///< its length: windows x window
  core::Seconds window;
  std::vector<core::Watts> gpus;
  /// The rack whose power swings most, with its hosts and idle spares; empty where racks have no
  /// limit (`cluster.power.rack`).
  std::vector<core::Watts> rack;
  core::Watts rack_standing;  ///< that rack while nothing runs
};

/// A GPU draws its limit while kernels run and its idle power else: while it waits for a transfer,
/// for another stage, or for others to end.
/// Source of the states: arXiv 2508.14318 (Microsoft, OpenAI, NVIDIA): compute near the limit,
/// communication near idle. Power falls and rises at once; boards take some milliseconds, so
/// windows are not shorter. A rack has `run.recovery.rack_nodes` nodes in a row; each of its GPUs
/// draws what the GPUs of its stage and kind draw in the mean.
/// @param fold  simulate one rank a class of equals
PowerTrace power_trace(const CheckedScenario& checked, bool fold);

}  // namespace headway::training
