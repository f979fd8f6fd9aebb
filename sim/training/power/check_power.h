// Rules of `cluster.power`.
#pragma once

#include "sim/training/scenario.h"
#include "sim/workload/violation.h"

namespace headway::training {

/// Lowest limit that a board can be set to / its own, where `least_board` does not say: 200 of 700
/// W on H100 (2/7), 200 of 1,000 W on B200. Source: NVIDIA DGX H100 and DGX B200 user guides, power
/// capping (PowerLimitWatts: AllowableMin, AllowableMax); the larger of the two, an assumption for
/// all others.
inline constexpr double kLeastBoardShare = 2.0 / 7;

/// What is missing, and what is not modelled beside it.
workload::Violations power_violations(const Scenario& scenario);

/// What racks or building do not feed: boards at their limit where nothing lowers it, else at the
/// lowest that they can be set to. Of a cluster that keeps its rules.
workload::Violations power_shortages(const Scenario& scenario);

}  // namespace headway::training
