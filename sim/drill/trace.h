// What a drill leaves behind: a timeline, who saw what, and where the time went.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/campaign/result.h"
#include "sim/core/tick.h"
#include "sim/drill/setup.h"

namespace headway::drill {

using campaign::Account;
using campaign::kAccounts;

/// What a line of the timeline is about.
enum class Moment : std::uint8_t {
  fault,
  symptom,
  seen,
  alarm,
  blame,
  recovery,
  running,
  healed,
  save
};
constexpr auto enum_words(Moment) {
  using M = Moment;
  using E = core::EnumWord<M>;
  return std::array{E{M::fault, "fault"},     E{M::symptom, "symptom"}, E{M::seen, "seen"},
                    E{M::alarm, "alarm"},     E{M::blame, "blame"},     E{M::recovery, "recovery"},
                    E{M::running, "running"}, E{M::healed, "healed"},   E{M::save, "save"}};
}

/// One line of the timeline.
struct TimelineEntry {
  core::Tick at = 0;  ///< since the fault
  Moment moment = Moment::fault;
  std::optional<StackLayer> layer;  ///< symptoms
  std::optional<Symptom> symptom;   ///< symptoms, and what was seen
  std::optional<Monitor> monitor;   ///< who saw it or raised the alarm
  std::string text;
  bool operator==(const TimelineEntry&) const = default;
};

/// A possible cause and how likely it is, given what could be seen.
struct Suspect {
  FaultKind kind = FaultKind::gpu_dead;
  double probability = 0;
  bool operator==(const Suspect&) const = default;
};

/// A response to an alarm.
struct Response {
  core::Tick at = 0;
  std::optional<Monitor> alarm;   ///< who raised it
  std::vector<Suspect> suspects;  ///< by falling probability; empty: an everyday restart
  FaultKind blamed = FaultKind::gpu_dead;
  bool right = false;  ///< acting on it ends the fault
};

/// When each symptom could first be seen; absent: not yet.
using Sightings = std::array<std::optional<core::Tick>, kSymptoms>;

struct DrillTrace {
  std::vector<TimelineEntry> timeline;
  Sightings happened;  ///< first time, seen or not
  Sightings visible;   ///< first time somebody could see it
  std::vector<Response> responses;
  std::array<core::Tick, kAccounts> accounts{};  ///< add up to the horizon
  std::optional<core::Tick> cured;               ///< the fault is gone for good
  std::optional<core::Tick> running_again;       ///< steps at healthy speed, the fault gone
  core::Tick at_risk = 0;  ///< done, and no save of it would have ended: booked as lost at the end
  core::Tick owed = 0;     ///< of the next save's stall, for the work since the last one
  std::optional<core::Tick> last_durable;  ///< set when saves stop becoming durable: the last one
  std::uint64_t event_digest = 0;
  core::Tick& operator[](Account a) { return accounts[static_cast<std::size_t>(a)]; }
  core::Tick operator[](Account a) const { return accounts[static_cast<std::size_t>(a)]; }
};

}  // namespace headway::drill
