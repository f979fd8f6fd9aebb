// The one sentence that names what limits a run, derived from its figures.
#pragma once

#include <optional>
#include <string>

#include "sim/campaign/result.h"
#include "sim/training/step/step_result.h"

namespace headway::report {

/// What limits the run, with the numbers that say so:
/// memory where the plan does not fit; else the largest part of the step that is no compute, or
/// compute itself where every other part is smaller than a tenth of it; and, where months were
/// simulated and more of the wall clock is lost to failures than to that part, the failures.
/// @param launch_share  training::launch_share: where the CPU adds a tenth of the compute, and more
/// of
///                      the step than any part that is no compute, the CPU is the limit
std::string limit_sentence(const training::StepResult& step,
                           const std::optional<campaign::CampaignResult>& campaign,
                           double launch_share = 0);

}  // namespace headway::report
