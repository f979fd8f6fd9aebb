// What `headway topo` prints: counts, tiers, oversubscription, bisection, diameter, connectivity;
// DOT and GraphML text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/units.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// One tier of links.
struct TierReport {
  std::string name;
  std::uint64_t cables = 0;         ///< both directions of a cable count once
  core::BytesPerSecond cable_rate;  ///< payload, one direction
  double oversubscription = 0;      ///< capacity below / capacity of this tier; 0: nothing below
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

FabricReport report(const Fabric& fabric);
/// Graphviz text of the switches and nodes, one edge a bundle of cables, labelled with its rate.
std::string to_dot(const Fabric& fabric);
/// GraphML text with the same vertices and edges and all their attributes.
std::string to_graphml(const Fabric& fabric);

}  // namespace headway::network
