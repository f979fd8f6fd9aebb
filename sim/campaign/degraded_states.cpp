#include "sim/campaign/degraded_states.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "sim/core/error.h"
#include "sim/training/degraded_step.h"
#include "sim/training/placement.h"

namespace headway::campaign {

namespace {

using training::Degradation;

/// The step of a scenario, ready to be slowed in several replicas.
class DegradedStates {
 public:
  DegradedStates(const training::CheckedScenario& checked, core::Seconds healthy)
      : checked_(checked), healthy_(healthy), places_(node_places(checked)) {}

  double slowness(const ClusterState& state) {
    std::call_once(ready_, [this] { make_ready(); });
    std::vector<Degradation> degradations;
    if (state.heat < 1) {
      degradations.push_back({Degradation::Kind::all_gpus, state.heat, core::Rank(0)});
    }
    for (const auto& part : state.parts) {
      const bool gpu = part.kind == SlowState::Kind::gpu;
      degradations.push_back({gpu ? Degradation::Kind::gpu : Degradation::Kind::link,
                              gpu ? part.keeps * state.heat : part.keeps,
                              rank_at(part.position, part.replica)});
    }
    return steps_->time(degradations) / healthy_;
  }

 private:
  void make_ready() {
    std::vector<core::Rank> ranks;
    for (std::uint32_t label = 0; label < kSimulatedTogether; ++label) {
      for (std::uint16_t position = 0; position < places_.positions; ++position) {
        ranks.push_back(rank_at(position, label));
      }
    }
    steps_.emplace(training::prepare_step(checked_), ranks);
  }

  /// Replicas that stand for different ones are evenly spread, so not side by side. Where small
  /// replicas share nodes, the first node of the class stands for them.
  [[nodiscard]] core::Rank rank_at(std::uint16_t position, std::uint32_t label) const {
    HEADWAY_CHECK(label < kSimulatedTogether, "{} replicas with slow parts", label + 1);
    const auto replicas = static_cast<std::uint64_t>(checked_.data_parallel());
    const auto replica = static_cast<std::uint32_t>(label * replicas / kSimulatedTogether);
    std::optional<std::size_t> found;
    for (std::size_t node = 0; node < places_.position.size(); ++node) {
      if (places_.position[node] == position && (!found || places_.replica[node] == replica)) {
        found = node;
        if (places_.replica[node] == replica) {
          break;
        }
      }
    }
    HEADWAY_CHECK(found.has_value(), "no node is at position {}", position);
    return core::Rank(static_cast<std::uint32_t>(*found) *
                      static_cast<std::uint32_t>(checked_.scenario().cluster.node.gpus));
  }

  const training::CheckedScenario& checked_;
  core::Seconds healthy_;
  NodePlaces places_;
  std::once_flag ready_;
  std::optional<training::DegradedSteps> steps_;
};

}  // namespace

NodePlaces node_places(const training::CheckedScenario& checked) {
  const training::RankLayout layout(checked.scenario().parallelism, checked.data_parallel());
  const int per_node = checked.scenario().cluster.node.gpus;
  NodePlaces places;
  std::map<int, std::uint16_t> number;  // of the stages that nodes begin with
  std::vector<int> stages;
  for (int node = 0; node < checked.scenario().cluster.nodes; ++node) {
    const auto at = layout.coordinates(core::Rank(node * per_node));
    stages.push_back(at.pipeline);
    number.emplace(at.pipeline, std::uint16_t{0});
    places.replica.push_back(static_cast<std::uint32_t>(at.data));
  }
  places.positions = 0;
  for (auto& entry : number) {
    entry.second = places.positions++;
  }
  for (const int stage : stages) {
    places.position.push_back(number.at(stage));
  }
  return places;
}

Slowness simulated_slowness(const training::CheckedScenario& checked, core::Seconds healthy) {
  const auto states = std::make_shared<DegradedStates>(checked, healthy);
  return [states](const ClusterState& state) { return states->slowness(state); };
}

}  // namespace headway::campaign
