// A switch: where packets wait for cables, are marked, dropped, trimmed, held back.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/random.h"
#include "sim/network/pacing/congestion_control.h"
#include "sim/network/packet/packet_device.h"

namespace headway::network {

class Forwarder final : public PacketDevice {
 public:
  /// @param incoming  cables that enter it
  Forwarder(const PacketScene& scene,
            std::uint32_t device,
            const std::vector<std::uint32_t>& incoming);

  void start(core::Context&) override {}
  void handle(core::Context& context, const core::Event& event) override;

  /// Buffer that all ports share, without the headroom that pauses need.
  [[nodiscard]] std::int64_t shared() const { return shared_; }

  /// What still comes by a cable after it has been told to stop: what is on it both ways, and a
  /// packet that had begun at either end.
  static std::int64_t headroom(const Cable& cable, std::int64_t payload) {
    return cable.bytes_in(2 * cable.latency) + 2 * payload;
  }

  /// A queue so long trims what comes: 8 packets. Source: Handley et al., "Re-architecting
  /// datacenter networks and stacks for low latency and high performance" (NDP), SIGCOMM 2017.
  static constexpr std::int64_t kTrimPackets = 8;

 private:
  struct InPort {
    std::int64_t held = 0;  ///< bytes that came by it and wait
    bool stopped = false;   ///< its sender was told to stop
    std::uint32_t cable = 0, traffic_class = 0;
  };

  void arrive(core::Context& context, Packet packet);
  [[nodiscard]] std::uint32_t next_cable(core::Tick now, const Packet& packet);
  void mark(core::Tick queue, Packet& packet);
  /// A cable that nothing can stop: when the packet leaves is known when it comes.
  void send_or_lose(core::Context& context,
                    std::uint32_t cable,
                    Packet packet,
                    std::int64_t bytes,
                    core::Tick ready);
  [[nodiscard]] bool has_room(core::Tick now, std::int64_t queue, std::int64_t bytes);
  [[nodiscard]] bool fits(std::int64_t queue, std::int64_t bytes) const;
  /// A cable that may have to wait.
  void hold(core::Context& context,
            std::uint32_t cable,
            const Packet& packet,
            const HeldPacket& held);
  void send_first(core::Context& context, std::uint32_t cable);
  /// Whether a packet of any class waits for the cable.
  [[nodiscard]] bool waits_for(std::uint32_t cable);
  /// Tells the senders of cables to stop or to go, as what they hold of the buffer asks.
  void check_pause(core::Context& context, InPort& in);
  void check_go(core::Context& context);

  [[nodiscard]] InPort& in_port(const Packet& packet) {
    return in_[scene().network.incoming_of_cable[packet.cable] * scene().classes.count +
               scene().class_of(packet.flow)];
  }

  std::vector<InPort> in_;                 ///< by incoming cable and class
  std::vector<core::Tick> heads_free_at_;  ///< of cables: trimmed packets go before others
  std::int64_t shared_ = 0;
  std::int64_t used_ = 0;  ///< bytes that wait; of cables that nothing stops, at most so many
  std::uint32_t stopped_ = 0;
  MarkingLine marking_;
  core::RandomStream marks_;
  std::uint64_t drawn_ = 0;
};

}  // namespace headway::network
