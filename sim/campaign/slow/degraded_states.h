// Step times of a scenario's degraded states, from the step simulation.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sim/campaign/step_times.h"
#include "sim/core/units.h"
#include "sim/training/check.h"
#include "sim/training/degraded/degraded_step.h"

namespace headway::campaign {

/// The step of a scenario, lowered when it is first asked for. Threads may ask at the same time.
class StepSource {
 public:
  /// @param checked  must outlive the source
  /// @param progress  told how far what is simulated beside the step has come; may be empty
  explicit StepSource(const training::CheckedScenario& checked, Progress progress = {})
      : checked_(checked), progress_(std::move(progress)) {}
  const training::PreparedStep& prepared();
  [[nodiscard]] const training::CheckedScenario& checked() const { return checked_; }
  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  const training::CheckedScenario& checked_;
  Progress progress_;
  std::once_flag once_;
  std::optional<training::PreparedStep> prepared_;
};

/// Where each node stands in the job, by its first rank. Places in one pipeline stage are alike.
struct NodePlaces {
  std::vector<std::uint16_t> position;  ///< classes of places, in order of their pipeline stages
  std::vector<std::uint32_t> replica;   ///< copy of the training state, the first one on the node
  std::vector<std::uint32_t> place;     ///< in the machine; empty: in the order of the job
  std::uint16_t positions = 1;
  int replicas = 1;
};
/// Replicas are those of data parallelism; with hybrid sharding the groups that hold all state
/// between them.
NodePlaces node_places(const training::CheckedScenario& checked);

/// Simulates the step in a state of the cluster. The step is lowered and folded once, when the
/// first state is asked for; one node of each class in `kSimulatedTogether` replicas stands for
/// all.
/// @param source   must outlive what is returned
/// @param healthy  the healthy step
Slowness simulated_slowness(StepSource& source, core::Seconds healthy);

}  // namespace headway::campaign
