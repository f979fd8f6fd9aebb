// Ways of choosing nodes from those that are free.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/fabric/fabric.h"
#include "sim/study/placement/placement.h"
#include "sim/training/cluster_spec.h"

namespace headway::study {

/// Nodes of one choice; rising, so that ranks that are neighbours stay so.
/// @param seed  of random ones
/// @param draw  of random ones, from 1
std::vector<std::uint32_t> choose_nodes(NodeChoice choice,
                                        const training::ClusterSpec& cluster,
                                        const network::Fabric& fabric,
                                        std::uint64_t seed,
                                        int draw);

/// Different leaves, of one plane, that the nodes are plugged into.
std::vector<std::uint32_t> leaves_of(const network::Fabric& fabric,
                                     const std::vector<std::uint32_t>& nodes);

}  // namespace headway::study
