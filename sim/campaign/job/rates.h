// How often a job is interrupted, goes back to a save and loses nodes, from the rates of its
// hazards. README.md has the equations.
#pragma once

#include <vector>

#include "sim/campaign/job/job.h"
#include "sim/core/units.h"

namespace headway::campaign {

/// The rate at which strikes of hazard `number` stop the job, each stop that follows a wrong blame
/// included: what `interruptions` counts, on the clock that stands still while the job is down.
core::PerSecond interruption_rate(const JobModel& job, std::size_t number);

/// 1 / sum of `interruption_rate`; 0 if nothing stops the job.
core::Seconds mean_time_between_interruptions(const JobModel& job);

/// How often the job goes back to a save. Failures after which peers hold the state, or the job
/// goes on elastically or moves to a spare, do not; nor does one that was saved before.
struct Rollbacks {
  /// By level, storage last: the newest save of that level is read, half an interval of it is lost.
  std::vector<core::PerSecond> to_level;
  /// Reads of saves of which each may be unreadable: one more interval of the storage is lost.
  core::PerSecond reads;
};
Rollbacks rollbacks_of(const JobModel& job);

/// Nodes that leave the job and come back as spares.
struct NodesOut {
  bool any = false;
  double mean = 0;      ///< away at a time, did the job never wait: rate x (repair or retest)
  double together = 1;  ///< the most that leave at a time
  /// Erlang's formula is exact: strikes without memory, one node each, and the job stands still
  /// while one is missing.
  bool erlang = true;
};
NodesOut nodes_out(const JobModel& job);

}  // namespace headway::campaign
