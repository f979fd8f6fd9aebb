#include "sim/plan/proportion.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/layout.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::plan {

namespace {

/// How far from equal layers towards balanced ones. Source: chosen.
constexpr double kFractions[] = {1, 0.75, 0.5, 0.25};

/// Of each stage with layers, with its slowest GPUs; empty where all are as fast.
/// @param ahead  stages in front, without layers
std::vector<StageCost> stage_costs(const training::ClusterSpec& cluster,
                                   const ParallelismSpec& shape,
                                   int data,
                                   int ahead,
                                   const std::vector<analytic::LayerTimes>& kinds) {
  std::vector<StageCost> stages;
  const auto nodes = kinds_of_stages(cluster, shape, data);
  for (auto stage = static_cast<std::size_t>(ahead); stage < nodes.size(); ++stage) {
    const bool first = stages.empty();
    const bool last = stage + 1 == nodes.size();
    StageCost cost;
    for (const int kind : nodes[stage]) {
      const auto& times = kinds[static_cast<std::size_t>(kind)];
      const core::Seconds rest =
          (first ? times.embedding : core::Seconds(0)) + (last ? times.head : core::Seconds(0));
      cost = {std::max(cost.layer, times.layer.si()), std::max(cost.rest, rest.si())};
    }
    stages.push_back(cost);
  }
  const bool alike = std::all_of(stages.begin(), stages.end(), [&](const StageCost& stage) {
    return stage.layer == stages.front().layer;
  });
  return alike ? std::vector<StageCost>{} : stages;
}

/// The same with differences in speed that are smaller.
std::vector<StageCost> closer(std::vector<StageCost> stages, double fraction) {
  const double fastest =
      std::min_element(stages.begin(), stages.end(), [](const auto& a, const auto& b) {
        return a.layer < b.layer;
      })->layer;
  for (StageCost& stage : stages) {
    stage.layer = fastest * std::pow(stage.layer / fastest, fraction);
  }
  return stages;
}

std::vector<StageCost> costs_of(const training::Scenario& scenario,
                                const ParallelismSpec& shape,
                                int data,
                                analytic::AnalyticTier& tier) {
  try {
    return stage_costs(scenario.cluster, shape, data, workload::encoder_stages(scenario.model),
                       tier.layer_times(shape, data));
  } catch (const core::Error&) {
    return {};  // a rule, which the search finds and counts, or longer than the clock counts
  }
}

}  // namespace

std::vector<int> balanced_layers(const std::vector<StageCost>& stages, int layers) {
  std::vector<int> list(stages.size(), 1);
  for (int left = layers - static_cast<int>(stages.size()); left > 0; --left) {
    const auto done = [&](std::size_t stage) {
      return stages[stage].rest + (list[stage] + 1) * stages[stage].layer;
    };
    std::size_t next = 0;
    for (std::size_t stage = 1; stage < stages.size(); ++stage) {
      next = done(stage) < done(next) ? stage : next;
    }
    ++list[next];
  }
  return list;
}

std::vector<std::vector<int>> layers_in_proportion(const training::Scenario& scenario,
                                                   const ParallelismSpec& shape,
                                                   int data,
                                                   analytic::AnalyticTier& tier) {
  std::vector<std::vector<int>> lists;
  const int ahead = workload::encoder_stages(scenario.model);
  if (shape.pipeline - ahead < 2 || workload::copies_of_layers(shape) > 1) {
    return lists;
  }
  const auto costs = costs_of(scenario, shape, data, tier);
  const int chunks = workload::chunks_per_stage(shape.schedule, shape.virtual_stages);
  for (const double fraction : kFractions) {
    if (costs.empty()) {
      break;
    }
    auto layers = balanced_layers(closer(costs, fraction), scenario.model.layers);
    if (*std::min_element(layers.begin(), layers.end()) < chunks) {
      continue;  // a chunk would be empty
    }
    layers.insert(layers.begin(), static_cast<std::size_t>(ahead), 0);
    auto list = workload::chunks_of_stages(shape, layers);
    if (std::find(lists.begin(), lists.end(), list) == lists.end()) {
      lists.push_back(std::move(list));
    }
  }
  return lists;
}

}  // namespace headway::plan
