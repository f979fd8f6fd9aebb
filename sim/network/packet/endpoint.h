// A GPU with its network ports: sends its flows' messages, receives, relays, runs its actors.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "sim/network/pacing/congestion_control.h"
#include "sim/network/packet/packet_actors.h"
#include "sim/network/packet/packet_device.h"
#include "sim/network/packet/packet_window.h"

namespace headway::network {

/// An acknowledgement of one packet, as the two words of a message.
struct News {
  std::uint32_t flow = 0;
  std::uint32_t number = 0;         ///< of the packet
  std::uint32_t first_missing = 0;  ///< all before it are there
  bool marked = false;
  bool trimmed = false;  ///< only its head came
  bool refused = false;  ///< out of order, where nothing out of order is kept
  std::uint32_t stamp = 0;

  [[nodiscard]] std::uint64_t a() const { return std::uint64_t{flow} << 32U | number; }
  [[nodiscard]] std::uint64_t b() const {
    return std::uint64_t{first_missing} | std::uint64_t{marked} << 32U |
           std::uint64_t{trimmed} << 33U | std::uint64_t{refused} << 34U |
           std::uint64_t{stamp} << 35U;
  }
  static News of(std::uint64_t a, std::uint64_t b) {
    return {static_cast<std::uint32_t>(a >> 32U),
            static_cast<std::uint32_t>(a),
            static_cast<std::uint32_t>(b),
            (b >> 32U & 1U) != 0,
            (b >> 33U & 1U) != 0,
            (b >> 34U & 1U) != 0,
            static_cast<std::uint32_t>(b >> 35U)};
  }
};

class Endpoint final : public PacketDevice {
 public:
  /// @param sends, receives  flows, in order of their numbers
  Endpoint(const PacketScene& scene,
           std::uint32_t device,
           const std::vector<std::uint32_t>& sends,
           const std::vector<std::uint32_t>& receives);

  void start(core::Context& context) override;
  void handle(core::Context& context, const core::Event& event) override;

  [[nodiscard]] const PacketActors& actors() const { return actors_; }
  /// Last byte of each flow it receives, by number in `receives`; -1: not all that was to come.
  [[nodiscard]] std::vector<core::Tick> ends() const;
  /// Messages of a flow that begins here, so far.
  [[nodiscard]] std::int64_t messages_of(std::uint32_t number) const {
    return senders_[scene().sender_number[number]].posted / flow(number).packets;
  }

 private:
  /// A flow that begins here.
  struct Sender {
    std::uint32_t flow = 0;
    std::uint32_t cable = kNowhere;  ///< of its only way; kNowhere: there are several
    std::uint32_t next = 0;          ///< packet that was never sent
    std::uint32_t posted = 0;        ///< packets of all messages so far
    std::uint32_t draw = 0;          ///< number of its flowlet
    bool listed = false;             ///< waits for its turn at a port
    bool waking = false, timing = false;
    std::uint32_t timer = 0;      ///< generation of DCQCN's
    std::uint32_t wake = 0;       ///< generation of the event that wakes it
    std::uint32_t allowance = 0;  ///< packets the receiver has granted
    std::uint32_t searched = 0;   ///< below it, what is missing has been sent again
    int timeouts = 0;             ///< in a row
    core::Tick round_trip = 0;    ///< of an idle way
    core::Tick next_time = 0;     ///< not before, by its rate
    core::Tick last_sent = 0, last_news = 0;
    core::Tick last_time = 0;  ///< of the last packet on the slowest cable
    double first_window = 1;   ///< product of bandwidth and delay [packets]
    std::variant<std::monostate, Dcqcn, Swift, Dctcp> control;
    PacketWindow acknowledged;
    std::vector<std::uint32_t> lost;  ///< to be sent again, first found first
    Train train;                      ///< of a lone flow

    [[nodiscard]] bool has_work() const { return next < posted || !lost.empty(); }
    [[nodiscard]] std::uint32_t on_the_way() const {
      const std::uint32_t known = acknowledged.first_missing() + acknowledged.beyond();
      const auto gone = known + static_cast<std::uint32_t>(lost.size());
      return next > gone ? next - gone : 0;
    }
  };
  /// A flow that ends here.
  struct Receiver {
    std::uint32_t flow = 0;
    std::uint32_t messages = 0;  ///< that are all here
    std::uint32_t wanted = 0;    ///< packets requested and not yet granted
    std::uint32_t granted = 0;   ///< packets granted that have not come
    std::uint32_t window = 1;    ///< most of these: product of bandwidth and delay
    bool listed = false;         ///< waits for its turn of grants
    core::Tick last_notice = -1;
    core::Tick end = -1;
    PacketWindow there;
  };
  enum class First : std::uint8_t { nobody, packet, sender };
  /// What waits for a port in one class, beside the queue of packets that are relayed.
  struct Turns {
    std::deque<std::uint32_t> senders;
    First first = First::nobody;  ///< a relayed packet, or a flow that begins here
    bool relayed = false;         ///< the last packet was; flows and relayed packets take turns
  };

  // What actors ask for: endpoint.cpp.
  void post(core::Context& context, std::uint32_t flow, std::uint32_t messages);
  void fulfil(core::Context& context, ActorRequests& requests);
  void message_done(core::Context& context, std::uint32_t flow);
  /// A train of a flow begins here, to arrive `wait` later, or has arrived.
  void train_passes(core::Context& context, std::uint32_t number, core::Tick wait);
  void actor_goes_on(core::Context& context, std::uint32_t actor);

  // Sending: endpoint_send.cpp.
  void list(core::Context& context, Sender& sender);
  void send_train(core::Context& context, Sender& sender);
  void send_from(core::Context& context, std::uint32_t cable);
  void find_first(std::uint32_t cable, std::uint32_t traffic_class);
  void draw_first(std::uint32_t cable, Turns& in_turn);
  [[nodiscard]] bool waits_for(std::uint32_t cable);
  [[nodiscard]] std::uint32_t next_port(const Sender& sender);
  void send_first(core::Context& context, std::uint32_t cable, std::uint32_t traffic_class);
  void send_next(core::Context& context, Sender& sender, std::uint32_t cable);
  [[nodiscard]] bool may_send(const Sender& sender) const;
  [[nodiscard]] std::uint32_t choose_way(const Leg& leg, const PathKey& key);
  [[nodiscard]] Packet next_packet(Sender& sender, core::Tick now) const;
  void note_sent(core::Context& context, Sender& sender, const Packet& packet, std::int64_t bytes);
  [[nodiscard]] static core::Tick next_time(const Sender& sender);
  void pace_anew(core::Context& context, Sender& sender);
  void wake(core::Context& context, Sender& sender, std::uint64_t generation);
  [[nodiscard]] core::Tick timeout_of(const Sender& sender) const;
  void start_timeout(core::Context& context, Sender& sender);
  void timed_out(core::Context& context, Sender& sender);
  void hear(core::Context& context, const News& news);
  void search_losses(Sender& sender, std::uint32_t number, core::Tick now);
  void note_loss(Sender& sender, std::uint32_t number, core::Tick now);
  void cut_rate(core::Context& context, Sender& sender);
  void raise_rate(core::Context& context, Sender& sender, std::uint64_t generation);
  void request(core::Context& context, Sender& sender, std::uint32_t packets);

  // Receiving: endpoint_receive.cpp.
  void arrive(core::Context& context, Packet packet);
  void relay(core::Context& context, Packet packet);
  void receive(core::Context& context, const Packet& packet);
  void complete_messages(core::Context& context, Receiver& receiver);
  void complete_message(core::Context& context, Receiver& receiver);
  void want(core::Context& context, Receiver& receiver, std::uint32_t packets);
  void list_for_grants(core::Context& context, Receiver& receiver);
  void grant_next(core::Context& context);

  [[nodiscard]] const PacketFlow& flow(std::uint32_t number) const {
    return scene().traffic.flows[number];
  }
  Sender& sender_of(std::uint32_t flow) { return senders_[scene().sender_number[flow]]; }
  Receiver& receiver_of(std::uint32_t flow) { return receivers_[scene().receiver_number[flow]]; }
  void tell_self(core::Context& context,
                 core::Tick delay,
                 PacketEvent what,
                 std::uint64_t a,
                 std::uint64_t b = 0) const {
    context.schedule(delay, {static_cast<std::uint32_t>(what), core::kNormalPriority, a, b});
  }

  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  [[nodiscard]] Turns& turns(std::uint32_t cable, std::uint32_t traffic_class) {
    return turns_[place(cable, traffic_class)];
  }

  std::vector<Turns> turns_;         ///< by port and class
  std::deque<std::uint32_t> pulls_;  ///< receivers that want grants
  bool pulling_ = false;
  PacketActors actors_;
};

}  // namespace headway::network
