#include "sim/training/unequal/node_kinds.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/gpu/kernel_time.h"
#include "sim/training/step/step_inputs.h"

namespace headway::training {

int node_kinds(const ClusterSpec& cluster) {
  return 1 + static_cast<int>(cluster.other_nodes.size());
}

const NodeSpec& node_of_kind(const ClusterSpec& cluster, int kind) {
  return kind == 0 ? cluster.node : cluster.other_nodes[static_cast<std::size_t>(kind - 1)].node;
}

std::int64_t first_node(const ClusterSpec& cluster, int kind) {
  std::int64_t first = cluster.nodes;
  for (int other = node_kinds(cluster) - 1; other >= std::max(1, kind); --other) {
    first -= cluster.other_nodes[static_cast<std::size_t>(other - 1)].nodes;
  }
  return kind == 0 ? 0 : first;
}

int kind_of_node(const ClusterSpec& cluster, std::int64_t node) {
  int kind = node_kinds(cluster) - 1;
  while (node < first_node(cluster, kind)) {
    --kind;
  }
  return kind;
}

std::string nodes_in_words(const ClusterSpec& cluster) {
  if (!unequal(cluster)) {
    return fmt::format("{} node{} of {}", core::count(cluster.nodes), cluster.nodes == 1 ? "" : "s",
                       cluster.node.name);
  }
  std::vector<std::string> kinds;
  for (int kind = 0; kind < node_kinds(cluster); ++kind) {
    kinds.push_back(fmt::format("{} of {}",
                                core::count(static_cast<double>(nodes_of_kind(cluster, kind))),
                                node_of_kind(cluster, kind).name));
  }
  return fmt::format("{} nodes ({})", core::count(cluster.nodes), fmt::join(kinds, ", "));
}

Scenario of_one_kind(const Scenario& scenario, int kind) {
  Scenario alone = scenario;
  alone.cluster.node = node_of_kind(scenario.cluster, kind);
  alone.cluster.other_nodes.clear();
  use_attention_of_gpus(alone);
  return alone;
}

void use_attention_of_gpus(Scenario& scenario) {
  using workload::AttentionKernels;
  AttentionKernels& kernels = scenario.training.framework.attention_kernels;
  bool old = true;
  for (int kind = 0; kind < node_kinds(scenario.cluster); ++kind) {
    old = old && gpu::before_ampere(node_of_kind(scenario.cluster, kind).gpu.architecture);
  }
  if (old && kernels != AttentionKernels::sdpa) {
    kernels = AttentionKernels::unfused;
  }
}

NodeSpec weakest_node(const ClusterSpec& cluster, const std::vector<int>& kinds) {
  HEADWAY_CHECK(!kinds.empty(), "a node of no kind");
  const auto at_most = [](auto& value, const auto& other) { value = std::min(value, other); };
  NodeSpec weakest = node_of_kind(cluster, kinds.front());
  for (const int kind : kinds) {
    const NodeSpec& other = node_of_kind(cluster, kind);
    if (nccl_generation(other.gpu.architecture) < nccl_generation(weakest.gpu.architecture)) {
      weakest.gpu.architecture = other.gpu.architecture;
    }
    at_most(weakest.gpu.memory, other.gpu.memory);
    at_most(weakest.gpu.host_bandwidth, other.gpu.host_bandwidth);
    at_most(weakest.scale_up.bandwidth, other.scale_up.bandwidth);
    weakest.scale_up.latency = std::max(weakest.scale_up.latency, other.scale_up.latency);
    at_most(weakest.scale_up.in_switch_reduction, other.scale_up.in_switch_reduction);
    at_most(weakest.nic.bandwidth, other.nic.bandwidth);
    weakest.nic.latency = std::max(weakest.nic.latency, other.nic.latency);
    at_most(weakest.host_memory, other.host_memory);
    at_most(weakest.host_memory_bandwidth, other.host_memory_bandwidth);
  }
  return weakest;
}

NodeSpec weakest_node(const ClusterSpec& cluster) {
  std::vector<int> kinds;
  for (int kind = 0; kind < node_kinds(cluster); ++kind) {
    kinds.push_back(kind);
  }
  return weakest_node(cluster, kinds);
}

double relative_price(const Scenario& scenario) {
  const auto& others = scenario.cluster.other_nodes;
  const bool own = std::any_of(others.begin(), others.end(), [](const OtherNodesSpec& kind) {
    return kind.gpu_hour.has_value();
  });
  if (!own || !scenario.run.prices) {
    return 1;
  }
  const core::DollarsPerSecond first = scenario.run.prices->gpu_hour;
  double sum = static_cast<double>(nodes_of_kind(scenario.cluster, 0));
  for (const OtherNodesSpec& kind : others) {
    sum += kind.nodes * (kind.gpu_hour.value_or(first) / first);
  }
  return sum / scenario.cluster.nodes;
}

core::FlopsPerSecond mean_peak(const Scenario& scenario) {
  const auto& cluster = scenario.cluster;
  const auto peak = [&](int kind) {
    return gpu::peak_rate(node_of_kind(cluster, kind).gpu, scenario.training.precision);
  };
  if (!unequal(cluster)) {
    return peak(0);
  }
  core::FlopsPerSecond sum;
  for (int kind = 0; kind < node_kinds(cluster); ++kind) {
    sum += peak(kind) * static_cast<double>(nodes_of_kind(cluster, kind));
  }
  return sum / static_cast<double>(cluster.nodes);
}

std::vector<StageKinds> replicas_by_kind(const ClusterSpec& cluster,
                                         const workload::ParallelismSpec& layout,
                                         int data_parallel) {
  const std::int64_t slice = std::int64_t{layout.tensor} * layout.context;
  const bool whole_models = layout.rank_order == workload::RankOrder::pipeline_first;
  if (!unequal(cluster)) {
    return {StageKinds(static_cast<std::size_t>(layout.pipeline), 0)};
  }
  std::vector<StageKinds> found;
  for (int data = 0; data < data_parallel; ++data) {
    StageKinds stages;
    for (std::int64_t stage = 0; stage < layout.pipeline; ++stage) {
      const std::int64_t place =
          whole_models ? data * layout.pipeline + stage : stage * data_parallel + data;
      stages.push_back(kind_of_node(cluster, place * slice / cluster.node.gpus));
    }
    if (std::find(found.begin(), found.end(), stages) == found.end()) {
      found.push_back(std::move(stages));
    }
  }
  return found;
}

std::vector<std::vector<int>> kinds_of_stages(const ClusterSpec& cluster,
                                              const workload::ParallelismSpec& layout,
                                              int data_parallel) {
  std::vector<std::vector<int>> kinds(static_cast<std::size_t>(layout.pipeline));
  for (const StageKinds& replica : replicas_by_kind(cluster, layout, data_parallel)) {
    for (std::size_t stage = 0; stage < replica.size(); ++stage) {
      kinds[stage].push_back(replica[stage]);
    }
  }
  for (auto& list : kinds) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return kinds;
}

std::vector<StageRoom> room_of_stages(const ClusterSpec& cluster,
                                      const workload::ParallelismSpec& layout,
                                      int data_parallel) {
  std::vector<StageRoom> rooms;
  for (const auto& kinds : kinds_of_stages(cluster, layout, data_parallel)) {
    const NodeSpec& first = node_of_kind(cluster, kinds.front());
    StageRoom room{kinds.front(), first.gpu.memory, first.host_memory};
    for (const int kind : kinds) {
      const NodeSpec& node = node_of_kind(cluster, kind);
      if (node.gpu.memory < room.gpu) {
        room.kind = kind;
        room.gpu = node.gpu.memory;
      }
      room.host = std::min(room.host, node.host_memory);
    }
    rooms.push_back(room);
  }
  return rooms;
}

KernelTimesOfKinds::KernelTimesOfKinds(const Scenario& scenario) {
  for (int kind = 0; kind < node_kinds(scenario.cluster); ++kind) {
    alone_.push_back(of_one_kind(scenario, kind));
    times_.push_back(kernel_times(alone_.back()));
  }
}

}  // namespace headway::training
