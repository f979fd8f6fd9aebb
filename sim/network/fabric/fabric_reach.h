// Who reaches whom, and over how many links.
#pragma once

#include <cstdint>

#include "sim/network/fabric/fabric.h"

namespace headway::network {

struct Reach {
  bool connected = false;    ///< every GPU reaches every other one
  std::uint64_t missed = 0;  ///< GPUs that GPU 0 does not reach, or that do not reach it
  int diameter = 0;          ///< most links of a shortest path between two GPUs, over NVLink or NIC
};

/// Whether `counted_reach` knows the fabric: nothing is down, it is a tree of leaves, and its rails
/// are joined by spines or by NVLink in every node.
bool can_count_reach(const Fabric& fabric);
/// From the coordinates of both ends, without a graph.
/// INVARIANT: can_count_reach(fabric)
Reach counted_reach(const Fabric& fabric);
/// By breadth-first search over all GPUs and switches.
Reach searched_reach(const Fabric& fabric);

}  // namespace headway::network
