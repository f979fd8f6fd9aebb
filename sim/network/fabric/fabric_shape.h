// How many switches, cables and domains a cluster's networks have: arithmetic on the specs, no
// tables.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/core/units.h"
#include "sim/network/spec.h"

namespace headway::network {

/// Storage servers that hang on the fabric itself (path: shared). Each has a port in every tree;
/// what it reads or writes in all is bounded by its own rates.
struct StorageAttachment {
  int targets = 0;                   ///< servers; 0: storage hangs on a network of its own
  core::BytesPerSecond read, write;  ///< of one server
};

/// Everything the fabric is built from.
struct FabricInput {
  FabricSpec fabric;
  ScaleUpSpec scale_up;
  NicSpec nic;
  int nodes = 1;
  int gpus_per_node = 8;
  StorageAttachment storage;
  std::optional<SitesSpec> sites;  ///< absent: all nodes are on one
  std::uint64_t hash_seed = 0;     ///< ecmp: another seed is another hash in every switch
};

/// Counts and rates of a fabric. A *rail* is the NICs of one node that serve the same GPUs, pooled;
/// a *tree* is a set of leaves and the switches above them that no cable joins to another tree
/// (a plane, or one rail of one plane in a rail-only fabric).
struct FabricShape {
  std::uint32_t nodes = 1, gpus_per_node = 8, gpus = 8;
  std::uint32_t domain_gpus = 8, domains = 1;  ///< NVLink domains
  std::uint32_t rails = 8;                     ///< NIC groups of a node
  std::uint32_t nics_per_node = 8;
  std::uint32_t planes = 1, trees = 1;
  bool rail_leaves = true;            ///< a leaf serves one rail of many nodes
  std::uint32_t ports_per_leaf = 32;  ///< rail ports that face hosts
  std::uint32_t leaves_per_tree = 1, leaves = 1;
  std::uint32_t leaves_per_pod = 1, pods_per_tree = 1;
  std::uint32_t uplinks = 0;  ///< cables of a leaf to the spines of its pod; 0: no spines
  std::uint32_t spines_per_pod = 0, spines = 0;
  std::uint32_t spine_uplinks = 0;  ///< cables of a spine to the cores; 0: no cores
  std::uint32_t cores_per_spine = 0,
                cores = 0;            ///< cores that join the spines of equal index of all pods
  std::uint32_t storage_targets = 0;  ///< spread evenly over the leaves of each tree
  bool dragonfly = false;             ///< pods are groups of directly joined leaves
  std::uint32_t local_cables = 0;     ///< dragonfly: cables between two leaves of a group
  std::uint32_t global_cables = 0;    ///< dragonfly: cables between two groups
  /// Sites have equal parts of the nodes and trees of their own; trees are numbered site by site.
  std::uint32_t sites = 1, nodes_per_site = 1;
  /// Whether the rails of a node meet above their leaves.
  [[nodiscard]] bool rails_joined() const { return trees == planes * sites; }
  core::BytesPerSecond site_rate;      ///< payload of one site into the wide area, one direction
  core::BytesPerSecond scale_up_rate;  ///< one GPU, one direction
  core::BytesPerSecond port_rate;      ///< payload of one rail into one plane, one direction
  core::BytesPerSecond cable_rate;     ///< payload of one switch-to-switch cable, one direction
};

/// @throws core::Error with every rule the specs break (a port count that leaves no uplink, more
/// leaves than one tier joins, counts that no machine has, ...)
FabricShape make_shape(const FabricInput& input);

}  // namespace headway::network
