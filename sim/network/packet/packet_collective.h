// A collective packet by packet.
#pragma once

#include <span>

#include "sim/network/packet/packet_fabric.h"
#include "sim/network/packet/packet_run.h"
#include "sim/network/stepped/stepped.h"

namespace headway::network {

/// Whether switches add up what passes, so that no packet goes from end to end.
bool reduces_in_switches(Algorithm algorithm);

/// The messages of a stepped collective (stepped/stepped.h) as flows of packets. Every rank begins
/// when it is ready itself.
/// @param stepped  with its ways
/// @param members  as `step_collective` was given
PacketTraffic packet_traffic(const PacketFabric& fabric,
                             const SteppedCollective& stepped,
                             std::span<const core::GpuId> members,
                             std::int64_t payload);

/// The same, behind what is in the traffic already: both begin at tick 0.
void append_traffic(const PacketFabric& fabric,
                    const SteppedCollective& stepped,
                    std::span<const core::GpuId> members,
                    std::int64_t payload,
                    PacketTraffic& traffic);

/// The whole call, from the first send to the last byte, on the fabric as it is: its packets'
/// transport, its paths.
/// @throws core::Error  for algorithms that reduce inside switches, by name; as `step_collective`
///         and `run_packets`
PacketResult run_packet_collective(const Fabric& fabric,
                                   const PacketFabric& cables,
                                   const CollectiveCall& call,
                                   std::span<const core::GpuId> members,
                                   const SteppedOptions& stepped,
                                   const PacketOptions& options);

}  // namespace headway::network
