// The job on the campaign clock, and how far an attempt between two failures
// has come: pure arithmetic in ticks. Saves in between are jumped over, not
// stepped through.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/core/engine/event.h"
#include "sim/core/tick.h"

namespace headway::campaign {

/// Places a save can go to: near levels first, storage last.
inline constexpr std::size_t kMostLevels = 4;

/// One level of saves, in ticks.
struct LevelTicks {
  core::Tick stall = 0, persist = 0;
  std::int64_t every = 1;  ///< each how many-th segment ends with a save here
};

/// The rhythm of the saves: a segment is `interval` of work and the stalls of
/// the levels due.
struct SaveTicks {
  core::Tick interval = 1;
  std::array<LevelTicks, kMostLevels> levels{};
  std::size_t count = 1;  ///< levels in use; the last is the storage

  [[nodiscard]] const LevelTicks& storage() const { return levels[count - 1]; }
  /// Stall at the end of segment number `segment` (the first is 1).
  [[nodiscard]] core::Tick stall_after(std::int64_t segment) const;
  /// Stall of the last save of an attempt, which goes to storage in any case.
  [[nodiscard]] core::Tick last_stall(std::int64_t segment) const;
  /// Stalls after the segments `from` + 1 to `to`.
  [[nodiscard]] core::Tick stalls(std::int64_t from, std::int64_t to) const;
};

/// How long work takes now.
struct Pace {
  double slowness = 1;  ///< step / healthy step
  [[nodiscard]] core::Tick wall_of(core::Tick work) const;
  [[nodiscard]] core::Tick work_of(core::Tick wall) const;  ///< rounded down
};

/// Where an attempt is; work counts from its beginning.
struct Cursor {
  struct Level {
    core::Tick durable = 0;     ///< work in the last complete save
    core::Tick pending = -1;    ///< work in the save being written; -1: none
    core::Tick pending_at = 0;  ///< when that is complete
  };
  core::Tick time = 0;        ///< since the first step of the attempt
  std::int64_t first = 0;     ///< segments of the run before the attempt
  std::int64_t segments = 0;  ///< behind it, those included: levels are due by this number
  core::Tick into = 0;        ///< work in this one
  core::Tick stood = 0;       ///< of the stall at its end
  core::Tick stepping = 0;    ///< wall clock in steps
  core::Tick checkpoint = 0;  ///< wall clock standing still for saves
  std::array<Level, kMostLevels> levels{};

  [[nodiscard]] core::Tick work(const SaveTicks& saves) const {
    return (segments - first) * saves.interval + into;
  }
  /// Work that is complete at `level` now.
  [[nodiscard]] core::Tick durable(std::size_t level) const {
    const Level& it = levels[level];
    return it.pending >= 0 && it.pending_at <= time ? it.pending : it.durable;
  }
};

/// What an attempt wants to reach: `work`, saved to storage and durable.
struct Goal {
  core::Tick work = core::kEndOfTime;  ///< kEndOfTime: run on, nothing more can become durable
};

/// Ticks from `cursor` until so much work of the attempt is done; 0 where it is.
core::Tick time_to_work(const SaveTicks& saves, const Cursor& cursor, Pace pace, core::Tick work);

/// Ticks from `cursor` until `goal` is durable.
core::Tick time_to(const SaveTicks& saves, const Cursor& cursor, Pace pace, Goal goal);

/// Ticks from `cursor` until the next save to storage begins; 0 while one is made.
core::Tick time_to_storage_save(const SaveTicks& saves, const Cursor& cursor, Pace pace, Goal goal);

/// As much work, at most `work_left`, as can be durable in `wall` ticks from
/// `cursor`.
/// @param step  saves fall on whole multiples of it; 1 where work is a fluid
Goal goal_within(const SaveTicks& saves,
                 const Cursor& cursor,
                 Pace pace,
                 core::Tick work_left,
                 core::Tick wall,
                 core::Tick step);

/// The soonest save: what has been done by now, or by the end of the step under
/// way.
Goal goal_now(const SaveTicks& saves, const Cursor& cursor, core::Tick step);

/// A save at the end of a segment of an attempt: the job stands still from `begin` to `end`.
struct SaveMoment {
  core::Tick begin = 0, end = 0;  ///< since the first step of the attempt
  std::size_t level = 0;          ///< the farthest that is due
};

/// The saves whose stalls end while `advance` moves the cursor on by `wall` ticks.
std::vector<SaveMoment> saves_within(
    const SaveTicks& saves, Pace pace, Goal goal, core::Tick wall, Cursor cursor);

/// Moves the cursor on by `wall` ticks at one pace; past `goal` it stands in
/// the last save.
void advance(const SaveTicks& saves, Pace pace, Goal goal, core::Tick wall, Cursor& cursor);

}  // namespace headway::campaign
