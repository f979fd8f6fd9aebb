#include "sim/network/fabric/fabric_shape.h"

#include <algorithm>
#include <cmath>

#include "sim/core/checked.h"
#include "sim/core/error.h"
#include "sim/network/fabric/wide_area.h"

namespace headway::network {
namespace {

std::uint32_t to_count(int value) { return static_cast<std::uint32_t>(value); }

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

/// Smallest whole number of cables that carries `rate`; a rounding error above a whole number does
/// not add a cable.
std::uint32_t cables_for(core::BytesPerSecond rate, core::BytesPerSecond cable) {
  // Source: chosen, more than any switch has.
  constexpr double kMostCables = 1U << 20U;
  const double cables = std::ceil(rate / cable - 1e-9);
  if (!(cables <= kMostCables)) {
    throw core::Error(
        fmt::format("{:.3g} GB/s of hosts below one switch need {:.3g} cables of {:.3g} GB/s above "
                    "it: no switch "
                    "has so many; raise fabric.link_bandwidth",
                    rate.si() / 1e9, cables, cable.si() / 1e9));
  }
  return std::max(1U, static_cast<std::uint32_t>(cables));
}

/// Smallest divisor of `cables` that is at least `switches`, or `cables` itself.
std::uint32_t even_split(std::uint32_t cables, std::uint32_t switches) {
  for (std::uint32_t d = std::max(1U, switches); d < cables; ++d) {
    if (cables % d == 0) {
      return d;
    }
  }
  return cables;
}

void shape_nodes(const FabricInput& in, FabricShape& s) {
  s.nodes = to_count(in.nodes);
  s.sites = in.sites ? to_count(in.sites->count) : 1;
  s.nodes_per_site = s.nodes / s.sites;
  s.gpus_per_node = to_count(in.gpus_per_node);
  s.gpus = s.nodes * s.gpus_per_node;
  s.domain_gpus = to_count(in.scale_up.domain_gpus);
  s.domains = ceil_div(s.gpus, s.domain_gpus);
  s.nics_per_node = to_count(in.nic.count);
  s.rails = std::min(s.nics_per_node, s.gpus_per_node);
  s.planes = to_count(in.fabric.planes);
  s.storage_targets = to_count(in.storage.targets);
  s.scale_up_rate = in.scale_up.bandwidth;
  const auto port = std::min(in.nic.bandwidth / in.fabric.planes, in.fabric.link_bandwidth);
  s.port_rate = port * in.fabric.efficiency * (static_cast<double>(s.nics_per_node) / s.rails);
  s.cable_rate = in.fabric.link_bandwidth * in.fabric.efficiency;
  if (in.sites) {
    s.site_rate = wide_area_rates(*in.sites, s.port_rate * static_cast<double>(s.planes)).site;
  }
}

void shape_leaves(const FabricInput& in, FabricShape& s) {
  const auto topology = in.fabric.topology;
  s.rail_leaves = topology == Topology::rail_optimized || topology == Topology::rail_only;
  s.dragonfly = topology == Topology::dragonfly;
  // Without spines the rails of a rail-optimized fabric have no cable between them either.
  const bool rails_apart =
      topology == Topology::rail_only || (s.rail_leaves && in.fabric.tiers == 1);
  s.trees = s.sites * s.planes * (rails_apart ? s.rails : 1);
  s.ports_per_leaf =
      std::max(1U, to_count(in.fabric.ports_per_leaf) / ceil_div(s.nics_per_node, s.rails));
  if (!s.rail_leaves && s.ports_per_leaf > s.rails) {
    s.ports_per_leaf -= s.ports_per_leaf % s.rails;  // a node's rails share a leaf
  }
  if (s.rail_leaves) {
    s.leaves_per_tree = ceil_div(s.nodes_per_site, s.ports_per_leaf) * (rails_apart ? 1 : s.rails);
  } else {
    s.leaves_per_tree = ceil_div(s.nodes_per_site * s.rails, s.ports_per_leaf);
  }
  s.leaves = s.leaves_per_tree * s.trees;
  s.leaves_per_pod = s.leaves_per_tree;
  if (in.fabric.leaves_per_pod > 0 && (in.fabric.tiers == 3 || s.dragonfly)) {
    s.leaves_per_pod = std::min(s.leaves_per_tree, to_count(in.fabric.leaves_per_pod));
  } else if (s.dragonfly) {
    // Balanced dragonfly: a = 2 p leaves in a group (Kim, Dally, Scott, Abts, ISCA 2008).
    s.leaves_per_pod = std::min(s.leaves_per_tree, 2 * s.ports_per_leaf);
  }
  s.pods_per_tree = ceil_div(s.leaves_per_tree, s.leaves_per_pod);
}

/// Links, ports and cables are numbered by 32 bits.
constexpr std::int64_t kMost = std::int64_t{1} << 31U;

/// Above the leaves nothing is more than their cables, or than pairs of a dragonfly's groups.
void check_cables(const FabricShape& s) {
  const core::Checked cables = core::Checked(s.leaves) * s.uplinks;
  const core::Checked pairs =
      core::Checked(s.dragonfly ? s.pods_per_tree : 0) * s.pods_per_tree * s.trees;
  if (cables > core::Checked(kMost) || pairs > core::Checked(kMost)) {
    throw core::Error(
        fmt::format("{} leaves with {} uplinks have {} cables, and {} pairs of groups are joined; "
                    "at most {} can "
                    "be numbered: take fewer nodes or planes, or more ports a leaf",
                    s.leaves, s.uplinks, cables, pairs, kMost));
  }
}

/// Spines and cores use the leaf's switch model: as many ports as a leaf has, down and up together.
void shape_spines(const FabricInput& in, FabricShape& s) {
  if (s.leaves_per_tree == 1) {
    return;
  }
  const auto hosts = s.port_rate * static_cast<double>(s.ports_per_leaf);
  s.uplinks = cables_for(hosts / in.fabric.leaf_oversubscription, s.cable_rate);
  check_cables(s);
  const std::uint32_t radix = to_count(in.fabric.ports_per_leaf) + s.uplinks;
  const bool cores = s.pods_per_tree > 1;
  const std::uint32_t down_ports = cores ? std::max(1U, radix / 2) : radix;
  s.spines_per_pod = even_split(s.uplinks, ceil_div(s.leaves_per_pod * s.uplinks, down_ports));
  s.spines = s.spines_per_pod * s.pods_per_tree * s.trees;
  if (cores) {
    const double below = static_cast<double>(s.leaves_per_pod) * s.uplinks / s.spines_per_pod;
    s.spine_uplinks =
        cables_for(s.cable_rate * (below / in.fabric.spine_oversubscription), s.cable_rate);
    s.cores_per_spine =
        even_split(s.spine_uplinks, ceil_div(s.pods_per_tree * s.spine_uplinks, radix));
    s.cores = s.cores_per_spine * s.spines_per_pod * s.trees;
  }
}

void shape_dragonfly(const FabricInput& in, FabricShape& s) {
  const auto hosts = s.port_rate * static_cast<double>(s.ports_per_leaf);
  s.uplinks = cables_for(hosts / in.fabric.leaf_oversubscription, s.cable_rate);
  check_cables(s);
  // Minimal routes cross a group twice as often as they leave it: a leaf's local cables carry twice
  // its hosts.
  s.local_cables = cables_for(hosts * (2.0 / s.leaves_per_pod), s.cable_rate);
  if (s.pods_per_tree > 1) {
    s.global_cables = s.leaves_per_pod * s.uplinks / (s.pods_per_tree - 1);
  }
}

/// Fields that say something of switches which the fabric has not.
void check_unread(const FabricInput& in, core::Diagnostics& faults) {
  const auto& f = in.fabric;
  const bool dragonfly = f.topology == Topology::dragonfly;
  const std::string_view has = dragonfly ? "a dragonfly" : "a fabric without cores";
  if (f.spine_oversubscription != 1 && (f.tiers < 3 || dragonfly)) {
    faults.add({},
               fmt::format("fabric.spine_oversubscription {} is of the cables between spines and "
                           "cores, and {} has none: use fabric.leaf_oversubscription, or tiers 3",
                           f.spine_oversubscription, has));
  }
  if (f.leaves_per_pod != 0 && f.tiers < 3 && !dragonfly) {
    faults.add({},
               fmt::format("fabric.leaves_per_pod {} divides the leaves among pods, and a fabric "
                           "of {} tier{} has one: use tiers 3, or leave it out",
                           f.leaves_per_pod, f.tiers, f.tiers == 1 ? "" : "s"));
  }
}

/// What a site is made of, and what sites are not joined with.
void check_sites(const FabricInput& in, core::Diagnostics& faults) {
  if (!in.sites) {
    return;
  }
  const int sites = in.sites->count;
  if (in.nodes % sites != 0) {
    faults.add({}, fmt::format("sites.count {} does not divide the {} nodes", sites, in.nodes));
  }
  const std::int64_t gpus = std::int64_t{in.nodes} / sites * in.gpus_per_node;
  if (in.nodes % sites == 0 && gpus % in.scale_up.domain_gpus != 0) {
    faults.add({}, fmt::format("sites.count {} cuts NVLink domains of {} GPUs: a site has {} GPUs",
                               sites, in.scale_up.domain_gpus, gpus));
  }
  if (in.fabric.routing != Routing::adaptive) {
    faults.add({}, fmt::format("fabric.routing '{}' between sites is not modelled: write adaptive",
                               core::to_word(in.fabric.routing)));
  }
  if (in.fabric.topology == Topology::dragonfly) {
    faults.add({}, "fabric.topology dragonfly on several sites is not modelled");
  }
  if (in.storage.targets > 0) {
    faults.add({}, "storage servers on the fabrics of several sites are not modelled");
  }
}

/// What the shape multiplies, before it does.
void check_sizes(const FabricInput& in, core::Diagnostics& faults) {
  const core::Checked gpus = core::Checked(in.nodes) * in.gpus_per_node;
  const core::Checked mesh =
      in.scale_up.kind == ScaleUpKind::mesh ? gpus * in.scale_up.domain_gpus : gpus * 2;
  const core::Checked nics = core::Checked(in.nodes) * std::min(in.nic.count, in.gpus_per_node);
  const core::Checked links = mesh + gpus * 2 + nics * in.fabric.planes * 2;
  if (links > core::Checked(kMost)) {
    faults.add(
        {}, fmt::format("{} nodes of {} GPUs with {} NICs in {} planes have {} links, and at "
                        "most {} can be numbered: take fewer nodes or planes",
                        in.nodes, in.gpus_per_node, in.nic.count, in.fabric.planes, links, kMost));
  }
  const core::Checked ports = core::Checked(in.fabric.ports_per_leaf) * in.fabric.planes;
  if (ports > core::Checked(kMost)) {
    faults.add({}, fmt::format("fabric.ports_per_leaf {} in {} planes are more than {}",
                               in.fabric.ports_per_leaf, in.fabric.planes, kMost));
  }
}

void check_input(const FabricInput& in, core::Diagnostics& faults) {
  if (in.nodes < 1 || in.gpus_per_node < 1) {
    faults.add({}, fmt::format("a fabric needs at least one node and one GPU, not {} x {}",
                               in.nodes, in.gpus_per_node));
  }
  const int domain = in.scale_up.domain_gpus;
  if (domain < 1 || in.gpus_per_node < 1 ||
      (domain % in.gpus_per_node != 0 && in.gpus_per_node % domain != 0)) {
    faults.add({}, fmt::format("scale_up.domain_gpus {} neither divides the {} GPUs of a node nor "
                               "is a multiple of them",
                               domain, in.gpus_per_node));
  }
  if (in.nic.count < 1 || in.fabric.planes < 1 || in.fabric.ports_per_leaf < 1) {
    faults.add({}, "nic.count, fabric.planes and fabric.ports_per_leaf must be at least 1");
  }
  if (in.storage.targets < 0 ||
      (in.storage.targets > 0 && (in.storage.read.si() <= 0 || in.storage.write.si() <= 0))) {
    faults.add({}, fmt::format("{} storage targets need rates of reading and writing above zero",
                               in.storage.targets));
  }
  check_unread(in, faults);
  check_sites(in, faults);
  if (in.scale_up.kind == ScaleUpKind::mesh && domain > in.gpus_per_node) {
    faults.add(
        {},
        fmt::format(
            "a mesh joins the GPUs of one node; scale_up.domain_gpus {} is more than its {} GPUs",
            domain, in.gpus_per_node));
  }
}

void check_shape(const FabricInput& in, const FabricShape& s, core::Diagnostics& faults) {
  if (in.fabric.tiers == 1 && s.leaves_per_tree > 1 && !s.dragonfly) {
    faults.add(
        {}, fmt::format(
                "fabric.tiers 1 joins {} ports; {} nodes with {} rails need {} leaves: use tiers 2",
                s.ports_per_leaf, s.nodes, s.rails, s.leaves_per_tree));
  }
  if (s.dragonfly && s.pods_per_tree > 1 && s.global_cables == 0) {
    faults.add(
        {},
        fmt::format(
            "a dragonfly of {} groups needs {} global cables a group; {} leaves with {} have {}",
            s.pods_per_tree, s.pods_per_tree - 1, s.leaves_per_pod, s.uplinks,
            s.leaves_per_pod * s.uplinks));
  }
}

}  // namespace

FabricShape make_shape(const FabricInput& input) {
  core::Diagnostics faults;
  check_input(input, faults);
  faults.throw_if_any();
  check_sizes(input, faults);
  faults.throw_if_any();
  FabricShape shape;
  shape_nodes(input, shape);
  shape_leaves(input, shape);
  if (shape.dragonfly) {
    shape_dragonfly(input, shape);
  } else {
    shape_spines(input, shape);
  }
  check_shape(input, shape, faults);
  faults.throw_if_any();
  return shape;
}

}  // namespace headway::network
