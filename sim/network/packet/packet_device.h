// What a switch and an endpoint have in common: cables that leave them, and the messages between
// devices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/core/digest.h"
#include "sim/core/engine/engine.h"
#include "sim/network/packet/lone_flows.h"
#include "sim/network/packet/packet.h"
#include "sim/network/packet/packet_port.h"
#include "sim/network/packet/packet_run.h"

namespace headway::network {

/// What is on an engine's message between devices.
enum class PacketEvent : std::uint32_t {
  arrive,    ///< a packet (Packet)
  train,     ///< a message of lone flow a: all of it; at the device before: b ticks earlier
  free,      ///< to itself: a cable is free; a: cable of this device
  stop,      ///< to the sender of lane a (cable, class)
  go,        ///< to the sender of lane a
  credit,    ///< to the sender of lane a: room for b bytes
  news,      ///< to a sender: an acknowledgement (News)
  received,  ///< to a sender: a message of flow a is there
  notice,    ///< to a sender: flow a met a marking queue (DCQCN)
  request,   ///< to a receiver: flow a has b packets more
  grant,     ///< to a sender: flow a may send b packets more
  pull,      ///< to itself: time for the next grant
  wake,      ///< to itself: flow a may send by its rate, if that is still of generation b
  timeout,   ///< to itself: flow a
  raise,     ///< to itself: flow a, DCQCN's timer of generation b
  compute,   ///< to itself: actor a is done computing
};

/// Which class goes first.
struct TrafficClasses {
  std::uint32_t count = 1;
  std::vector<int> priority = {};                ///< by class
  std::vector<std::int64_t> per_byte = {};       ///< what a byte adds to a class's turn: 1 / weight
  static constexpr std::int64_t kUnit = 65'536;  ///< of weight 1
};

/// Times of the spec in ticks.
struct PacketTimes {
  core::Tick flowlet_gap = 0, delay_target = 0, timeout = 0;
};

/// What all devices of a run share, and none changes.
struct PacketScene {
  const PacketNetwork& network;
  const PacketTraffic& traffic;
  const PacketSpec& spec;
  Transport transport = Transport::credits;
  PathChoice choice = PathChoice::flow;
  std::uint64_t seed = 1;
  std::int64_t payload = 4096;
  core::Tick card_gap = 0;                          ///< least time between two packets of one card
  bool store = false;                               ///< store and forward
  bool may_lose = false;                            ///< packets are acknowledged one by one
  bool may_overtake = false;                        ///< packets of a flow take several paths
  std::vector<bool> sender_waits = {};              ///< flow -> an actor at its sender waits for it
  std::vector<std::uint32_t> sender_number = {};    ///< flow -> place among its sender's
  std::vector<std::uint32_t> receiver_number = {};  ///< flow -> place among its receiver's
  LoneWays lone = {};                               ///< flows whose messages go as trains
  TrafficClasses classes = {};
  PacketTimes times = {};

  [[nodiscard]] std::uint32_t class_of(std::uint32_t flow) const {
    return classes.count == 1 ? 0 : traffic.flows[flow].traffic_class;
  }
  /// What a pause or a credit speaks of.
  static std::uint64_t lane(std::uint32_t cable, std::uint32_t traffic_class) {
    return std::uint64_t{traffic_class} << 32U | cable;
  }
  [[nodiscard]] std::int64_t bytes_of(const Packet& packet) const {
    if (packet.trimmed) {
      return kHead;
    }
    return packet.last ? traffic.flows[packet.flow].last_bytes : payload;
  }
  /// From the beginning of a packet on a cable until the device behind it deals with it, without
  /// the latency: all of it, or its head.
  [[nodiscard]] core::Tick time_to_read(const Cable& cable, std::int64_t bytes) const {
    const bool all = store || network.devices[cable.to].endpoint;
    return cable.time_of(all ? bytes : std::min(bytes, kHead));
  }
  /// When a packet that was read `now` may go out: cut through, its tail must be here when it does,
  /// so a slow cable before a fast one holds it up.
  [[nodiscard]] core::Tick ready(core::Tick now,
                                 const Cable& in,
                                 const Cable& out,
                                 std::int64_t bytes) const {
    const core::Tick tail = now + in.time_of(bytes) - time_to_read(in, bytes);
    return std::max(now, tail - out.time_of(bytes));
  }
  /// What paths are drawn with.
  [[nodiscard]] std::uint64_t draw(std::uint32_t device,
                                   std::uint32_t flow,
                                   std::uint64_t what) const {
    return core::mix(core::multiply_mix(what + 0x9e3779b97f4a7c15U * (flow + 1ULL),
                                        seed * 0xbf58476d1ce4e5b9U + device + 1));
  }
  /// A number below `count` from random bits.
  [[nodiscard]] static std::uint32_t below(std::uint32_t count, std::uint64_t bits) {
    return static_cast<std::uint32_t>((bits >> 32U) * count >> 32U);
  }
  /// One of several equal cables at a device, where it is the same for all of a flow's packets.
  [[nodiscard]] std::uint32_t fixed_choice(std::uint32_t count,
                                           std::uint32_t device,
                                           std::uint32_t flow) const {
    const PacketFlow& of = traffic.flows[flow];
    return choice == PathChoice::destination ? by_destination(count, device, of)
                                             : below(count, draw(device, flow, of.label));
  }
  /// A leaf by the destination's port there, switches above it by its leaf and then by that port.
  [[nodiscard]] std::uint32_t by_destination(std::uint32_t count,
                                             std::uint32_t device,
                                             const PacketFlow& flow) const;
  /// Bytes behind a cable under credits that one class may fill.
  [[nodiscard]] std::int64_t buffer_of(const Cable& cable) const;
  /// Least time between two packets that an endpoint sends by a cable: its network card's.
  [[nodiscard]] core::Tick gap_of(const Cable& cable) const {
    return cable.scale_up ? 0 : card_gap;
  }
  /// Whether a flow's packets are acknowledged one by one.
  [[nodiscard]] bool acknowledges(const PacketFlow& flow) const {
    return may_lose && !flow.only_credits;
  }
  /// Whether a flow's receiver hands out what may be sent.
  [[nodiscard]] bool hands_out(const PacketFlow& flow) const {
    return transport == Transport::receiver && !flow.only_credits;
  }
  /// Time of so many bytes at the rate of a flow's way, or of its ways where packets take them all.
  [[nodiscard]] core::Tick time_of(const PacketFlow& flow, std::int64_t bytes) const {
    return (bytes * (may_overtake ? flow.ps_per_kib_of_all : flow.ps_per_kib) + 1023) >> 10;
  }
  /// Time of a full packet over an idle way and of its acknowledgement back.
  [[nodiscard]] core::Tick round_trip(const PacketFlow& flow) const;
  /// Product of bandwidth and delay [packets], and one.
  [[nodiscard]] double first_window(const PacketFlow& flow) const;

  /// What a switch reads before it knows where to; what is left of a trimmed packet: Ethernet, IP,
  /// UDP and InfiniBand headers, rounded up.
  static constexpr std::int64_t kHead = 64;
};

/// A cable that cannot send though a packet waits for it.
struct BlockedCable {
  std::uint32_t cable = 0;
  std::vector<std::uint32_t> came_by;  ///< cables by which those came that wait
};

class PacketDevice : public core::Process {
 public:
  PacketDevice(const PacketScene& scene, std::uint32_t device);

  /// Cables whose packets wait for a stop's end or for credits.
  [[nodiscard]] std::vector<BlockedCable> blocked() const;
  [[nodiscard]] const PacketCounts& counts() const { return counts_; }
  /// Its cables, in order.
  [[nodiscard]] const std::vector<OutPort>& ports() const { return ports_; }

 protected:
  [[nodiscard]] const PacketScene& scene() const { return scene_; }
  [[nodiscard]] const Device& self() const { return self_; }
  [[nodiscard]] std::uint32_t number() const { return device_; }
  [[nodiscard]] const Cable& cable(std::uint32_t index) const { return cables_[index]; }
  [[nodiscard]] OutPort& port(std::uint32_t cable) {
    return ports_[(cable - first_cable_) * classes_];
  }
  [[nodiscard]] OutPort& lane(std::uint32_t cable, std::uint32_t traffic_class) {
    return ports_[place(cable, traffic_class)];
  }
  [[nodiscard]] std::size_t place(std::uint32_t cable, std::uint32_t traffic_class) const {
    return std::size_t{cable - first_cable_} * classes_ + traffic_class;
  }
  [[nodiscard]] std::uint32_t classes() const { return classes_; }
  /// The class whose turn it is at a cable: of those with something that may go the highest, among
  /// equals the one that has had least for its weight (start-time fair queueing). Counts stalls.
  /// @param first  bytes of what waits first in a class; 0: nothing
  /// @returns kNowhere if none may
  template <class First>
  [[nodiscard]] std::uint32_t class_in_turn(std::uint32_t cable, First first);

  /// One of several equal ones.
  template <class Shortest>
  [[nodiscard]] std::uint32_t choose(std::uint32_t count,
                                     const PathKey& key,
                                     Shortest shortest) const {
    return count == 1 ? 0 : choose_among(count, key, shortest);
  }

  /// Puts a packet on a cable that is free from `begin` on, and keeps it busy.
  void put_on(core::Context& context,
              std::uint32_t cable,
              Packet packet,
              std::int64_t bytes,
              core::Tick begin);
  static void tell(core::Context& context,
                   std::uint32_t device,
                   core::Tick delay,
                   PacketEvent what,
                   std::uint64_t a,
                   std::uint64_t b = 0) {
    context.send(core::ChannelId(0), core::ProcessId(device), delay,
                 {static_cast<std::uint32_t>(what), core::kNormalPriority, a, b});
  }
  /// An event `free` when the cable is free, unless one is on its way.
  void tell_when_free(core::Context& context, std::uint32_t cable);
  /// A packet has left the buffer that it came to: counts, and gives credits back in lots.
  void give_back(core::Context& context, const Packet& packet, std::int64_t bytes);
  /// Whether what waits first in a class may go as far as stops and credits are concerned; counts a
  /// stall.
  [[nodiscard]] bool may_go(std::uint32_t cable, std::uint32_t traffic_class, std::int64_t bytes);

  PacketCounts counts_;  // NOLINT: written on every event by both kinds of device
  std::vector<OutPort> ports_;

 private:
  template <class Shortest>
  [[nodiscard]] std::uint32_t choose_among(std::uint32_t count,
                                           const PathKey& key,
                                           Shortest shortest) const;

  const PacketScene& scene_;
  const Device& self_;
  const Cable* cables_;  ///< of the network
  std::uint32_t device_, first_cable_, classes_;
  [[nodiscard]] std::int64_t turn_of(std::uint32_t cable) const {
    return served_[cable - first_cable_];
  }

  std::vector<std::int64_t> owed_;    ///< credits not yet given back, by incoming cable and class
  std::vector<std::int64_t> served_;  ///< by cable: the turn of who went last; of several classes
};

template <class First>
std::uint32_t PacketDevice::class_in_turn(std::uint32_t cable, First first) {
  const TrafficClasses& classes = scene_.classes;
  if (classes_ == 1) {
    const std::int64_t bytes = first(0);
    return bytes > 0 && may_go(cable, 0, bytes) ? 0 : kNowhere;
  }
  std::uint32_t best = kNowhere;
  for (std::uint32_t k = 0; k < classes.count; ++k) {
    const std::int64_t bytes = first(k);
    if (bytes == 0 || !may_go(cable, k, bytes)) {
      // Who could not go is owed nothing for it.
      lane(cable, k).turn = std::max(lane(cable, k).turn, turn_of(cable));
      continue;
    }
    const bool before = best == kNowhere || classes.priority[k] > classes.priority[best] ||
                        (classes.priority[k] == classes.priority[best] &&
                         lane(cable, k).turn < lane(cable, best).turn);
    best = before ? k : best;
  }
  if (best != kNowhere) {
    served_[cable - first_cable_] = lane(cable, best).turn;
  }
  return best;
}

template <class Shortest>
std::uint32_t PacketDevice::choose_among(std::uint32_t count,
                                         const PathKey& key,
                                         Shortest shortest) const {
  const PacketFlow& flow = scene_.traffic.flows[key.flow];
  const auto drawn = [&](std::uint64_t more) {
    return PacketScene::below(count, scene_.draw(device_, key.flow, flow.label + more));
  };
  switch (scene_.choice) {
    case PathChoice::destination:
    case PathChoice::flow:
      return scene_.fixed_choice(count, device_, key.flow);
    case PathChoice::flowlet:
      return drawn(std::uint64_t{key.draw} << 40U);
    case PathChoice::packet:
      return drawn(std::uint64_t{key.number} << 32U);
    case PathChoice::queue: {
      // Ties are broken from a place of the packet's own, so that equal queues fill alike.
      const std::uint32_t from = drawn(std::uint64_t{key.number} << 32U);
      std::uint32_t best = from;
      core::Tick least = shortest(from);
      for (std::uint32_t k = 1; k < count && least > 0; ++k) {
        const std::uint32_t next = from + k < count ? from + k : from + k - count;
        const core::Tick length = shortest(next);
        best = length < least ? next : best;
        least = length < least ? length : least;
      }
      return best;
    }
  }
  return 0;
}

}  // namespace headway::network
