// The job on the campaign clock, and what an attempt between two failures brings: pure arithmetic
// in ticks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/job.h"
#include "sim/core/tick.h"

namespace headway::campaign {

/// A failure that is replayed.
struct RecordedTick {
  core::Tick wall = 0;
  std::uint32_t hazard = 0;
  std::optional<core::Tick> repair;  ///< of the lost nodes; absent: drawn
};

/// The job of a trial in ticks of 1 us; made once, shared by all trials.
struct JobTicks {
  explicit JobTicks(const JobModel& job);

  core::Tick work = 0;  ///< of the whole run; 0 if the wall decides
  core::Tick wall = 0;  ///< of the whole run; 0 if the work decides
  core::Tick step = 1;
  core::Tick interval = 1;  ///< between saves that are really made
  bool whole_steps = false;
  core::Tick stall = 0, persist = 0;
  core::Tick diagnosis = 0, replacement = 0;
  core::Tick start = 0, load = 0, warm_up = 0;
  std::vector<core::Tick> detection;              ///< by hazard, the recovery's own included
  std::vector<std::optional<core::Tick>> latent;  ///< by hazard: how long nobody notices
  core::Tick maintenance_every = 0, maintenance_lasts = 0;  ///< 0: none
  std::vector<RecordedTick> recorded;  ///< failures replayed, rising in wall time

  [[nodiscard]] core::Tick restart() const { return start + load + warm_up; }
};

/// What the first ticks of an attempt have brought.
struct Progress {
  core::Tick start = 0, load = 0, warm_up = 0;  ///< parts of the restart that were done
  core::Tick work = 0;                          ///< executed
  core::Tick durable = 0;                       ///< of it, saved for good
  core::Tick checkpoint = 0;                    ///< standing still for saves
};

/// An attempt: restart (absent in the first), then segments of work and saves until `work` is
/// durable.
struct Attempt {
  core::Tick restart = 0;
  core::Tick work = 0;
  core::Tick length = 0;  ///< until the last save is durable, if nothing fails
};

/// The attempt that does `work_left` or, where `wall_left` is shorter, as much as is durable by
/// then.
/// @param work_left  `core::kEndOfTime` for a job that ends with its wall clock
/// @param wall_left  until the wall clock is up or planned work begins; `core::kEndOfTime` if
/// neither comes
Attempt plan_attempt(const JobTicks& job,
                     core::Tick restart,
                     core::Tick work_left,
                     core::Tick wall_left);

/// How far an attempt has come; saves in between are jumped over, not stepped through.
Progress progress_at(const JobTicks& job, const Attempt& attempt, core::Tick elapsed);

}  // namespace headway::campaign
