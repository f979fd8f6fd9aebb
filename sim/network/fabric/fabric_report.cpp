#include "sim/network/fabric/fabric_report.h"

#include <algorithm>
#include <utility>

#include "sim/network/fabric/fabric_reach.h"

namespace headway::network {
namespace {

/// Least cost of putting a switch on the side of the first half (a) or of the second (b).
struct Cut {
  double a = 0, b = 0;
  /// Adds a subtree behind a cable pair: crossing from side a to side b costs the rate in that
  /// direction.
  void join(const Cut& below, double up, double down) {
    a += std::min(below.a, below.b + down);  // this on side a, below on side b: bytes go down
    b += std::min(below.b, below.a + up);
  }
  [[nodiscard]] double least() const { return std::min(a, b); }
};

double rate(const Fabric& fabric, core::LinkId id) { return fabric.link(id).capacity.si(); }

double leaf_rate(const Fabric& fabric, std::uint32_t leaf, bool up) {
  double sum = 0;
  for (std::uint32_t c = 0; c < (fabric.pooled() ? 1 : fabric.shape().uplinks); ++c) {
    sum += rate(fabric, fabric.leaf_link(leaf, c, up));
  }
  return sum;
}

double pod_rate(const Fabric& fabric, std::uint32_t pod, bool up) {
  const auto& s = fabric.shape();
  double sum = 0;
  for (std::uint32_t i = 0; i < (fabric.pooled() ? 1 : s.spines_per_pod * s.spine_uplinks); ++i) {
    sum += rate(fabric, fabric.spine_link(pod, i / s.spine_uplinks, i % s.spine_uplinks, up));
  }
  return sum;
}

/// Each leaf's cost: a sender cut off from its leaf costs what it sends, a receiver what it
/// receives.
std::vector<Cut> leaf_cuts(const Fabric& fabric) {
  const auto& s = fabric.shape();
  std::vector<Cut> leaves(s.leaves);
  for (std::uint32_t node = 0; node < s.nodes; ++node) {
    for (std::uint32_t port = 0; port < s.rails * s.planes; ++port) {
      const std::uint32_t rail = port / s.planes;
      const std::uint32_t plane = port % s.planes;
      auto& leaf = leaves[fabric.leaf_of(node, rail, plane)];
      if (node < s.nodes / 2) {
        leaf.b += rate(fabric, fabric.nic_link(node, rail, plane, true));
      } else {
        leaf.a += rate(fabric, fabric.nic_link(node, rail, plane, false));
      }
    }
  }
  return leaves;
}

/// The spines of one pod with all the leaves below them; without spines, the only leaf.
Cut pod_cut(const Fabric& fabric,
            const std::vector<Cut>& leaves,
            std::uint32_t tree,
            std::uint32_t pod_of_tree) {
  const auto& s = fabric.shape();
  const std::uint32_t first = tree * s.leaves_per_tree;
  if (s.spines == 0) {
    return leaves[first];
  }
  Cut pod;
  const std::uint32_t last = std::min((pod_of_tree + 1) * s.leaves_per_pod, s.leaves_per_tree);
  for (std::uint32_t i = pod_of_tree * s.leaves_per_pod; i < last; ++i) {
    pod.join(leaves[first + i], leaf_rate(fabric, first + i, true),
             leaf_rate(fabric, first + i, false));
  }
  return pod;
}

/// Minimum cut between the nodes' halves on the tree leaf - pod - core, whose every tier sprays
/// ideally: exact by dynamic programming from the leaves up.
core::BytesPerSecond tree_bisection(const Fabric& fabric) {
  const auto& s = fabric.shape();
  const auto leaves = leaf_cuts(fabric);
  double total = 0;
  for (std::uint32_t tree = 0; tree < s.trees; ++tree) {
    Cut top;
    for (std::uint32_t p = 0; p < s.pods_per_tree; ++p) {
      const Cut pod = pod_cut(fabric, leaves, tree, p);
      const std::uint32_t number = tree * s.pods_per_tree + p;
      if (s.cores == 0) {
        top = pod;
      } else {
        top.join(pod, pod_rate(fabric, number, true), pod_rate(fabric, number, false));
      }
    }
    total += top.least();
  }
  return core::BytesPerSecond(total);
}

/// Groups of the first half to groups of the second, at most what the NICs of half the nodes send.
core::BytesPerSecond dragonfly_bisection(const Fabric& fabric, core::BytesPerSecond hosts) {
  const auto& s = fabric.shape();
  if (s.pods_per_tree == 1) {
    return hosts;
  }
  core::BytesPerSecond across;
  for (std::uint32_t tree = 0; tree < s.trees; ++tree) {
    const std::uint32_t first = tree * s.pods_per_tree;
    for (std::uint32_t a = 0; a < s.pods_per_tree / 2; ++a) {
      for (std::uint32_t b = s.pods_per_tree / 2; b < s.pods_per_tree; ++b) {
        across += fabric.link(fabric.global_link(first + a, first + b)).capacity;
      }
    }
  }
  return std::min(across, hosts);
}

/// Of several sites: the ways out of half of them, and inside the one in the middle of an odd
/// count.
core::BytesPerSecond sites_bisection(const Fabric& fabric, core::BytesPerSecond hosts) {
  const auto& s = fabric.shape();
  core::BytesPerSecond across = s.sites % 2 == 1 ? tree_bisection(fabric) : core::BytesPerSecond{};
  for (std::uint32_t site = 0; site < s.sites / 2; ++site) {
    across += fabric.link(fabric.site_link(site, true)).capacity;
  }
  return std::min(across, hosts);
}

void add_tiers(const Fabric& fabric, FabricReport& r) {
  const auto& s = fabric.shape();
  const auto hosts = s.port_rate * static_cast<double>(s.ports_per_leaf);
  if (s.domain_gpus > 1) {
    const bool mesh = fabric.input().scale_up.kind == ScaleUpKind::mesh;
    const std::uint64_t peers = s.domain_gpus - 1;
    const auto cable = mesh ? s.scale_up_rate / static_cast<double>(peers) : s.scale_up_rate;
    r.tiers.push_back({std::string(tier_name(Tier::scale_up, fabric.input().scale_up.kind)),
                       mesh ? s.gpus * peers / 2 : s.gpus, cable, 0});
  }
  const std::uint64_t nics = std::uint64_t{s.nodes} * s.nics_per_node;
  r.tiers.push_back(
      {"nic", nics * s.planes, s.port_rate * (static_cast<double>(s.rails) / s.nics_per_node), 0});
  if (s.spines > 0) {
    r.tiers.push_back({"leaf-spine", std::uint64_t{s.leaves} * s.uplinks, s.cable_rate,
                       hosts / (s.cable_rate * static_cast<double>(s.uplinks))});
  }
  if (s.cores > 0) {
    const double down = static_cast<double>(s.leaves_per_pod) * s.uplinks / s.spines_per_pod;
    r.tiers.push_back({"spine-core", std::uint64_t{s.spines} * s.spine_uplinks, s.cable_rate,
                       down / s.spine_uplinks});
  }
  if (s.dragonfly) {
    const std::uint64_t pairs = std::uint64_t{s.leaves} * (s.leaves_per_pod - 1) / 2;
    const double local = static_cast<double>(s.local_cables) * (s.leaves_per_pod - 1);
    r.tiers.push_back({"local", pairs * s.local_cables, s.cable_rate,
                       local > 0 ? hosts / (s.cable_rate * local) : 0});
    const std::uint64_t groups =
        std::uint64_t{s.trees} * s.pods_per_tree * (s.pods_per_tree - 1) / 2;
    const double global = static_cast<double>(s.global_cables) * (s.pods_per_tree - 1);
    const auto group_hosts = hosts * static_cast<double>(s.leaves_per_pod);
    r.tiers.push_back({"global", groups * s.global_cables, s.cable_rate,
                       global > 0 ? group_hosts / (s.cable_rate * global) : 0});
  }
  if (s.storage_targets > 0) {
    const auto& storage = fabric.input().storage;
    r.tiers.push_back({"storage", std::uint64_t{s.storage_targets} * s.trees,
                       std::min(storage.read, storage.write), 0});
  }
  if (s.sites > 1) {
    const auto hosts_of_site = s.port_rate * (static_cast<double>(s.planes) * s.rails *
                                              static_cast<double>(s.nodes_per_site));
    r.tiers.push_back({std::string(core::to_word(Tier::site)), s.sites, s.site_rate,
                       hosts_of_site / s.site_rate});
  }
}

}  // namespace

FabricReport report(const Fabric& fabric) {
  const auto& s = fabric.shape();
  FabricReport r;
  r.nodes = s.nodes;
  r.gpus = s.gpus;
  r.domains = s.domain_gpus > 1 ? s.domains : 0;
  r.nics = std::uint64_t{s.nodes} * s.nics_per_node;
  r.leaves = s.leaves;
  r.spines = s.spines;
  r.cores = s.cores;
  r.storage_targets = s.storage_targets;
  r.links = fabric.link_count();
  add_tiers(fabric, r);
  r.full_bisection = s.port_rate * (static_cast<double>(s.planes) * s.rails * (s.nodes / 2));
  r.bisection = s.dragonfly   ? dragonfly_bisection(fabric, r.full_bisection)
                : s.sites > 1 ? sites_bisection(fabric, r.full_bisection)
                              : tree_bisection(fabric);
  r.ports_per_leaf = s.ports_per_leaf;
  r.nodes_per_leaf = s.rail_leaves ? s.ports_per_leaf : std::max(1U, s.ports_per_leaf / s.rails);
  const bool grouped = s.dragonfly;
  r.leaf_radix =
      s.ports_per_leaf + s.uplinks + (grouped ? s.local_cables * (s.leaves_per_pod - 1) : 0);
  r.spine_radix =
      s.spines == 0 ? 0 : s.leaves_per_pod * (s.uplinks / s.spines_per_pod) + s.spine_uplinks;
  r.core_radix = s.cores == 0 ? 0 : s.pods_per_tree * (s.spine_uplinks / s.cores_per_spine);
  const Reach reach = can_count_reach(fabric) ? counted_reach(fabric) : searched_reach(fabric);
  r.connected = reach.connected;
  r.unreachable_gpus = reach.missed;
  r.diameter = reach.diameter;
  r.links_down = fabric.links_down();
  r.links_degraded = fabric.links_hit() - fabric.links_down();
  return r;
}

}  // namespace headway::network
