// The packet network's vocabulary: devices joined by cables, flows of packets between endpoints.
//
// Every device is a process of the event engine, every packet an event a hop. Plain tables, indices
// instead of pointers, as flow/problem.h; times are ticks of 1 ps.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/tick.h"
#include "sim/core/units.h"
#include "sim/network/flow/problem.h"
#include "sim/network/packet_spec.h"

namespace headway::network {

inline constexpr std::uint32_t kNowhere = 0xffffffffU;

/// What keeps the device behind a cable from being sent more than it can hold.
enum class Guard : std::uint8_t {
  none,    ///< nothing: it drops, or trims
  pause,   ///< it says stop and go (IEEE 802.1Qbb)
  credit,  ///< the sender counts down what the buffer has room for
};

/// One direction of one cable: a sending port of `from`.
struct Cable {
  std::uint32_t from = 0, to = 0;  ///< devices
  core::Tick ps_per_kib = 1;       ///< time of 1,024 bytes
  core::Tick latency = 1;          ///< at least one tick: the engine's lookahead
  Guard guard = Guard::none;
  bool scale_up = false;    ///< between GPUs of a domain: no network card sends by it
  std::int64_t buffer = 0;  ///< bytes behind it, under credits; 0: the network's `cable_buffer`
  core::LinkId link;        ///< of the fabric; the cables of a pool share it

  /// Time of so many bytes, rounded up to a whole tick.
  [[nodiscard]] core::Tick time_of(std::int64_t bytes) const {
    return (bytes * ps_per_kib + 1023) >> 10;
  }
  /// Bytes that go in so much time.
  [[nodiscard]] std::int64_t bytes_in(core::Tick time) const { return (time << 10) / ps_per_kib; }
};

/// A GPU with its ports, or a switch. An endpoint passes packets on only where a flow's way says so
/// (a relay over NVLink), a switch by its routes.
struct Device {
  bool endpoint = false;
  std::uint32_t first_cable = 0, cables = 0;  ///< that leave it
  std::uint32_t ports = 0;                    ///< of them, those to endpoints
  std::uint32_t incoming = 0;                 ///< cables that enter it
  std::int64_t buffer = 0;                    ///< bytes that all ports of a switch share
  std::string name;
};

/// Devices and cables, and for each switch the equal cables towards each edge: a device from which
/// a cable enters an endpoint.
struct PacketNetwork {
  std::vector<Device> devices;
  std::vector<Cable> cables;
  std::int64_t cable_buffer = 0;  ///< bytes behind a cable that is guarded by credits, each

  // What `find_routes` fills.
  std::vector<std::uint32_t> incoming_of_cable;  ///< number among those that enter its device
  std::vector<std::uint32_t> edge_of_device;     ///< kNowhere: no endpoint hangs on it
  std::uint32_t edges = 0;
  /// Sets of equal cables: range in `set_cables`.
  struct Set {
    std::uint32_t first = 0, count = 0;
  };
  std::vector<std::uint32_t> route_set;  ///< [device x edges + edge] -> set; kNowhere: no way
  std::vector<Set> sets;
  std::vector<std::uint32_t> set_cables;

  std::uint32_t add_device(std::string name, bool endpoint);
  /// Adds one direction. All cables that leave a device are added one after the other.
  /// @returns its number
  std::uint32_t add_cable(std::uint32_t from,
                          std::uint32_t to,
                          core::BytesPerSecond rate,
                          core::Seconds latency,
                          Guard guard,
                          core::LinkId link = {});
  /// Finds the edges, and for each switch all cables on a shortest way to each edge. Call when all
  /// cables are there.
  void find_routes();
  /// From one endpoint to another, out by this cable and in by that: cables, the first of each set.
  /// @throws core::Error if there is no way
  [[nodiscard]] std::vector<std::uint32_t> path(std::uint32_t first_cable,
                                                std::uint32_t last_cable) const;
};

/// Out by one cable, in by another; the same one where the two endpoints are joined directly.
struct Way {
  std::uint32_t first_cable = 0, last_cable = 0;
};

/// From an endpoint to the next without one between: the source, a relay, the destination.
struct Leg {
  std::uint32_t first_way = 0, ways = 0;  ///< one a plane; range in PacketTraffic::ways
};

/// Messages of one size from one endpoint to another, one after the other: a connection.
struct PacketFlow {
  std::uint32_t from = 0, to = 0;  ///< endpoints (devices)
  std::uint32_t first_leg = 0, legs = 0;
  std::uint32_t packets = 1;         ///< of one message
  std::uint32_t last_bytes = 1;      ///< of a message's last packet
  std::uint32_t at_once = 0;         ///< messages that set out at tick 0, without any actor
  std::uint32_t cables = 1;          ///< of the way
  core::Tick latency = 1;            ///< of an idle way, without any packet's time
  core::Tick ps_per_kib = 1;         ///< of the slowest cable of the way
  core::Tick ps_per_kib_of_all = 1;  ///< of the slowest leg, all its ways together
  bool only_credits = false;         ///< guard its cables: it needs no control from end to end
  std::uint64_t label = 0;           ///< hashed where paths are drawn
  std::uint32_t traffic_class = 0;
};

/// Runs a program of flow/problem.h at an endpoint: arriving at a slot sends one message of each of
/// its flows that begin here, waiting waits for the next message of each that ends here (of those
/// that begin here, where none ends: for the receiver's word that it has it).
struct PacketActor {
  std::uint32_t endpoint = 0;
  std::uint32_t program = 0;
  std::vector<std::vector<std::uint32_t>> slots;  ///< slot -> flows that begin or end here
};

/// Who sends what, and when.
struct PacketTraffic {
  std::vector<PacketFlow> flows;
  std::vector<Leg> legs;
  std::vector<Way> ways;
  std::vector<Program> programs;
  std::vector<PacketActor> actors;

  /// Adds a flow over the legs given. @param payload  bytes of a full packet
  /// @returns its number
  std::uint32_t add_flow(const PacketNetwork& network,
                         const std::vector<std::vector<Way>>& legs,
                         std::int64_t message_bytes,
                         std::int64_t payload,
                         std::uint32_t at_once);
};

/// What paths are drawn with.
struct PathKey {
  std::uint32_t flow = 0, number = 0, draw = 0;
};

/// A packet on its way: the two words of an engine's message.
struct Packet {
  std::uint32_t flow = 0;
  std::uint32_t number = 0;      ///< in the flow
  std::uint64_t cable : 24 = 0;  ///< it came by
  std::uint64_t leg : 2 = 0;     ///< of the flow
  std::uint64_t way : 7 = 0;     ///< of the leg
  std::uint64_t draw : 8 = 0;    ///< what paths are drawn with, beside the flow
  bool marked : 1 = false;       ///< met a long queue
  bool trimmed : 1 = false;      ///< lost its payload
  bool last : 1 = false;         ///< of its message
  std::uint64_t stamp : 20 = 0;  ///< when it set out, in units of 2^16 ticks

  static constexpr std::uint32_t kMostCables = 1U << 24U;
  static constexpr std::uint32_t kMostLegs = 4;
  static constexpr std::uint32_t kMostWays = 128;
  static constexpr std::uint32_t kStamps = 1U << 20U;

  [[nodiscard]] PathKey path_key() const {
    return {flow, number, static_cast<std::uint32_t>(draw)};
  }
  [[nodiscard]] std::uint64_t a() const { return std::uint64_t{flow} << 32U | number; }
  [[nodiscard]] std::uint64_t b() const { return std::bit_cast<Words>(*this)[1]; }
  static Packet of(std::uint64_t a, std::uint64_t b) {
    return std::bit_cast<Packet>(Words{a >> 32U | a << 32U, b});
  }

 private:
  using Words = std::array<std::uint64_t, 2>;
};
static_assert(sizeof(Packet) == 16);

}  // namespace headway::network
