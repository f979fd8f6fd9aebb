// Flows that nothing interferes with: which they are, and how one of their messages goes through as
// a train instead of single packets.
//
// A flow is lone if its way is known beforehand, no other flow uses a cable of it, no queue can
// build up on it (no cable is slower than all before it since the last endpoint), its credits never
// run out, and, where switches pause, no switch on it holds anything of a flow that is not lone.
// Its packets then go as those of an idle way, to the tick, whatever the other flows do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/tick.h"
#include "sim/network/packet/packet.h"

namespace headway::network {

struct PacketScene;

/// The cables of each lone flow's way, all legs, in order.
struct LoneWays {
  std::vector<std::uint32_t> first;   ///< by flow, and an end; empty: there is no lone flow
  std::vector<std::uint32_t> cables;  ///< of all, one after the other

  /// Empty: the flow may meet others.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t flow) const {
    if (first.empty()) {
      return {};
    }
    return {cables.data() + first[flow], first[flow + 1] - first[flow]};
  }
};

/// Finds them. None where senders hear of every packet (windows, receivers' grants, losses).
LoneWays find_lone_flows(const PacketScene& scene);

/// When a message's last packet is where.
struct TrainTimes {
  core::Tick last_device = 0;  ///< its head at the last device before the receiver
  core::Tick received = 0;     ///< its tail at the receiver
};

/// The state of one lone flow's cables.
class Train {
 public:
  Train() = default;
  explicit Train(std::span<const std::uint32_t> way) : way_(way), free_at_(way.size()) {}

  [[nodiscard]] std::span<const std::uint32_t> way() const { return way_; }
  /// Sends a message as soon as the first cable is free. Its packets are followed cable by cable
  /// until one keeps its distance to the one before on every cable; so do the full ones behind it.
  TrainTimes send(const PacketScene& scene, const PacketFlow& flow, core::Tick now);

 private:
  TrainTimes follow(const PacketScene& scene, core::Tick begin, std::int64_t bytes);
  [[nodiscard]] bool keeps(core::Tick distance) const;

  std::span<const std::uint32_t> way_;
  std::vector<core::Tick> free_at_, before_;  ///< by cable of the way
};

}  // namespace headway::network
