// Two causes at once, where no single one explains what the logs say.
#pragma once

#include <vector>

#include "sim/core/progress/joint_progress.h"
#include "sim/study/diagnose/diagnose.h"
#include "sim/study/diagnose/weighing.h"

namespace headway::study {

/// All pairs are weighed with figures put together from those of their causes: times of steps and
/// shares add up, rates and the like multiply. The best few are then simulated at their likeliest
/// severities, and the figures of all others moved by what that changes.
/// @param trials  of single causes; those of a cause in the order of severities
/// @param count   told how many are simulated; may be empty
std::vector<Suspect> suspect_pairs(const Weighing& weighing,
                                   const std::vector<Trial>& trials,
                                   const core::Count& count = {});

}  // namespace headway::study
