// A time no simulation of a layout can beat, cheap enough to decide which layouts are worth
// simulating.
#pragma once

#include "sim/core/units.h"
#include "sim/training/check.h"

namespace headway::plan {

/// Lower bound of the step of a layout, from its kernels alone; every transfer is taken to be free.
///     max over stages s of: kernels of s + sum over earlier stages i of (first forward of i + last
///     backward of i)
/// The sum is the fill and drain of the pipeline, which holds where micro-batches enter and leave
/// at the first stage (gpipe, 1f1b, interleaved); other schedules get the first term only.
core::Seconds step_bound(const training::CheckedScenario& layout);

}  // namespace headway::plan
