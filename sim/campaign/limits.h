// What a campaign cannot simulate: runs, saves and loads longer than its clock is made for, and
// more failures than a trial can hold. Each is refused at the field that did it.
#pragma once

#include "sim/campaign/job/job.h"
#include "sim/training/check.h"

namespace headway::campaign {

/// The longest a save, a load or a copy may take: a year. Those of real runs take minutes.
inline constexpr core::Seconds kLongestTransfer{365.0 * 86400};
/// A step that waits for its input longer than this is no step. Source: chosen.
inline constexpr double kMostStarved = 1000;
/// Strikes in one trial, a second of computing. Source: chosen.
inline constexpr double kMostStrikes = 1e6;
/// Slow parts at once in the mean, each looked at whenever one comes or goes. Source: chosen.
inline constexpr double kMostSlow = 1000;

/// @throws Error if the steps of the run last longer than a century
void check_length(const training::CheckedScenario& checked, const JobEnd& end);

/// @throws Error with every figure of the job that is out of reach, each with its place and a
/// remedy
void check_times(const training::CheckedScenario& checked, const JobModel& job);

}  // namespace headway::campaign
