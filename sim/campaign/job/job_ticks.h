// The job of a trial in ticks of 1 us; made once, shared by all trials.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/job/job.h"
#include "sim/campaign/job/job_places.h"
#include "sim/campaign/job/spare_pool.h"
#include "sim/campaign/saves/attempt.h"
#include "sim/core/tick.h"

namespace headway::campaign {

/// A failure that is replayed.
struct RecordedTick {
  core::Tick wall = 0;
  std::uint32_t hazard = 0;
  std::optional<core::Tick> repair;  ///< of the lost nodes; absent: drawn
};

/// What a restart goes through; a failure in it ends it.
struct RestartTicks {
  core::Tick start = 0, communicators = 0, load = 0, warm_up = 0;
  [[nodiscard]] core::Tick sum() const { return start + communicators + load + warm_up; }
};

/// A job's numbers, rounded to ticks.
struct JobTicks {
  explicit JobTicks(const JobModel& job);

  core::Tick work = 0;  ///< of the whole run; 0 if the wall decides
  core::Tick wall = 0;  ///< of the whole run; 0 if the work decides
  core::Tick step = 1;
  bool whole_steps = false;
  SaveTicks saves;
  std::vector<SaveTicks> slow_drives;  ///< by hazard; empty levels where it slows no drive
  core::Tick spacing = 1;              ///< work between saves to storage
  core::Tick archive = 0;              ///< between those that are kept for good; 0: none
  core::Tick diagnosis = 0, replacement = 0, takeover = 0, retest = 0;
  WarmSpares standbys;
  core::Tick start = 0, in_process_start = 0, communicators = 0, warm_up = 0;
  std::array<core::Tick, kMostLevels> load{};  ///< by level
  std::optional<core::Tick> peer_load;
  core::Tick retired_back = core::kEndOfTime;  ///< until a new node stands there; or never
  core::Tick elastic_stall = 0, elastic_rejoin = 0, migration_stall = 0;
  double tax = 0;  ///< share of a healthy step that is added to each
  core::Tick exchange_every = 0, exchange_beside = 0;
  core::Tick staging = 0, refill = 0, restaging = 0;
  std::vector<std::optional<core::Tick>> latent;            ///< by hazard: how long nobody notices
  core::Tick maintenance_every = 0, maintenance_lasts = 0;  ///< 0: none
  JobPlaces places;
  std::vector<bool>
      hangs_saves;  ///< by hazard: a slow drive that keeps the others past their watchdog
  std::vector<RecordedTick> recorded;  ///< failures replayed, rising in wall time

  /// Saves fall on whole multiples of this.
  [[nodiscard]] core::Tick grain() const { return whole_steps ? step : 1; }
};

}  // namespace headway::campaign
