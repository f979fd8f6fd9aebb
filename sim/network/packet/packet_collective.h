// A collective packet by packet.
#pragma once

#include <span>

#include "sim/network/packet/packet_fabric.h"
#include "sim/network/packet/packet_run.h"
#include "sim/network/stepped/stepped.h"

namespace headway::network {

/// The messages of a stepped collective (stepped/stepped.h) as flows of packets. Every rank begins
/// when it is ready itself.
/// @param stepped  with its ways
/// @param members  as `step_collective` was given
/// @throws core::Error for algorithms that reduce inside switches, by name
PacketTraffic packet_traffic(const PacketFabric& fabric,
                             const SteppedCollective& stepped,
                             std::span<const core::GpuId> members,
                             std::int64_t payload);

/// The whole call, from the first send to the last byte, on the fabric as it is: its packets'
/// transport, its paths.
/// @throws core::Error  as `step_collective`, `packet_traffic` and `run_packets`
PacketResult run_packet_collective(const Fabric& fabric,
                                   const PacketFabric& cables,
                                   const CollectiveCall& call,
                                   std::span<const core::GpuId> members,
                                   const SteppedOptions& stepped,
                                   const PacketOptions& options);

}  // namespace headway::network
