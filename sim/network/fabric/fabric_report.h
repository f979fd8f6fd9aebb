// What `headway topo` prints: counts, tiers, oversubscription, bisection, diameter, connectivity;
// DOT and GraphML text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// One tier of links.
struct TierReport {
  std::string name;
  std::uint64_t cables = 0;         ///< both directions of a cable count once
  core::BytesPerSecond cable_rate;  ///< payload, one direction
  double oversubscription = 0;      ///< capacity below / capacity of this tier; 0: nothing below

  template <class V>
  void fields(V& v) const {
    v.part("name", name, "of the tier of links");
    v.figure("cables", cables, "", "both directions of a cable count once", core::non_negative);
    v.figure("cable_rate_bytes_per_s", cable_rate, "B/s", "payload of one cable, one direction",
             core::non_negative);
    v.figure("oversubscription", core::if_positive(oversubscription), "1",
             "capacity below / capacity of this tier; null: nothing below", core::positive);
  }
};

struct FabricReport {
  std::uint64_t nodes = 0, gpus = 0, domains = 0, nics = 0, leaves = 0, spines = 0, cores = 0,
                storage_targets = 0, links = 0;
  std::vector<TierReport> tiers;
  core::BytesPerSecond bisection;  ///< first half of the nodes to the second half over the NICs,
                                   ///< one direction, payload, ideal spray
  core::BytesPerSecond full_bisection;  ///< what the NICs of half the nodes can send
  int diameter = 0;  ///< most links of a shortest path between two GPUs, over NVLink or NIC
  std::uint32_t ports_per_leaf = 0,
                nodes_per_leaf = 0;  ///< rail ports; nodes plugged into a full leaf
  std::uint32_t leaf_radix = 0, spine_radix = 0,
                core_radix = 0;        ///< ports that a switch of each tier needs
  bool connected = false;              ///< every GPU reaches every other one
  std::uint64_t unreachable_gpus = 0;  ///< not reachable from GPU 0
  std::uint64_t links_down = 0, links_degraded = 0;
};

/// The counts of a report, as results show them.
struct FabricCounts {
  const FabricReport& of;

  template <class V>
  void fields(V& v) const {
    const auto count = [&v](const char* key, auto value, const char* meaning) {
      v.figure(key, value, "", meaning, core::non_negative);
    };
    count("nodes", of.nodes, "servers");
    count("gpus", of.gpus, "of all nodes");
    count("nvlink_domains", of.domains, "nodes, or groups of nodes, that share a scale-up network");
    count("nics", of.nics, "network cards of the compute network");
    count("leaves", of.leaves, "switches that nodes are plugged into");
    count("spines", of.spines, "switches above the leaves");
    count("cores", of.cores, "switches above the spines");
    count("links", of.links, "directed, of all tiers; a cable is two");
    count("rail_ports_per_leaf", of.ports_per_leaf, "NICs plugged into a full leaf");
    count("nodes_per_leaf", of.nodes_per_leaf, "nodes plugged into a full leaf");
    count("leaf_radix", of.leaf_radix, "ports that a leaf needs");
    count("spine_radix", of.spine_radix, "ports that a spine needs");
    count("core_radix", of.core_radix, "ports that a core switch needs");
    count("links_down", of.links_down, "of them, without any capacity");
    count("links_degraded", of.links_degraded, "of them, with a part of their capacity");
    count("unreachable_gpus", of.unreachable_gpus, "not reachable from GPU 0");
  }
};

FabricReport report(const Fabric& fabric);
/// Graphviz text of the switches and nodes, one edge a bundle of cables, labelled with its rate.
std::string to_dot(const Fabric& fabric);
/// GraphML text with the same vertices and edges and all their attributes.
std::string to_graphml(const Fabric& fabric);

}  // namespace headway::network
