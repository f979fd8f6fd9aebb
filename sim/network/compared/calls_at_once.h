// The same call by several groups of GPUs at once: by packets, and by fluid flows of the same
// messages.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/ids.h"
#include "sim/network/collective/collective_flows.h"
#include "sim/network/packet/packet_collective.h"
#include "sim/network/packet/packet_fabric.h"
#include "sim/network/packet/packet_run.h"

namespace headway::network {

/// One call that several groups make, all from tick 0.
struct CallsAtOnce {
  CollectiveCall call;                           ///< by an algorithm that no switch takes part in
  std::vector<std::vector<core::GpuId>> groups;  ///< members of each, in ring order; at least two
  std::int64_t most_rounds = 0;                  ///< of rings; 0: all
};

/// Until the last byte of the last group, and what happened to packets.
struct PacketsAndFluid {
  core::Seconds packets, fluid;
  PacketResult run;
};

/// The fluid programs, groups and flows of one call behind those that are there, on the same links.
void append_problem(const SteppedCollective& stepped, LinkNumbers& numbers, Problem& whole);

/// Packet-hops of the calls, within a factor of two or so: every rank sends the array (an
/// all-reduce: twice), a packet crosses four cables.
double expected_hops(const CallsAtOnce& calls, core::Bytes payload);

/// Runs the messages of all groups by packets, and once more as fluid flows that share links.
/// @throws core::Error  as `step_collective` and `run_packets`
PacketsAndFluid run_both(const Fabric& fabric,
                         const PacketFabric& cables,
                         const CallsAtOnce& calls,
                         const PacketOptions& options);

}  // namespace headway::network
