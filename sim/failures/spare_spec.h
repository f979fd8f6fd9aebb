// Nodes that stand by, how ready they are, and which of those that failed are not taken back.
#pragma once

#include <array>
#include <optional>

#include "sim/core/durations.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::failures {

/// Which of the spares that are ready is taken.
enum class SpareChoice { first_ready, last_ready, fewest_failures };
constexpr auto enum_words(SpareChoice) {
  using E = core::EnumWord<SpareChoice>;
  return std::array{E{SpareChoice::first_ready, "first_ready"},
                    E{SpareChoice::last_ready, "last_ready"},
                    E{SpareChoice::fewest_failures, "fewest_failures"}};
}

/// Spares whose processes already run and wait: where they take all the places that a failure left,
/// no container starts, and the other processes start again in place.
struct StandbySpec {
  int nodes = 1;
  core::Seconds takeover{15};
  core::Seconds warming{600};
  template <class V>
  void fields(V& v) {
    v.required("nodes", nodes, "Spares that are kept warm, of those there are.",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.required("takeover", takeover,
               "A warm standby takes the place of a lost node; instead of 'replacement', and with "
               "'in_process_start' instead of 'container_start'.",
               core::duration);
    v.optional("warming", warming,
               "Until a cold spare that follows one which was taken is warm: image, libraries, "
               "devices, processes.",
               core::duration);
  }
  bool operator==(const StandbySpec&) const = default;
};

/// A node leaves for good when too much of what it did wrong is remembered. Each failure counts 1,
/// and is forgotten all at once (`window`) or little by little (`half_life`).
struct RetireScoreSpec {
  double limit = 3;
  std::optional<core::Seconds> window;
  std::optional<core::Seconds> half_life;
  template <class V>
  void fields(V& v) {
    v.required("limit", limit,
               "Score at which a node that fails leaves the machine: its failures, each times what "
               "is still remembered of it, this one included.",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.optional("window", window, "Failures older than this are forgotten; older by less count 1.",
               core::some_time);
    v.optional("half_life", half_life,
               "What is remembered of a failure halves in this time (instead of 'window').",
               core::some_time);
  }
  bool operator==(const RetireScoreSpec&) const = default;
};

}  // namespace headway::failures
