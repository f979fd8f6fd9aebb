// Checks a public statement against physics and against the prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/core/units.h"
#include "sim/study/run_report.h"

namespace headway::study {

/// FLOP/s a GPU that `tokens` in `wall` on `gpus` GPUs ask for.
struct RequiredRate {
  core::FlopsPerSecond parameters_only;  ///< by 6 N D; N: the parameters a token meets
  core::FlopsPerSecond with_attention;   ///< the convention of mfu: attention in full
  core::FlopsPerSecond causal;           ///< the convention of mfu_causal: attention halved
};

/// @param gpus  that train, at least 1
RequiredRate required_rate(const training::Scenario& scenario,
                           double tokens,
                           core::Seconds wall,
                           std::int64_t gpus);

/// Model FLOPs utilization as a headline: mfu, or mfu_causal where attention is over a third of the
/// FLOPs.
double headline_mfu(const training::Scenario& scenario, const training::StepResult& step);

/// Compares every figure of `scenario.claim` with the prediction. A claim of a wall clock is
/// impossible only where even the causal FLOPs need more than the peak; otherwise a missed claim is
/// a remark.
ClaimReport check_claim(const training::Scenario& scenario,
                        const training::StepResult& step,
                        const std::optional<campaign::CampaignResult>& campaign,
                        std::int64_t gpus);

/// Over how many published runs of one part half of the predictions lie how near.
struct PublishedMedian {
  int rows = 0;
  double error = 0;  ///< median of |predicted / published - 1|
};

/// Of dense models and mixtures of experts; of sources that constants were fitted to, and of
/// others. Source: tests/golden/validation/summary.txt, docs/validation.md.
inline constexpr PublishedMedian kDenseRuns{419, 0.0312}, kMixtureRuns{77, 0.0894};
inline constexpr PublishedMedian kOtherDenseRuns{201, 0.0590}, kOtherMixtureRuns{90, 0.0654};

/// How predictions lie against published figures in general: printed beside every comparison.
std::string published_in_general();

}  // namespace headway::study
