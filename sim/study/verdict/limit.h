// The one sentence that names what limits a run, derived from its figures.
#pragma once

#include <optional>
#include <string>

#include "sim/campaign/result.h"
#include "sim/training/step/step_result.h"

namespace headway::study {

/// What limits the run, with the numbers that say so. The rule:
/// - a plan that does not fit is limited by memory;
/// - the wall clock is compute, the other causes of the step, and interruptions (1 - ETTR; the
///   causes of the step then count ETTR times). The largest part that is not compute is the largest
///   loss;
/// - compute is the limit where it has half or more, and the largest loss is named beside it; else
///   the largest loss is the limit, and compute is named beside it.
/// Shares are of the step, or of the wall clock where interruptions are the largest loss.
std::string limit_sentence(const training::StepResult& step,
                           const std::optional<campaign::CampaignResult>& campaign);

}  // namespace headway::study
