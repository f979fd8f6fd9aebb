// From a fault to what it does to the job, as mechanics: no words, no detectors.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "sim/drill/setup.h"
#include "sim/training/degraded/degrade.h"

namespace headway::drill {

/// What a fault does at once to the ranks it hits.
enum class Blow : std::uint8_t {
  none,     ///< they run on
  exit,     ///< their process dies and says so
  silence,  ///< nothing more comes from them over the network; peers retransmit
  hang,     ///< they never come to their next collective
};

/// Where a restart that leaves the fault there comes to grief.
enum class Breaks : std::uint8_t { nothing, start, communicators };

struct Effect {
  Blow blow = Blow::none;
  double slowdown = 1;                        ///< step / healthy step
  std::optional<core::BytesPerSecond> drive;  ///< what the drive of the node still writes
  double storage_share = 1;                   ///< of its rate that the storage keeps
  bool storage_full = false;
  bool corrupts = false;                    ///< what is computed from now on is bad
  bool stale_restart = false;               ///< the next restart loads an old checkpoint
  std::optional<core::Seconds> loss_after;  ///< until the loss shows it
  std::int64_t nodes_lost = 0;              ///< that a restart must do without
  std::optional<core::Seconds> lasts;       ///< heals itself after
  core::Seconds repair;                     ///< what spares cannot replace comes back after this
  Breaks breaks = Breaks::nothing;
  std::vector<Symptom> at_once;      ///< there to be seen from the beginning
  std::optional<Symptom> when_slow;  ///< layer below the slow step that shows it
};

/// Step / healthy step with a slow part; the caller remembers.
using SlowdownOf = std::function<double(const training::Degradation&)>;

/// The fault with every figure of its kind filled in.
Fault with_defaults(const Fault& fault, const DrillSetup& setup);

/// @param fault     with its defaults
/// @param slowdown  asked for faults that slow the step
Effect effect_of(const Fault& fault, const DrillSetup& setup, const SlowdownOf& slowdown);

}  // namespace headway::drill
