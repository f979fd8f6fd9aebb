// Algorithms in which ranks send to several partners: who sends how much to whom in a whole call.
// Rings, trees and reducing switches, whose edges are those of domains, are in
// collective_flows.cpp.
#pragma once

#include <span>
#include <vector>

#include "sim/core/ids.h"
#include "sim/network/collective/collective_call.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// What one rank sends to another.
struct Exchange {
  core::GpuId from, to;
  core::Bytes bytes;
};

/// Whether `exchanges` speaks of this algorithm: pairwise, recursive, PAT, hierarchical all-to-all.
bool exchanges_messages(core::CollectiveKind kind, Algorithm algorithm);

/// @param members  in the order of their ranks
/// INVARIANT: exchanges_messages(call.kind, algorithm)
std::vector<Exchange> exchanges(const Fabric& fabric,
                                const CollectiveCall& call,
                                std::span<const core::GpuId> members,
                                Algorithm algorithm);

}  // namespace headway::network
