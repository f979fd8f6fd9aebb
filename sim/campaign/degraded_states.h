// Step times of a scenario's degraded states, from the step simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/campaign/step_times.h"
#include "sim/core/units.h"
#include "sim/training/check.h"

namespace headway::campaign {

/// Where each node stands in the job, by its first rank. Places in one pipeline stage are alike.
struct NodePlaces {
  std::vector<std::uint16_t> position;  ///< classes of places, in order of their pipeline stages
  std::vector<std::uint32_t> replica;   ///< data-parallel
  std::uint16_t positions = 1;
};
NodePlaces node_places(const training::CheckedScenario& checked);

/// Simulates the step in a state of the cluster. The step is lowered and folded once, when the
/// first state is asked for; one node of each class in `kSimulatedTogether` replicas stands for
/// all.
/// @param checked  must outlive what is returned
/// @param healthy  the healthy step
Slowness simulated_slowness(const training::CheckedScenario& checked, core::Seconds healthy);

}  // namespace headway::campaign
