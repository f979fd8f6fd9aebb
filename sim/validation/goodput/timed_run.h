// A published run of known steps that states how long it took: what its share of useful time is,
// and what is implied where it does not say how long the same steps take without faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/units.h"
#include "sim/import/csv.h"

namespace headway::validation {

/// The wall clock of a run with faults, and what is known of the same steps without.
struct TimedRun {
  core::Seconds wall;
  std::optional<core::Seconds> work;          ///< of the same steps and saves, nothing failing
  std::optional<core::Seconds> work_at_most;  ///< what another run of the same steps took
  double steps = 1;
  std::optional<double> save_steps;  ///< steps between saves
  bool loses_work = true;            ///< a failure throws away what came after the last save

  /// Useful time / wall clock, where `work` is stated.
  [[nodiscard]] std::optional<double> share() const;
  /// Work between saves, of what is known of all of it; nothing without `save_steps`.
  [[nodiscard]] std::optional<core::Seconds> interval(core::Seconds all_work) const;
};

/// @returns nothing where the case states no `wall_h`
/// @throws core::Error naming what it has to state beside it, or a bound that says nothing
std::optional<TimedRun> read_timed_run(const import::CsvTable& table, std::size_t row);

/// Failures come every `mean` of the wall clock, so a run of `wall` has n = wall / mean of them,
/// and
///     wall = work + n (downtime + lost),  lost = work / (2 x saves), or 0 where none is lost
/// @returns the least downtime of one failure, with the most work that there can be; nothing where
///          no bound is known, or where it is the run's own wall clock
std::optional<core::Seconds> least_downtime(const TimedRun& run, core::Seconds mean);

/// The same in words, and what it is for a step where failures cost nothing; empty: nothing
/// follows.
std::string implied_by(const TimedRun& run, core::Seconds mean);

}  // namespace headway::validation
