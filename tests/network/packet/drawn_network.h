// Packet networks drawn cable by cable: the set-ups of published figures.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "sim/network/packet/packet_run.h"

namespace headway::network {

/// Hosts and switches joined by cables of one rate and latency, both ways.
class DrawnNetwork {
 public:
  std::uint32_t host() {
    return network.add_device(fmt::format("host {}", network.devices.size()), true);
  }
  std::uint32_t switch_box() {
    return network.add_device(fmt::format("switch {}", network.devices.size()), false);
  }
  void join(std::uint32_t a, std::uint32_t b) { joined_.emplace_back(a, b); }
  /// A host with its cable to a switch.
  std::uint32_t host_at(std::uint32_t to) {
    const std::uint32_t added = host();
    join(added, to);
    return added;
  }

  /// Lays the cables. @param shared  buffer of a switch that its ports share, headroom of pauses
  ///                                 not counted
  void lay(Guard guard,
           core::BytesPerSecond rate,
           core::Seconds latency,
           std::int64_t shared,
           std::int64_t payload) {
    for (std::uint32_t d = 0; d < network.devices.size(); ++d) {
      for (const auto& [a, b] : joined_) {
        if (a == d || b == d) {
          network.add_cable(d, a == d ? b : a, rate, latency, guard);
        }
      }
    }
    const Cable& any = network.cables.front();
    // IEEE 802.1Qbb, as sim/network/packet/README.md has it.
    const std::int64_t headroom = any.bytes_in(2 * any.latency) + 2 * payload;
    for (Device& device : network.devices) {
      device.buffer = shared + (guard == Guard::pause ? headroom * device.cables : 0);
    }
    network.cable_buffer = shared;
    network.find_routes();
    payload_ = payload;
  }

  /// The cable from one device to another.
  [[nodiscard]] std::uint32_t cable(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t c = network.devices[from].first_cable;
    while (network.cables[c].to != to) {
      ++c;
    }
    return c;
  }

  /// One message at tick 0 between hosts of one cable each. @returns the flow
  std::uint32_t send(std::uint32_t from,
                     std::uint32_t to,
                     std::int64_t bytes,
                     std::uint32_t messages = 1) {
    const std::uint32_t behind = network.cables[network.devices[to].first_cable].to;
    return traffic.add_flow(network, {{{network.devices[from].first_cable, cable(behind, to)}}},
                            bytes, payload_, messages);
  }
  [[nodiscard]] PacketResult run(PacketOptions options) const {
    options.spec.payload = core::Bytes(static_cast<double>(payload_));
    return run_packets(network, traffic, options);
  }

  PacketNetwork network;
  PacketTraffic traffic;

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joined_;
  std::int64_t payload_ = 0;
};

}  // namespace headway::network
