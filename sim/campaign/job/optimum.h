// The checkpoint interval that is best for a job: one figure for `interval: auto`, for the result
// and for the advice.
#pragma once

#include "sim/campaign/job/job.h"

namespace headway::campaign {

/// Work between the saves of a job (`JobModel::interval`) that costs least.
///     tau* = mu (1 + W0(-e^(-C/mu - 1))) / (e p)
///     C = sum of C_l e / e_l,  1 / mu = sum of lambda_l e_l / e + 2 lambda e_s / e  u / (1 - u)
/// over the levels l, each written every e_l-th time (e the smallest of them, e_s of the storage),
/// whose saves the job goes back to lambda_l times a second; u the share of saves that is
/// unreadable, p the pace: what starved input and a step tax make of a step. Exact for one level,
/// else of first order. A level that cannot be written so often (its saves are not durable in time)
/// is written as often as it can, whatever the interval is, and drops out; if all do, tau is the
/// least P - C.
/// @returns no less than `shortest_interval`, no more than the run (as where nothing goes back to a
/// save); 0: nothing fails
core::Seconds best_interval(const JobModel& job);

/// Work between saves to storage that are made at that interval; 0: nothing fails.
core::Seconds best_storage_interval(const JobModel& job);

/// So much of the wall clock is progress at most.
struct Ceiling {
  double share = 1;
  core::Seconds mean_time_between_rollbacks;  ///< to the level that leaves least; 0: nothing fails
};
/// What going back to the saves of any one level leaves; of a job whose state comes from peers,
/// what restarts and the step under way leave.
Ceiling ceiling_of(const JobModel& job);

}  // namespace headway::campaign
