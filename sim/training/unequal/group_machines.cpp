#include "sim/training/unequal/group_machines.h"

#include <algorithm>
#include <utility>

#include "sim/training/step/step_inputs.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

GroupMachines::GroupMachines(const Scenario& scenario, const network::FabricInput& input)
    : scenario_(scenario), input_(input) {
  add({0});
}

int GroupMachines::kind_of(core::GpuId gpu) const {
  const auto& cluster = scenario_.cluster;
  return kind_of_node(cluster, gpu.index() / static_cast<std::uint32_t>(cluster.node.gpus));
}

std::size_t GroupMachines::of_group(const std::vector<core::GpuId>& gpus) {
  if (!unequal(scenario_.cluster)) {
    return 0;
  }
  std::vector<int> kinds;
  for (const core::GpuId gpu : gpus) {
    kinds.push_back(kind_of(gpu));
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  const auto known = std::find_if(machines_.begin(), machines_.end(),
                                  [&](const Machine& machine) { return machine.kinds == kinds; });
  if (known != machines_.end()) {
    return static_cast<std::size_t>(known - machines_.begin());
  }
  add(std::move(kinds));
  return machines_.size() - 1;
}

void GroupMachines::add(std::vector<int> kinds) {
  Scenario weakest = scenario_;
  weakest.cluster.node = weakest_node(scenario_.cluster, kinds);
  weakest.cluster.other_nodes.clear();
  const auto input = with_node(input_, weakest.cluster.node);
  machines_.push_back({std::move(kinds), network_parameters(weakest, input)});
}

}  // namespace headway::training
