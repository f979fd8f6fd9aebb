// Which saves a trial holds, and which of them a restart finds readable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sim/campaign/job/job.h"
#include "sim/campaign/saves/attempt.h"
#include "sim/core/tick.h"

namespace headway::campaign {

/// Each how many-th save to storage is kept for good: what is archived is a save that is made
/// anyway, at the whole number of them nearest to `JobModel::archive`, one at least. 0: none is.
std::int64_t archived_every(const JobModel& job);

/// Where a restart begins again.
struct RestorePoint {
  core::Tick work = 0;    ///< done in the save
  std::size_t level = 0;  ///< that it is read from
};

/// The newest complete save of each level, in work since the start of the run.
class SaveHistory {
 public:
  /// All levels hold the beginning of the run: it can be made anew.
  /// @param archive  work between saves that are kept for good; 0: none
  SaveHistory(const JobModel& model, core::Tick archive);

  /// What the attempt that began with `base` work done has saved by now.
  void note(const SaveTicks& saves, const Cursor& cursor, core::Tick base);
  /// An attempt reached its goal: the storage holds all of `work`.
  void complete(core::Tick work);
  /// A failure of this reach; levels that do not survive it are empty
  /// afterwards.
  /// @returns the newest save left, of equal ones the nearest
  RestorePoint restore(Reach reach);
  /// The `bad` newest saves of the level cannot be read. Beyond those that are
  /// kept lie the archive, and the beginning of the run.
  [[nodiscard]] core::Tick earlier(RestorePoint point, std::int64_t bad, core::Tick spacing) const;
  /// Saves that hold more than `work` are worthless (bad numbers in them). The
  /// storage's good save is gone, too, if `keep` newer ones have been made since;
  /// the archive is left.
  /// @returns the work to go back to
  core::Tick forget_after(core::Tick work, core::Tick spacing);
  /// Newest work in storage.
  [[nodiscard]] core::Tick stored() const { return newest_[count_ - 1]; }

 private:
  std::array<core::Tick, kMostLevels> newest_{};  // -1: the level is empty
  std::array<Reach, kMostLevels> survives_{};
  std::size_t count_ = 1;
  [[nodiscard]] core::Tick archived(core::Tick work) const;

  std::int64_t keep_ = 0;
  core::Tick archive_ = 0;
};

}  // namespace headway::campaign
