#include "sim/campaign/slow/degraded_states.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "sim/core/error.h"
#include "sim/training/degraded/degraded_step.h"
#include "sim/training/sites/slow_ways.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/step.h"

namespace headway::campaign {

namespace {

using training::Degradation;

/// What a step takes beside its flows: waits for the slowest rank's work, exchanges of sites that
/// train apart. Slow parts leave it as it is.
core::Seconds beside_flows(const training::DegradedSteps& steps, core::Seconds step) {
  return std::max(core::Seconds(0), step - steps.time({}));
}

/// The step with all ways between sites at `keeps` of their bandwidth.
class SlowWays {
 public:
  SlowWays(const training::CheckedScenario& checked,
           double keeps,
           const std::vector<core::Rank>& ranks)
      : checked_(training::check(training::with_slow_ways(checked.scenario(), keeps))),
        steps_(training::prepare_step(checked_), ranks),
        beside_flows_(campaign::beside_flows(
            steps_, training::simulate_step(checked_, {.trace = false, .hash_draws = 0}).time)) {}

  [[nodiscard]] core::Seconds time(const std::vector<Degradation>& degradations) const {
    return steps_.time(degradations) + beside_flows_;
  }

 private:
  training::CheckedScenario checked_;
  training::DegradedSteps steps_;
  core::Seconds beside_flows_;
};

/// The step of a scenario, ready to be slowed in several replicas.
class DegradedStates {
 public:
  DegradedStates(StepSource& source, core::Seconds healthy)
      : source_(source),
        checked_(source.checked()),
        healthy_(healthy),
        places_(node_places(checked_)) {}

  double slowness(const ClusterState& state) {
    std::call_once(ready_, [this] { make_ready(); });
    std::vector<Degradation> degradations;
    if (state.heat < 1) {
      degradations.push_back({Degradation::Kind::all_gpus, state.heat, core::Rank(0)});
    }
    const SlowWays* ways = nullptr;
    for (const auto& part : state.parts) {
      if (part.kind == SlowState::Kind::site) {
        ways = &with_ways(part.keeps);
        continue;
      }
      degradations.push_back(degradation_of(part, state));
    }
    const core::Seconds time =
        ways != nullptr ? ways->time(degradations) : steps_->time(degradations) + beside_flows_;
    return time / healthy_;
  }

 private:
  /// A slow GPU of a stage that does more than its own work is slow in all of it.
  [[nodiscard]] Degradation degradation_of(const SlowState& part, const ClusterState& state) const {
    const core::Rank rank = rank_at(part.position, part.replica);
    if (part.kind == SlowState::Kind::link) {
      return {Degradation::Kind::link, part.keeps, rank};
    }
    if (part.kind == SlowState::Kind::stage) {
      return {Degradation::Kind::stage, part.keeps * state.heat, rank};
    }
    double keeps = part.keeps * state.heat;
    for (const auto& other : state.parts) {
      const bool around = other.kind == SlowState::Kind::stage && other.position == part.position;
      keeps *= around ? other.keeps : 1;
    }
    return {Degradation::Kind::gpu, keeps, rank};
  }

  void make_ready() {
    for (std::uint32_t label = 0; label < kSimulatedTogether; ++label) {
      for (std::uint16_t position = 0; position < places_.positions; ++position) {
        ranks_.push_back(rank_at(position, label));
      }
    }
    const auto& elastic = checked_.scenario().run.recovery.elastic;
    const bool reroutes = elastic && elastic->broken_replica == failures::BrokenReplica::reroutes;
    steps_.emplace(source_.prepared(), ranks_, reroutes);
    beside_flows_ = campaign::beside_flows(*steps_, healthy_);
  }

  const SlowWays& with_ways(double keeps) {
    const std::scoped_lock lock(ways_mutex_);
    auto& place = ways_[keeps];
    if (!place) {
      place = std::make_unique<SlowWays>(checked_, keeps, ranks_);
    }
    return *place;
  }

  /// Replicas that stand for different ones are evenly spread, so not side by side. Where small
  /// replicas share nodes, the first node of the class stands for them.
  [[nodiscard]] core::Rank rank_at(std::uint16_t position, std::uint32_t label) const {
    HEADWAY_CHECK(label < kSimulatedTogether, "{} replicas with slow parts", label + 1);
    const auto replicas = static_cast<std::uint64_t>(places_.replicas);
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

  StepSource& source_;
  const training::CheckedScenario& checked_;
  core::Seconds healthy_;
  NodePlaces places_;
  std::once_flag ready_;
  std::vector<core::Rank> ranks_;  // whose GPU or network card may be slow
  std::optional<training::DegradedSteps> steps_;
  core::Seconds beside_flows_;
  std::mutex ways_mutex_;
  std::map<double, std::unique_ptr<SlowWays>> ways_;  // by the share of the bandwidth that is left
};

}  // namespace

NodePlaces node_places(const training::CheckedScenario& checked) {
  const auto& scenario = checked.scenario();
  const auto& parallelism = scenario.parallelism;
  const training::RankLayout layout(parallelism, checked.data_parallel());
  const int per_node = scenario.cluster.node.gpus;
  const int group = std::max(1, parallelism.shard_group_size);
  const bool hybrid = parallelism.sharding == workload::Sharding::hsdp;
  NodePlaces places;
  places.replicas =
      hybrid ? checked.data_parallel() * parallelism.context / group : checked.data_parallel();
  places.place = training::node_order(scenario.cluster, parallelism, checked.data_parallel(),
                                      static_cast<std::uint64_t>(scenario.run.seed))
                     .node;
  std::map<int, std::uint16_t> number;  // of the stages that nodes begin with
  std::vector<int> stages;
  for (int node = 0; node < scenario.cluster.nodes; ++node) {
    const auto at = layout.coordinates(core::Rank(node * per_node));
    stages.push_back(at.pipeline);
    number.emplace(at.pipeline, std::uint16_t{0});
    const int replica = hybrid ? (at.context + parallelism.context * at.data) / group : at.data;
    places.replica.push_back(static_cast<std::uint32_t>(replica));
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

const training::PreparedStep& StepSource::prepared() {
  std::call_once(once_, [this] { prepared_.emplace(training::prepare_step(checked_)); });
  return *prepared_;
}

Slowness simulated_slowness(StepSource& source, core::Seconds healthy) {
  const auto states = std::make_shared<DegradedStates>(source, healthy);
  return [states](const ClusterState& state) { return states->slowness(state); };
}

}  // namespace headway::campaign
