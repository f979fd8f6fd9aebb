// The parts of the job that are slow just now, and what they make of its pace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/job/job.h"
#include "sim/campaign/job/job_places.h"
#include "sim/campaign/step_times.h"
#include "sim/core/tick.h"
#include "sim/failures/model.h"

namespace headway::campaign {

/// A fault that the job runs on with.
struct SlowPart {
  std::uint64_t number = 0;  ///< names it in events
  failures::Strike strike;
  std::uint64_t slot = 0;          ///< node
  std::optional<SlowState> state;  ///< what it slows of the step; absent: nothing
  double slowness = 1;             ///< of the step, were it alone
  std::uint64_t suspicions = 0;    ///< times a detector has fired for it
  bool replayed = false;
  bool blamed = false;
  bool misjudged = false;    ///< another part was replaced for it: detectors must find it anew
  std::size_t incident = 0;  ///< its number in the log
};

/// Kinds and severities of parts that can slow the step, each once.
std::vector<SlowState> slow_parts_of(const JobModel& model);

/// Classes of places, and how hot it gets.
Circumstances circumstances(const JobModel& model);

/// The slow parts of one trial.
class SlowParts {
 public:
  SlowParts(const JobModel& model, const JobPlaces& places, StepTimes& times)
      : model_(model), places_(places), times_(times) {}

  /// A fault that slows a part in `slot`, or a false alarm, which slows
  /// nothing.
  SlowPart& add(const failures::Strike& strike, std::uint64_t slot);
  /// The part with this number; nullptr if it is gone.
  SlowPart* find(std::uint64_t number);
  /// It is well again, or out of the job.
  void remove(std::uint64_t number);
  /// All slow parts in these slots leave the job.
  /// @returns those that left
  std::vector<SlowPart> remove_slots(const std::vector<std::uint64_t>& slots);

  /// Parts that detectors must find anew; they are told once.
  std::vector<SlowPart> take_misjudged();

  /// Step / healthy step at a time of day, with all that is slow.
  /// @param stages  that lack ranks
  [[nodiscard]] double slowness(core::Tick now, const std::vector<SlowState>& stages = {});
  /// The next beginning or end of a throttled stretch of the day after `now`;
  /// kEndOfTime: none.
  [[nodiscard]] core::Tick next_change(core::Tick now) const;
  /// The slow_drive hazard in force, if a drive is slow: the one with the
  /// slowest drive.
  [[nodiscard]] std::optional<std::uint32_t> slow_drive() const;
  /// That drive; nullptr if none is slow.
  [[nodiscard]] const SlowPart* slow_drive_part() const;
  /// The part that alone slows the step most; nullptr if none is slow.
  [[nodiscard]] const SlowPart* slowest() const;

 private:
  const JobModel& model_;
  const JobPlaces& places_;
  StepTimes& times_;
  std::vector<SlowPart> parts_;  // in order of their faults
  std::uint64_t numbers_ = 0;
  ClusterState state_;  // asked for last
  double slowness_ = 1;
};

}  // namespace headway::campaign
