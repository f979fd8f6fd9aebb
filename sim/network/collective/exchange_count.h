// What an exchange of equal parts between all members puts on the links, counted instead of routed
// message by message: where cables are pooled, a message's links follow from where its ends are
// plugged in, so that each link's messages are a product of counts.
#pragma once

#include <span>

#include "sim/core/ids.h"
#include "sim/core/units.h"
#include "sim/network/collective/link_loads.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// Whether counting gives what routing would: pooled cables, none of them down, no dragonfly.
bool can_count_exchange(const Fabric& fabric);

/// Every member sends `part` to every other one. O(members x rails) for n (n - 1) messages.
/// INVARIANT: can_count_exchange(fabric)
/// @throws core::Error as `route` does, if two members have no path
void add_counted_exchange(const Fabric& fabric,
                          std::span<const core::GpuId> members,
                          core::Bytes part,
                          LinkLoads& loads);

}  // namespace headway::network
