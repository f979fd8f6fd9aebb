// A step as timers of training programs see it: passes with the transfers inside them, over the
// ranks.
#pragma once

#include <functional>
#include <vector>

#include "sim/core/activity.h"
#include "sim/training/check.h"
#include "sim/training/degraded/degrade.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// One time over the ranks.
struct OverRanks {
  core::Seconds least, mean, most;
};

struct ObservedStep {
  core::Seconds time;
  core::ByActivity<core::Seconds> breakdown;  ///< as StepResult has it: mean over ranks
  OverRanks forward;      ///< all forward passes of a rank, with the transfers that nothing hides
  OverRanks backward;     ///< the same of backward passes, weight gradients and what they recompute
  core::Bytes allocated;  ///< tensors of the fullest GPU at the peak
  core::Bytes reserved;   ///< with what its allocator holds beside
};

/// Simulates the step, with slow parts where there are some. Waits for other stages and for
/// data-parallel communication are part of no pass, as in Megatron's forward-compute and
/// backward-compute.
/// @param passes  false: forward and backward are left at zero, which is several times faster
/// @param told    which share of the step is simulated; may be empty
ObservedStep observe_step(const CheckedScenario& checked,
                          const std::vector<Degradation>& degradations = {},
                          bool passes = true,
                          const std::function<void(double share)>& told = {});

}  // namespace headway::training
