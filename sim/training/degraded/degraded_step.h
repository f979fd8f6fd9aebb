// The step of one scenario with one slow part or another: lowered and folded once, simulated often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/core/tick.h"
#include "sim/core/units.h"
#include "sim/network/flow/problem.h"
#include "sim/training/check.h"
#include "sim/training/degraded/degrade.h"
#include "sim/training/step/lower.h"

namespace headway::training {

/// A scenario made ready for the flow engine.
struct PreparedStep {
  network::Fabric fabric;
  RankLayout layout;
  LoweredStep lowered;
};
PreparedStep prepare_step(const CheckedScenario& checked);

/// Step times of degraded states of one cluster. Gives the ticks that `simulate_step` gives with
/// the same degradations: the problem is folded with every place that may be slow kept apart, and a
/// partition that is stable then is stable for any speeds of these places.
class DegradedSteps {
 public:
  /// @param places  ranks whose GPU or network card may be slow
  /// @param stages  whole stages may be slow, too, those of `places`
  DegradedSteps(const PreparedStep& healthy,
                const std::vector<core::Rank>& places,
                bool stages = false);

  /// Threads may ask at the same time.
  /// @param degradations  of `places`, or of all GPUs or cards
  /// @param count         told how much of it is done; may be empty
  [[nodiscard]] core::Seconds time(
      const std::vector<Degradation>& degradations,
      const std::function<void(std::size_t done, std::size_t total)>& count = {}) const;

  /// Actors of the folded problem: the work of one simulation.
  [[nodiscard]] std::size_t classes() const { return problem_.actors.size(); }

 private:
  /// Where a place went in the folded problem.
  struct Place {
    core::Rank rank{0};
    std::uint32_t actor = 0;
    std::vector<std::uint32_t> links;  ///< of its network card
    std::vector<std::uint32_t> stage;  ///< actors of its stage, where stages may be slow
  };

  void keep_apart(const PreparedStep& healthy, network::Problem& problem);
  [[nodiscard]] const Place& place_of(core::Rank rank) const;

  network::Problem problem_;  ///< healthy, folded around the places
  std::vector<Place> places_;
  std::vector<std::uint32_t> cards_;  ///< links of all network cards
};

}  // namespace headway::training
