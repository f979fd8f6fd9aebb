#include "sim/training/step/tensor_orbits.h"

#include <algorithm>

namespace headway::training {

namespace {

using network::Fabric;
using network::FabricShape;

/// Everything that one tensor index sees of the cluster, in an order that is the same for all.
std::vector<double> view(const Fabric& fabric, std::uint32_t tensor, std::uint32_t index) {
  const FabricShape& s = fabric.shape();
  std::vector<double> seen;
  const auto see = [&](core::LinkId id) {
    const network::Link& link = fabric.link(id);
    seen.insert(seen.end(), {link.capacity.si(), link.never_binds ? 1.0 : 0.0});
  };
  for (std::uint32_t node = 0; node < s.nodes; ++node) {
    for (std::uint32_t rail = index; rail < s.rails; rail += tensor) {
      for (std::uint32_t plane = 0; plane < s.planes; ++plane) {
        for (const bool up : {true, false}) {
          see(fabric.nic_link(node, rail, plane, up));
          if (s.spines > 0) {
            see(fabric.leaf_link(fabric.leaf_of(node, rail, plane), 0, up));
          }
        }
      }
    }
  }
  return seen;
}

/// The tensor index that each link serves.
std::vector<std::int16_t> indices_of_links(const Fabric& fabric, std::uint32_t tensor) {
  const FabricShape& s = fabric.shape();
  std::vector<std::int16_t> index(fabric.links().size(), TensorOrbits::kShared);
  const auto mark = [&](core::LinkId link, std::uint32_t place) {
    index[link.index()] = static_cast<std::int16_t>(place % tensor);
  };
  for (const bool up : {true, false}) {
    for (std::uint32_t gpu = 0; gpu < s.gpus; ++gpu) {
      if (s.domain_gpus > 1) {
        mark(fabric.scale_up_link(gpu, up), gpu);
      }
      mark(fabric.host_link(gpu, up), gpu);
    }
    for (std::uint32_t port = 0; port < s.nodes * s.rails * s.planes; ++port) {
      const std::uint32_t rail = port / s.planes % s.rails;
      const std::uint32_t node = port / s.planes / s.rails;
      const std::uint32_t plane = port % s.planes;
      mark(fabric.nic_link(node, rail, plane, up), rail);
      const std::uint32_t leaf = fabric.leaf_of(node, rail, plane);
      if (s.rail_leaves && s.spines > 0) {
        mark(fabric.leaf_link(leaf, 0, up), rail);
      }
      if (s.rail_leaves && s.cores > 0 && s.trees > s.planes) {
        mark(fabric.spine_link(fabric.pod_of(leaf), 0, 0, up), rail);
      }
    }
  }
  return index;
}

}  // namespace

bool tensor_ranks_alike(const CheckedScenario& checked,
                        const network::FabricInput& input,
                        const FabricShape& s) {
  const auto& p = checked.scenario().parallelism;
  const auto tensor = static_cast<std::uint32_t>(p.tensor);
  const bool own_rails = s.rails == s.gpus_per_node && s.gpus_per_node % tensor == 0;
  const bool inside = s.domain_gpus % s.gpus_per_node == 0 || s.domain_gpus == tensor;
  const bool plain = input.fabric.routing == network::Routing::adaptive && !s.dragonfly &&
                     s.storage_targets == 0 &&
                     input.scale_up.kind == network::ScaleUpKind::nvswitch;
  if (p.tensor == 1 || p.expert > 1 || p.expert_tensor > 1 || !own_rails || !inside || !plain) {
    return false;
  }
  // Leaves of one rail must lie in pods alike; leaves of all rails must take whole tensor groups.
  const bool apart = s.trees > s.planes;
  return s.rail_leaves ? apart || s.pods_per_tree == 1 || s.leaves_per_pod % s.rails == 0
                       : s.ports_per_leaf % tensor == 0;
}

TensorOrbits tensor_orbits(const CheckedScenario& checked, const Fabric& fabric) {
  TensorOrbits orbits;
  if (!tensor_ranks_alike(checked, fabric.input(), fabric.shape())) {
    return orbits;
  }
  const auto tensor = static_cast<std::uint32_t>(checked.scenario().parallelism.tensor);
  std::vector<std::vector<double>> views;
  for (std::uint32_t index = 0; index < tensor; ++index) {
    auto seen = view(fabric, tensor, index);
    const auto same = std::find(views.begin(), views.end(), seen);
    orbits.orbit.push_back(static_cast<std::uint32_t>(same - views.begin()));
    if (same == views.end()) {
      orbits.kept.push_back(static_cast<int>(index));
      orbits.size.push_back(0);
      views.push_back(std::move(seen));
    }
    ++orbits.size[orbits.orbit.back()];
  }
  if (orbits.kept.size() == tensor) {
    return {};
  }
  orbits.link_index = indices_of_links(fabric, tensor);
  return orbits;
}

}  // namespace headway::training
