// Small packet networks that the packet tests share.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <vector>

#include "sim/network/packet/packet_run.h"

namespace headway::network {

using namespace core::literals;

constexpr core::Tick kPacketTime = 81'920;  // 4096 B at 50 GB/s [ps]
constexpr core::Tick kHeadTime = 1'280;     // 64 B
constexpr core::Tick kMicrosecond = 1'000'000;

inline Guard guard_under(Transport transport) {
  return transport == Transport::credits                                   ? Guard::credit
         : transport == Transport::pauses || transport == Transport::dcqcn ? Guard::pause
                                                                           : Guard::none;
}

inline PacketOptions packet_options(Transport transport, PathChoice choice = PathChoice::flow) {
  PacketOptions options;
  options.spec.transport = transport;
  options.spec.path_choice = choice;
  options.spec.marking_probability = 0.01;
  options.spec.packets_per_second = 1e12;
  return options;
}

/// Hosts on leaves, leaves on spines, one cable each; 50 GB/s, 1 us.
class LeafSpine {
 public:
  LeafSpine(std::uint32_t hosts_per_leaf,
            std::uint32_t leaves,
            std::uint32_t spines,
            Guard guard,
            std::int64_t buffer_per_port = 1'770'000,
            core::BytesPerSecond rate = 50_GBps,
            core::BytesPerSecond trunk = 50_GBps)
      : down_(std::size_t{hosts_per_leaf} * leaves), up_(down_.size()) {
    const std::uint32_t hosts = hosts_per_leaf * leaves;
    for (std::uint32_t h = 0; h < hosts; ++h) {
      network.add_device(fmt::format("host {}", h), true);
    }
    for (std::uint32_t l = 0; l < leaves; ++l) {
      network.add_device(fmt::format("leaf {}", l), false);
    }
    for (std::uint32_t s = 0; s < spines; ++s) {
      network.add_device(fmt::format("spine {}", s), false);
    }
    for (std::uint32_t h = 0; h < hosts; ++h) {
      up_[h] = network.add_cable(h, hosts + h / hosts_per_leaf, rate, 1_us, guard);
    }
    for (std::uint32_t l = 0; l < leaves; ++l) {
      for (std::uint32_t h = l * hosts_per_leaf; h < (l + 1) * hosts_per_leaf; ++h) {
        down_[h] = network.add_cable(hosts + l, h, rate, 1_us, guard);
      }
      for (std::uint32_t s = 0; s < spines; ++s) {
        network.add_cable(hosts + l, hosts + leaves + s, trunk, 1_us, guard);
      }
    }
    for (std::uint32_t s = 0; s < spines; ++s) {
      for (std::uint32_t l = 0; l < leaves; ++l) {
        network.add_cable(hosts + leaves + s, hosts + l, trunk, 1_us, guard);
      }
    }
    for (Device& device : network.devices) {
      device.buffer = buffer_per_port * device.cables;
    }
    network.cable_buffer = buffer_per_port;
    network.find_routes();
  }

  /// One message of so many bytes at tick 0.
  std::uint32_t send(std::uint32_t from,
                     std::uint32_t to,
                     std::int64_t bytes,
                     std::uint32_t messages = 1) {
    return traffic.add_flow(network, {{{up_[from], down_[to]}}}, bytes, 4096, messages);
  }
  PacketResult run(const PacketOptions& options) const {
    return run_packets(network, traffic, options);
  }

  PacketNetwork network;
  PacketTraffic traffic;

 private:
  std::vector<std::uint32_t> down_, up_;
};

}  // namespace headway::network
