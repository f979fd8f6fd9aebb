// What a fabric's switches and network cards do with single packets.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"

namespace headway::network {

/// What keeps senders from drowning the network. README.md has each one's law and source.
enum class Transport {
  credits,   ///< InfiniBand: a cable sends only what the buffer behind it has room for
  pauses,    ///< RoCE with priority flow control alone
  dcqcn,     ///< RoCE with priority flow control, marks and rates
  swift,     ///< windows by delay, losses repeated one by one
  dctcp,     ///< windows by share of marked packets
  receiver,  ///< EQDS, NDP, Ultra Ethernet: the receiver hands out what may be sent; trimming
};
constexpr auto enum_words(Transport) {
  using E = core::EnumWord<Transport>;
  return std::array{E{Transport::credits, "credits"}, E{Transport::pauses, "pauses"},
                    E{Transport::dcqcn, "dcqcn"},     E{Transport::swift, "swift"},
                    E{Transport::dctcp, "dctcp"},     E{Transport::receiver, "receiver"}};
}

/// Which of several equal cables a packet takes.
enum class PathChoice {
  flow,         ///< by a hash of the flow: one path for all of it
  destination,  ///< by the destination's number
  flowlet,      ///< by a hash drawn anew after every pause of the flow
  packet,       ///< by a hash of the packet: spraying
  queue,        ///< the one with the shortest queue
};
constexpr auto enum_words(PathChoice) {
  using E = core::EnumWord<PathChoice>;
  return std::array{E{PathChoice::flow, "flow"}, E{PathChoice::destination, "destination"},
                    E{PathChoice::flowlet, "flowlet"}, E{PathChoice::packet, "packet"},
                    E{PathChoice::queue, "queue"}};
}

/// What is sent again when something is lost, where the network may lose packets.
enum class Repeat {
  selective,  ///< what is missing
  go_back_n,  ///< all from what is missing on: the receiver keeps nothing out of order
};
constexpr auto enum_words(Repeat) {
  using E = core::EnumWord<Repeat>;
  return std::array{E{Repeat::selective, "selective"}, E{Repeat::go_back_n, "go_back_n"}};
}

enum class Switching { cut_through, store_and_forward };
constexpr auto enum_words(Switching) {
  using E = core::EnumWord<Switching>;
  return std::array{E{Switching::cut_through, "cut_through"},
                    E{Switching::store_and_forward, "store_and_forward"}};
}

/// What meets in one network.
enum class TrafficKind {
  training,  ///< collectives and messages of ranks
  storage,   ///< what is saved or loaded
};
constexpr auto enum_words(TrafficKind) {
  using E = core::EnumWord<TrafficKind>;
  return std::array{E{TrafficKind::training, "training"}, E{TrafficKind::storage, "storage"}};
}

/// A traffic class: a queue of its own before every cable, with its own pauses or credits.
struct TrafficClassSpec {
  std::vector<TrafficKind> traffic;
  int priority = 0;
  double weight = 1;

  template <class V>
  void fields(V& v) {
    v.required("traffic", traffic, "What goes in it: training, storage.");
    v.optional("priority", priority,
               "Before every cable the highest class goes first that has a packet which may go.",
               core::Range{0, 7, false, false, "from 0 to 7"});
    v.optional("weight", weight, "Classes of one priority share a cable in this proportion.",
               core::Range{1, 100, false, false, "from 1 to 100"});
  }
  bool operator==(const TrafficClassSpec&) const = default;
};

/// The packet side of a fabric. Left out of a fabric's file, `packet_spec` in packet_fabric.h says
/// what is taken.
struct PacketSpec {
  std::optional<Transport> transport;
  std::optional<PathChoice> path_choice;
  Switching switching = Switching::cut_through;
  core::Bytes payload{4096};
  core::Bytes buffer_per_port{1.77e6};
  double threshold = 1;
  core::Seconds marking_from{1e-6};
  core::Seconds marking_to{40e-6};
  double marking_probability = 0.01;
  core::Seconds delay_target{10e-6};
  core::Seconds flowlet_gap{50e-6};
  core::Seconds timeout{200e-6};
  Repeat repeat = Repeat::selective;
  double packets_per_second = 200e6;
  std::vector<TrafficClassSpec> classes;

  template <class V>
  void fields(V& v) {
    v.optional(
        "transport", transport,
        "What keeps senders from drowning the network: credits (InfiniBand), pauses (RoCE "
        "without rate control), dcqcn, swift, dctcp or receiver (EQDS, Ultra Ethernet). Left "
        "out: credits under static and adaptive routing, dcqcn under hashed routing.");
    v.optional("path_choice", path_choice,
               "Which of several equal cables a packet takes: by hash of the flow, by destination, "
               "by flowlet, by packet, or the shortest queue. Left out: as `routing` says.");
    v.optional("switching", switching,
               "cut_through: a packet leaves as soon as its head is read; store_and_forward: when "
               "all of it is there.");
    v.optional("payload", payload, "Most bytes of a message in one packet.",
               core::Range{64, 65'536, false, false, "from 64 to 65,536"});
    v.optional("buffer_per_port", buffer_per_port,
               "Buffer of a switch / its ports; all ports share it, but for credits, where each "
               "has its own. 113 MB over 64 ports of 400 Gbps (Tomahawk 4).",
               core::Range{65'536, 1e12, false, false, "from 64 KiB to 1 TB"});
    v.optional("threshold", threshold,
               "A queue (under pauses, what came from one port) may hold this many times what is "
               "free of the shared buffer (dynamic thresholds).",
               core::Range{1.0 / 128, 128, false, false, "from 1/128 to 128"});
    v.optional(
        "marking_from", marking_from,
        "Queue, as time to drain it, from which packets are marked: 5 kB at 40 Gbps (DCQCN).",
        core::launch_time);
    v.optional("marking_to", marking_to,
               "Queue from which every packet is marked: 200 kB at 40 Gbps (DCQCN).",
               core::launch_time);
    v.optional("marking_probability", marking_probability, "Share marked just below `marking_to`.",
               core::probability);
    v.optional("delay_target", delay_target,
               "Swift's: time in queues, there and back, that senders aim at.", core::launch_time);
    v.optional("flowlet_gap", flowlet_gap,
               "A flow that paused so long may take another path without overtaking itself.",
               core::launch_time);
    v.optional("timeout", timeout,
               "Without news for so long, what is on its way is sent again; twice as long each "
               "time.",
               core::Range{1e-6, 10, false, false, "from 1 us to 10 s"});
    v.optional("repeat", repeat,
               "selective: what is missing is sent again; go_back_n: all from there on. Of swift "
               "and dctcp; the other transports lose nothing, or know what.");
    v.optional("packets_per_second", packets_per_second,
               "Most packets a second that a network card sends.",
               core::Range{1e3, 1e12, false, false, "from 1,000 to 1e12"});
    v.optional("classes", classes,
               "Traffic classes (IEEE 802.1Q, InfiniBand's virtual lanes), at most 8: where "
               "training and storage meet (`topo --stress`). Each has its own pauses, and its part "
               "of the credits. Left out: one class. Traffic that none names goes in the first. "
               "Not with transport receiver.");
  }
  bool operator==(const PacketSpec&) const = default;
};

}  // namespace headway::network
