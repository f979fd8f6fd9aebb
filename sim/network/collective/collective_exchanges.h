// Algorithms in which ranks send to several partners: who sends how much to whom in a whole call.
// Rings, trees and reducing switches, whose edges are those of domains, are in
// link_loads.cpp.
#pragma once

#include <functional>
#include <span>

#include "sim/core/ids.h"
#include "sim/network/collective/collective_call.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// Takes what one rank sends to another.
using VisitExchange = std::function<void(core::GpuId from, core::GpuId to, core::Bytes bytes)>;

/// Whether `for_each_exchange` speaks of this algorithm: pairwise, recursive, PAT, hierarchical
/// all-to-all.
bool exchanges_messages(core::CollectiveKind kind, Algorithm algorithm);

/// @param members  in the order of their ranks
/// INVARIANT: exchanges_messages(call.kind, algorithm)
void for_each_exchange(const Fabric& fabric,
                       const CollectiveCall& call,
                       std::span<const core::GpuId> members,
                       Algorithm algorithm,
                       const VisitExchange& visit);

}  // namespace headway::network
