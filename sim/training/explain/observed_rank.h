// A step as a profiler of single GPUs sees it: which kernels and transfers run when.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/profile/gpu_work.h"
#include "sim/training/check.h"
#include "sim/training/step/placement.h"

namespace headway::training {

/// What the GPU of one rank does in a step.
struct ObservedRank {
  core::Rank rank;
  RankCoordinates at;
  std::vector<core::GpuSpan> spans;  ///< from the start of the step; in no order
};

struct ObservedRanks {
  core::Seconds time;  ///< of the step
  std::vector<ObservedRank> ranks;
};

/// Simulates the step and tells what the GPUs of these ranks do. A computation is a span a kernel
/// of the step graph, of which gaps of launches and what the CPU adds are no work; a transfer lasts
/// from the rank's arrival, or the end of the one before it in its group, to its end, as NCCL's
/// kernels do, which wait for the other ranks on the GPU; a receive lasts as long as it blocks.
/// Delays are no work.
/// @param ranks  of the job, each below its GPUs
/// @param count  told how many parts of it are done; may be empty
ObservedRanks observe_ranks(
    const CheckedScenario& checked,
    const std::vector<core::Rank>& ranks,
    const std::function<void(std::size_t done, std::size_t total)>& count = {});

}  // namespace headway::training
