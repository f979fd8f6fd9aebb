#include "sim/training/orbits/tensor_orbits.h"

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

}  // namespace

int TensorOrbits::index_of(const Fabric& fabric, core::LinkId link) const {
  const FabricShape& s = fabric.shape();
  const network::LinkOwner at = fabric.owner(link);
  const auto tensor = static_cast<std::uint32_t>(orbit.size());
  switch (at.tier) {
    case network::Tier::scale_up:
    case network::Tier::host:
      return static_cast<int>(at.index % tensor);
    case network::Tier::nic:
      return static_cast<int>(at.index / s.planes % s.rails % tensor);
    case network::Tier::leaf_spine: {
      const bool joined = s.rails_joined();
      const std::uint32_t rail =
          joined ? at.index % s.leaves_per_tree % s.rails : at.index / s.leaves_per_tree % s.rails;
      return s.rail_leaves ? static_cast<int>(rail % tensor) : kShared;
    }
    case network::Tier::spine_core:
      return s.rail_leaves && !s.rails_joined()
                 ? static_cast<int>(at.index / s.pods_per_tree % s.rails % tensor)
                 : kShared;
    default:
      return kShared;
  }
}

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
  const auto& occupancy = checked.scenario().cluster.occupancy;
  const bool beside_others = occupancy && !occupancy->jobs.empty();
  if (p.tensor == 1 || p.expert > 1 || p.expert_tensor > 1 || !own_rails || !inside || !plain ||
      beside_others) {
    return false;
  }
  // Leaves of one rail must lie in pods alike; leaves of all rails must take whole tensor groups.
  const bool apart = !s.rails_joined();
  return s.rail_leaves ? apart || s.pods_per_tree == 1 || s.leaves_per_pod % s.rails == 0
                       : s.ports_per_leaf % tensor == 0;
}

TensorOrbits tensor_orbits(const CheckedScenario& checked, const Fabric& fabric) {
  TensorOrbits orbits;
  if (!tensor_ranks_alike(checked, fabric.input(), fabric.shape())) {
    return orbits;
  }
  const auto tensor = static_cast<std::uint32_t>(checked.scenario().parallelism.tensor);
  if (fabric.links_hit() == 0) {
    orbits = {.kept = {0}, .size = {tensor}, .orbit = std::vector<std::uint32_t>(tensor, 0)};
    return orbits;
  }
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
  return orbits;
}

}  // namespace headway::training
