// The same fabric for packets: every cable on its own, every switch a device.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/ids.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/route.h"
#include "sim/network/packet/packet.h"
#include "sim/network/packet_spec.h"

namespace headway::network {

/// What a fabric's file says of packets, and what is taken where it is silent: dcqcn under hashed
/// routing (Ethernet), credits under the others (InfiniBand); paths by flow where routing is
/// hashed (by packet under `receiver`), by destination where it is static, by the shortest queue
/// where it is adaptive.
/// @param transport  in place of the file's
/// @throws core::Error for classes that mean nothing: more than 8, a traffic in two, several under
///         `receiver`
PacketSpec packet_spec(const FabricSpec& fabric, std::optional<Transport> transport = {});

/// The class that a traffic goes in: the first where none names it.
std::uint32_t class_of(const PacketSpec& spec, TrafficKind traffic);

/// Devices and cables of a cluster's networks, from the same coordinates as the fabric's links.
/// Devices 0 to GPUs - 1 are the GPUs. NVLink, PCIe and direct cables between GPUs are guarded by
/// credits whatever the transport. A rail's cards are one port. Of a pool with cables that are down
/// it is not known which: the last ones are left out, so that a failed spine is the last spine.
///
/// The buffers behind NVLink's cables are its own, not the network's: their sizes are not
/// published, so they are as large as it takes not to slow a cable down,
///     8 / 7 (rate x 2 latency + 8 packets) a class, since credits come back in lots of an eighth.
class PacketFabric {
 public:
  /// @param packets  with a transport (`packet_spec`)
  /// @throws core::Error for more devices or cables than packets can name
  PacketFabric(const Fabric& fabric, const PacketSpec& packets);

  [[nodiscard]] const PacketNetwork& network() const { return network_; }

  /// The ways of packets for a route of the fabric: over NVLink to a relay where it goes there
  /// first, then one way a plane.
  /// @throws core::Error if a cable it needs is down
  [[nodiscard]] std::vector<std::vector<Way>> legs(const Route& route) const;

 private:
  void add_devices();
  void add_gpu_cables(std::uint32_t gpu);
  void add_card_cables(std::uint32_t node, std::uint32_t rail);
  void add_leaf_cables(std::uint32_t leaf);
  void add_spine_cables(std::uint32_t pod, std::uint32_t spine);
  void add_core_cables(std::uint32_t tree, std::uint32_t spine, std::uint32_t core);
  void add_group_cables(std::uint32_t leaf);
  /// A link that is one cable.
  void add_link(
      std::uint32_t from, std::uint32_t to, core::LinkId link, core::Seconds more, Guard guard);
  /// One between GPUs of a domain, with room behind it for as much as its latency asks.
  void add_scale_up(std::uint32_t from, std::uint32_t to, core::LinkId link);
  /// One cable of a pool of `of` (1: the link itself); none where the pool has lost it.
  void add_pooled(std::uint32_t from,
                  std::uint32_t to,
                  core::LinkId link,
                  std::uint32_t rank,
                  std::uint32_t of);
  [[nodiscard]] bool own_card() const { return shape_.rails == shape_.gpus_per_node; }
  [[nodiscard]] std::uint32_t card(std::uint32_t node, std::uint32_t rail) const {
    return first_card_ + node * shape_.rails + rail;
  }
  [[nodiscard]] std::uint32_t spine_device(std::uint32_t pod, std::uint32_t spine) const {
    return first_spine_ + pod * shape_.spines_per_pod + spine;
  }
  [[nodiscard]] std::uint32_t core_device(std::uint32_t tree,
                                          std::uint32_t spine,
                                          std::uint32_t core) const {
    return first_core_ + (tree * shape_.spines_per_pod + spine) * shape_.cores_per_spine + core;
  }

  const Fabric& fabric_;
  const FabricShape& shape_;
  Guard guard_ = Guard::none;
  std::int64_t buffer_per_port_ = 0, payload_ = 0, classes_ = 1;
  PacketNetwork network_;
  std::uint32_t first_domain_ = 0, first_card_ = 0, first_leaf_ = 0, first_spine_ = 0,
                first_core_ = 0;
  std::vector<std::vector<std::uint32_t>> ports_of_leaf_;  ///< rail ports, over all planes
  std::vector<std::uint32_t> cable_of_link_;               ///< kNowhere: a pool, or down
};

}  // namespace headway::network
