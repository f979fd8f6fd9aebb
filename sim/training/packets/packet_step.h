// What is asked of the packets of a step, and what they say: how much longer each of its
// collectives takes than fluid flows have it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/network/packet/packet_run.h"
#include "sim/network/packet_spec.h"

namespace headway::training {

/// What is asked of the packets of a step.
struct PacketsOfStep {
  std::optional<network::Transport> transport{};  ///< in place of the fabric's own
  int threads = 1;                                ///< no result depends on it
  /// Packet-hops of all collectives together, about: ten seconds of one core. Source: chosen.
  double most_hops = 1e8;
};

/// One distinct collective of a step between NVLink domains, run by all groups that make it at
/// once.
struct PacketCollective {
  std::string name;
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  int ranks = 0;   ///< of one group
  int groups = 0;  ///< at once
  core::Bytes bytes, simulated;
  core::Seconds packets, fluid;  ///< of all groups

  /// What the time of its bytes in the step is multiplied by.
  [[nodiscard]] double times() const { return packets / fluid; }

  template <class V>
  void fields(V& v) const {
    v.part("name", name, "as the step calls it; a name may stand for several of one size");
    v.part("kind", kind, "of collective");
    v.figure("ranks", ranks, "", "of one group", core::at_least_one);
    v.figure("groups", groups, "", "that make the call at once", core::at_least_one);
    v.figure("bytes", bytes, "B", "of one call, as nccl-tests counts", core::non_negative);
    v.figure("simulated_bytes", simulated, "B",
             "of them by packets; less than `bytes`: this much and half of it were simulated, and "
             "the straight line through both goes on",
             core::non_negative);
    v.figure("packet_time_s", packets, "s", "until the last byte of the last group, by packets",
             core::non_negative);
    v.figure("fluid_time_s", fluid, "s", "the same messages as fluid flows", core::non_negative);
    v.figure("times", times(), "1",
             "packets / fluid: the time of the call's bytes in the step is so many times that of "
             "the fluid step; its latency and launch stay",
             core::non_negative);
  }
};

/// The packet side of a step that was timed by packets.
struct PacketStep {
  std::string transport, path_choice;
  core::Seconds fluid_step;
  std::vector<PacketCollective> collectives;
  network::PacketCounts counts;
  std::uint64_t event_digest = 0;
  std::vector<double> fluid_link_bytes;  ///< per link of the step's problem

  template <class V>
  void fields(V& v) const {
    v.part("transport", transport, "of the packets");
    v.part("path_choice", path_choice, "which of several equal cables a packet takes");
    v.figure("fluid_step_s", fluid_step, "s", "the same step by fluid flows alone", core::positive);
    v.part("collectives", collectives,
           "each distinct collective between NVLink domains, in order of first use");
    counts.fields(v);
    v.part("event_digest", core::Hexadecimal{event_digest},
           "of all packets: the same on any threads");
  }
};

}  // namespace headway::training
