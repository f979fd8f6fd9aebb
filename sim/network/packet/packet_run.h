// Runs traffic on a packet network: one process a device on the event engine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/core/tick.h"
#include "sim/network/packet/packet.h"
#include "sim/network/packet_spec.h"

namespace headway::network {

/// How to run. Nothing of `threads` and `partitions` changes any result.
struct PacketOptions {
  PacketSpec spec;  ///< with a transport and a path choice (`packet_spec`)
  std::uint64_t seed = 1;
  int threads = 1;               ///< 0: all cores
  std::uint32_t partitions = 1;  ///< consecutive devices together
  bool trains = true;            ///< messages of lone flows whole (lone_flows.h): the same times
  std::function<void()> look{};  ///< core::EngineOptions::look
};

/// What happened to packets, in the whole network.
struct PacketCounts {
  std::uint64_t packets = 0;  ///< that senders sent, repeats included
  std::uint64_t hops = 0;     ///< cables that packets crossed
  std::uint64_t marks = 0;    ///< packets marked
  std::uint64_t drops = 0;    ///< packets that found no room
  std::uint64_t trims = 0;    ///< packets that lost their payload
  std::uint64_t pauses = 0;   ///< times that a cable was told to stop
  std::uint64_t stalls = 0;   ///< times that a packet waited for credits
  std::uint64_t repeats = 0;  ///< packets sent again
  std::uint64_t timeouts = 0;
  std::uint64_t notices = 0;  ///< congestion notifications (DCQCN)
  std::int64_t deepest = 0;   ///< bytes of the longest queue before one cable of a switch
  std::uint32_t deepest_cable = kNowhere;

  void add(const PacketCounts& other);
  /// So many bytes have waited before a cable of a switch; of equal ones the first cable counts.
  void note_depth(std::uint32_t cable, std::int64_t bytes) {
    if (bytes >= deepest && (bytes > deepest || cable < deepest_cable)) {
      deepest = bytes;
      deepest_cable = cable;
    }
  }

  template <class V>
  void fields(V& v) const {
    v.figure("packets", packets, "", "sent, repeats included", core::non_negative);
    v.figure("packet_hops", hops, "", "cables that packets crossed", core::non_negative);
    v.figure("marks", marks, "", "packets marked by a long queue", core::non_negative);
    v.figure("drops", drops, "", "packets that found no room", core::non_negative);
    v.figure("trims", trims, "", "packets that lost their payload", core::non_negative);
    v.figure("pauses", pauses, "", "times that a cable was told to stop", core::non_negative);
    v.figure("stalls", stalls, "", "times that a packet waited for credits", core::non_negative);
    v.figure("repeats", repeats, "", "packets sent again", core::non_negative);
    v.figure("timeouts", timeouts, "", "senders that heard nothing for `timeout`",
             core::non_negative);
    v.figure("notices", notices, "", "congestion notifications (DCQCN)", core::non_negative);
    v.figure("deepest_queue_bytes", deepest, "B", "longest queue before a cable of a switch",
             core::non_negative);
  }
};

struct PacketResult {
  core::Tick end = 0;                     ///< when the last actor, or the last flow, is done
  std::vector<core::Tick> flow_end;       ///< last byte of each flow's last message
  std::vector<std::int64_t> cable_bytes;  ///< that each cable carried
  PacketCounts counts;
  std::uint64_t events = 0;
  std::uint64_t event_digest = 0;  ///< the same on any threads and partitions
};

/// Runs to the end.
/// @throws core::Error if devices wait for one another in a circle (a deadlock of pauses or
///         credits): names the circle
/// @throws core::InternalError if an actor waits for a message that nobody sends
PacketResult run_packets(const PacketNetwork& network,
                         const PacketTraffic& traffic,
                         const PacketOptions& options);

}  // namespace headway::network
