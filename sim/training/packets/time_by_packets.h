// The traffic of a step by packets: `headway run --network packet`.
//
// A step's gradients alone are billions of packets, so they are sampled: every distinct collective
// (kind, size, shape of its groups) is run once, by all groups that make it at the same time, as
// packets and as fluid flows of the same messages. In the step each call's bytes then take
// packets / fluid times as long; what computes, launches and meets beside stays with the flow
// engine. Of a call with more packets than its share of `most_hops` a part is run (of a ring some
// of its rounds), and half of it, and the time of the rest is that of the difference.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/training/packets/packet_step.h"
#include "sim/training/step/lower.h"

namespace headway::training {

/// GPUs of a step that is timed by packets, at most. Source: chosen; a step of as many takes about
/// a minute and 1 GB (Llama 3.1 405B, docs/models/packet.md).
inline constexpr std::int64_t kMostPacketGpus = 16384;

/// @throws core::Error, with the place of the field, for what has no packets here: more than
///         `kMostPacketGpus` GPUs, several sites, a partly occupied fabric
void check_packets(const CheckedScenario& checked);

/// Runs the collectives of a step between NVLink domains by packets, and makes its flows as much
/// longer or shorter as they are.
/// @param lowered  without orbits; its flows are changed
/// @param look     called now and then; what it throws ends the simulation; may be empty
/// @throws core::Error if switches reduce one of them, or packets stand still
PacketStep time_by_packets(const CheckedScenario& checked,
                           const network::Fabric& fabric,
                           const PacketsOfStep& asked,
                           LoweredStep& lowered,
                           const std::function<void()>& look = {});

/// What a step that was timed by packets rests on.
Assumption packets_assumption(const PacketStep& step);

}  // namespace headway::training
