// From one GPU to another: which links a flow uses, with which share of it, and how long its first
// byte takes.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/units.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// Coefficients of all flows are integers in units of 1 / this (set `Problem::coefficient_unit` to
/// it). 5040 is divisible by 1 to 10: shares over planes and mesh links are exact.
inline constexpr std::uint32_t kCoefficientUnit = 5040;

/// One link of a route, and the share of the flow that crosses it.
struct RouteHop {
  core::LinkId link;
  std::uint32_t coefficient = kCoefficientUnit;
  bool operator==(const RouteHop&) const = default;
};

struct Route {
  std::vector<RouteHop> hops;  ///< from source to destination, links that never bind included
  core::Seconds latency;       ///< of the longest path taken
  int switches = 0;            ///< scale-out switches on the path; 0: inside an NVLink domain
};

/// Up-down shortest path. Inside an NVLink domain over NVLink; between domains over the NICs:
/// GPU -> its rail's NIC, or with PXN -> NVLink -> the GPU of the node that sits on the
/// destination's rail -> its NIC. `adaptive` sprays over all equal paths, `ecmp` hashes (from, to,
/// label) to one, `static` takes cable (destination port modulo uplinks), as InfiniBand's up-down
/// routing does. Cables that are down are passed over.
/// @param label  distinguishes flows between the same GPUs (queue pair, channel); matters for ecmp
/// only
/// @throws core::Error if no path is left, or a rail-only fabric without PXN must cross rails
Route route(const Fabric& fabric, core::GpuId from, core::GpuId to, std::uint64_t label = 0);

/// The same into `way`, whose room is used again.
void find_route(
    const Fabric& fabric, core::GpuId from, core::GpuId to, std::uint64_t label, Route& way);

/// Between a GPU and a storage server that hangs on the fabric: over the GPU's rail (or the next
/// one that works), through the switches as above, to the server's leaf. Planes are used as above.
/// @param target  server, from 0
/// @param write   GPU to server; else server to GPU
/// @throws core::Error if the server or every path to it is down
Route storage_route(const Fabric& fabric,
                    core::GpuId gpu,
                    std::uint32_t target,
                    bool write,
                    std::uint64_t label = 0);

}  // namespace headway::network
