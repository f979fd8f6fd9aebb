// Sending: whose turn it is at a port, what keeps a flow back, and what is sent again.
#include <algorithm>
#include <cmath>

#include "sim/network/packet/endpoint.h"

namespace headway::network {

namespace {

/// Packets that may overtake one before it is taken for lost: three on one path (RFC 5681), as many
/// as a window holds where packets take several.
std::uint32_t reordering(bool may_overtake, double window) {
  return may_overtake ? std::max(16U, static_cast<std::uint32_t>(window)) : 3U;
}

}  // namespace

bool Endpoint::may_send(const Sender& sender) const {
  if (!sender.has_work()) {
    return false;
  }
  if (const auto* swift = std::get_if<Swift>(&sender.control)) {
    return sender.on_the_way() + 1.0 <= std::max(1.0, swift->window);
  }
  if (const auto* dctcp = std::get_if<Dctcp>(&sender.control)) {
    return sender.on_the_way() + 1.0 <= dctcp->window;
  }
  return !scene().hands_out(flow(sender.flow)) || sender.allowance > 0;
}

std::uint32_t Endpoint::choose_way(const Leg& leg, const PathKey& key) {
  return choose(leg.ways, key, [&](std::uint32_t i) {
    const Way& way = scene().traffic.ways[leg.first_way + i];
    const OutPort& out = port(way.first_cable);
    const auto& before = turns(way.first_cable, scene().class_of(key.flow)).senders;
    return out.free_at + static_cast<core::Tick>(before.size());
  });
}

void Endpoint::list(core::Context& context, Sender& sender) {
  if (sender.listed || sender.waking || !may_send(sender)) {
    return;
  }
  if (sender.next_time > context.now()) {
    sender.waking = true;
    tell_self(context, sender.next_time - context.now(), PacketEvent::wake, sender.flow,
              sender.wake);
    return;
  }
  const std::uint32_t cable = next_port(sender);
  sender.listed = true;
  turns(cable, scene().class_of(sender.flow))
      .senders.push_back(static_cast<std::uint32_t>(&sender - senders_.data()));
  send_from(context, cable);
}

/// Where its next packet goes out.
std::uint32_t Endpoint::next_port(const Sender& sender) {
  if (sender.cable != kNowhere) {
    return sender.cable;
  }
  const Leg& leg = scene().traffic.legs[flow(sender.flow).first_leg];
  const PathKey next{sender.flow, sender.lost.empty() ? sender.next : sender.lost.front(),
                     sender.draw};
  return scene().traffic.ways[leg.first_way + choose_way(leg, next)].first_cable;
}

/// Tells the device before the receiver when the message's last packet is there, and that tells the
/// receiver: in the order in which the packet's own events would stand.
void Endpoint::send_train(core::Context& context, Sender& sender) {
  const TrainTimes times = sender.train.send(scene(), flow(sender.flow), context.now());
  const std::uint32_t last = cable(sender.train.way().back()).from;
  if (last == number()) {
    tell(context, flow(sender.flow).to, times.received - context.now(), PacketEvent::train,
         sender.flow);
    return;
  }
  tell(context, last, times.last_device - context.now(), PacketEvent::train, sender.flow,
       static_cast<std::uint64_t>(times.received - times.last_device));
}

void Endpoint::send_from(core::Context& context, std::uint32_t cable) {
  const OutPort& out = port(cable);
  while (!out.told && waits_for(cable)) {
    if (out.free_at > context.now()) {
      tell_when_free(context, cable);
      return;
    }
    for (std::uint32_t k = 0; k < classes(); ++k) {
      find_first(cable, k);
    }
    const std::uint32_t of = class_in_turn(cable, [&](std::uint32_t k) {
      const Turns& in_turn = turns(cable, k);
      return in_turn.first == First::packet   ? lane(cable, k).queue.front().bytes
             : in_turn.first == First::sender ? scene().payload
                                              : 0;
    });
    if (of == kNowhere) {
      return;
    }
    send_first(context, cable, of);
  }
}

/// Whether a packet or a flow of any class waits for the cable.
inline bool Endpoint::waits_for(std::uint32_t cable) {
  for (std::uint32_t k = 0; k < classes(); ++k) {
    if (!lane(cable, k).queue.empty() || !turns(cable, k).senders.empty()) {
      return true;
    }
  }
  return false;
}

/// Whose turn it is in a class. Senders that may not send any more leave the row.
void Endpoint::find_first(std::uint32_t cable, std::uint32_t traffic_class) {
  Turns& in_turn = turns(cable, traffic_class);
  const bool relays = !lane(cable, traffic_class).queue.empty();
  while (!relays || (in_turn.relayed && !in_turn.senders.empty())) {
    if (in_turn.senders.empty()) {
      in_turn.first = First::nobody;
      return;
    }
    in_turn.relayed = false;
    if (scene().transport == Transport::receiver && !this->cable(cable).scale_up) {
      draw_first(cable, in_turn);
    }
    Sender& sender = senders_[in_turn.senders.front()];
    if (may_send(sender)) {
      in_turn.first = First::sender;
      return;
    }
    in_turn.senders.pop_front();
    sender.listed = false;
  }
  in_turn.first = First::packet;
}

/// Turns by chance, where packets that meet a queue are trimmed: hosts are not in step to the
/// packet, and where they were, the same flows' packets would be trimmed round after round. Source:
/// Floyd and Jacobson, "Traffic Phase Effects in Packet-Switched Gateways", 1991; it is what NDP's
/// coin (the new packet, or the last in the queue) is for.
void Endpoint::draw_first(std::uint32_t cable, Turns& in_turn) {
  const auto all = static_cast<std::uint32_t>(in_turn.senders.size());
  const std::uint64_t bits = scene().draw(number(), cable, counts_.packets);
  std::swap(in_turn.senders.front(), in_turn.senders[PacketScene::below(all, bits)]);
}

void Endpoint::send_first(core::Context& context,
                          std::uint32_t cable,
                          std::uint32_t traffic_class) {
  Turns& in_turn = turns(cable, traffic_class);
  if (in_turn.first == First::packet) {
    OutPort& from = lane(cable, traffic_class);
    const HeldPacket held = from.queue.front();
    from.queue.pop();
    from.queued -= held.bytes;
    put_on(context, cable, Packet::of(held.a, held.b), held.bytes, context.now());
    in_turn.relayed = true;
    return;
  }
  Sender& sender = senders_[in_turn.senders.front()];
  in_turn.senders.pop_front();
  sender.listed = false;
  send_next(context, sender, cable);
  list(context, sender);
}

Packet Endpoint::next_packet(Sender& sender, core::Tick now) const {
  Packet packet;
  packet.flow = sender.flow;
  if (sender.lost.empty()) {
    packet.number = sender.next++;
  } else {
    packet.number = sender.lost.front();
    sender.lost.erase(sender.lost.begin());
  }
  if (now - sender.last_sent > scene().times.flowlet_gap) {
    ++sender.draw;
  }
  packet.draw = sender.draw & 0xffU;
  packet.last = (packet.number + 1) % flow(sender.flow).packets == 0;
  packet.stamp = static_cast<std::uint32_t>(now >> 16) % Packet::kStamps;
  return packet;
}

void Endpoint::send_next(core::Context& context, Sender& sender, std::uint32_t cable) {
  const bool again = !sender.lost.empty();
  Packet packet = next_packet(sender, context.now());
  if (sender.cable == kNowhere) {
    // Its turn came at this port: the way that begins here.
    const Leg& leg = scene().traffic.legs[flow(sender.flow).first_leg];
    std::uint32_t way = 0;
    while (scene().traffic.ways[leg.first_way + way].first_cable != cable) {
      ++way;
    }
    packet.way = way % Packet::kMostWays;
  }
  const std::int64_t bytes = scene().bytes_of(packet);
  ++counts_.packets;
  counts_.repeats += again ? 1 : 0;
  put_on(context, cable, packet, bytes, context.now());
  note_sent(context, sender, packet, bytes);
}

void Endpoint::note_sent(core::Context& context,
                         Sender& sender,
                         const Packet& packet,
                         std::int64_t bytes) {
  sender.last_sent = context.now();
  const PacketFlow& of = flow(packet.flow);
  sender.last_time = scene().time_of(of, bytes);
  if (auto* dcqcn = std::get_if<Dcqcn>(&sender.control); dcqcn != nullptr && dcqcn->slowed()) {
    dcqcn->on_sent(bytes);
  }
  sender.next_time = next_time(sender);
  if (scene().hands_out(of)) {
    --sender.allowance;
  }
  if (scene().acknowledges(of)) {
    start_timeout(context, sender);
  }
}

/// When its next packet may go, by the rate or the window that it has now.
core::Tick Endpoint::next_time(const Sender& sender) {
  if (const auto* dcqcn = std::get_if<Dcqcn>(&sender.control);
      dcqcn != nullptr && dcqcn->slowed()) {
    return sender.last_sent +
           static_cast<core::Tick>(static_cast<double>(sender.last_time) / dcqcn->rate);
  }
  if (const auto* swift = std::get_if<Swift>(&sender.control);
      swift != nullptr && swift->window < 1) {
    return sender.last_sent +
           static_cast<core::Tick>(static_cast<double>(sender.round_trip) / swift->window);
  }
  return sender.last_sent;
}

/// Its rate has changed: the gap behind the last packet is that of the new one, as in the authors'
/// simulator (RdmaHw::ChangeRate of ns-3).
void Endpoint::pace_anew(core::Context& context, Sender& sender) {
  sender.next_time = next_time(sender);
  if (sender.waking) {
    sender.waking = false;
    ++sender.wake;
    list(context, sender);
  }
}

void Endpoint::wake(core::Context& context, Sender& sender, std::uint64_t generation) {
  if (generation == sender.wake) {
    sender.waking = false;
    list(context, sender);
  }
}

/// Never below two round trips: RFC 6298 asks for a smoothed one and four times its deviation,
/// which here begins at half of it; twice as long each time.
core::Tick Endpoint::timeout_of(const Sender& sender) const {
  return std::max(scene().times.timeout, 2 * sender.round_trip) << sender.timeouts;
}

void Endpoint::start_timeout(core::Context& context, Sender& sender) {
  if (!sender.timing) {
    sender.timing = true;
    const core::Tick due = std::max(sender.last_news, sender.last_sent) + timeout_of(sender);
    tell_self(context, std::max<core::Tick>(1, due - context.now()), PacketEvent::timeout,
              sender.flow);
  }
}

void Endpoint::timed_out(core::Context& context, Sender& sender) {
  constexpr int kMostDoublings = 10;
  sender.timing = false;
  if (sender.acknowledged.first_missing() >= sender.posted) {
    return;
  }
  if (std::max(sender.last_news, sender.last_sent) + timeout_of(sender) > context.now()) {
    start_timeout(context, sender);
    return;
  }
  ++counts_.timeouts;
  sender.timeouts = std::min(sender.timeouts + 1, kMostDoublings);
  sender.last_news = context.now();
  sender.lost.clear();
  if (scene().spec.repeat == Repeat::go_back_n && scene().transport != Transport::receiver) {
    counts_.repeats += sender.next - sender.acknowledged.first_missing();
    sender.next = sender.acknowledged.first_missing();
  } else {
    for (std::uint32_t n = sender.acknowledged.first_missing(); n < sender.next; ++n) {
      if (!sender.acknowledged.has(n)) {
        sender.lost.push_back(n);
      }
    }
    sender.searched = sender.next;
  }
  if (auto* dctcp = std::get_if<Dctcp>(&sender.control)) {
    dctcp->on_timeout(sender.next);
  } else {
    note_loss(sender, sender.acknowledged.first_missing(), context.now());
  }
  if (scene().transport == Transport::receiver) {
    // What was granted and lost must be granted again; one packet goes unasked.
    sender.allowance = std::max(sender.allowance, 1U);
    request(context, sender, static_cast<std::uint32_t>(sender.lost.size()));
  }
  start_timeout(context, sender);
  list(context, sender);
}

void Endpoint::note_loss(Sender& sender, std::uint32_t number, core::Tick now) {
  if (auto* swift = std::get_if<Swift>(&sender.control)) {
    swift->on_loss(now, sender.round_trip);
  }
  if (auto* dctcp = std::get_if<Dctcp>(&sender.control)) {
    dctcp->on_loss(number, sender.next);
  }
}

void Endpoint::hear(core::Context& context, const News& news) {
  Sender& sender = sender_of(news.flow);
  const core::Tick now = context.now();
  sender.last_news = now;
  sender.timeouts = 0;
  if (news.trimmed) {
    sender.lost.push_back(news.number);
    list(context, sender);
    return;
  }
  if (scene().spec.repeat == Repeat::go_back_n && scene().transport != Transport::receiver) {
    if (news.first_missing > sender.acknowledged.first_missing()) {
      sender.acknowledged.fill_below(news.first_missing);
      sender.next = std::max(sender.next, news.first_missing);
    }
    // Once for each gap: what was on its way behind it is refused too.
    if (news.refused && news.first_missing >= sender.searched) {
      sender.searched = news.first_missing + 1;
      counts_.repeats += sender.next - news.first_missing;
      sender.next = news.first_missing;
      note_loss(sender, news.first_missing, now);
    }
  } else {
    const auto gone = std::find(sender.lost.begin(), sender.lost.end(), news.number);
    if (gone != sender.lost.end()) {
      sender.lost.erase(gone);
    }
    sender.acknowledged.insert(news.number);
    if (scene().transport != Transport::receiver) {
      search_losses(sender, news.number, now);
    }
  }
  if (!news.refused) {
    const auto since = (static_cast<std::uint32_t>(now >> 16) - news.stamp) % Packet::kStamps;
    const core::Tick queueing = (core::Tick{since} << 16) - sender.round_trip;
    const Acknowledged said{now, std::max<core::Tick>(0, queueing), news.number, sender.next,
                            news.marked};
    if (auto* swift = std::get_if<Swift>(&sender.control)) {
      swift->on_acknowledged(said, scene().times.delay_target, sender.round_trip);
      pace_anew(context, sender);
    }
    if (auto* dctcp = std::get_if<Dctcp>(&sender.control)) {
      dctcp->on_acknowledged(said);
    }
  }
  list(context, sender);
}

/// What is missing so far below a packet that came is lost.
void Endpoint::search_losses(Sender& sender, std::uint32_t number, core::Tick now) {
  const std::uint32_t distance = reordering(scene().may_overtake, sender.first_window);
  const std::uint32_t end = number >= distance ? number - distance + 1 : 0;
  for (std::uint32_t n = std::max(sender.searched, sender.acknowledged.first_missing()); n < end;
       ++n) {
    if (!sender.acknowledged.has(n)) {
      sender.lost.push_back(n);
      note_loss(sender, n, now);
    }
  }
  sender.searched = std::max(sender.searched, end);
}

void Endpoint::cut_rate(core::Context& context, Sender& sender) {
  std::get<Dcqcn>(sender.control).cut(context.now());
  ++sender.timer;
  tell_self(context, Dcqcn::kTimer, PacketEvent::raise, sender.flow, sender.timer);
  pace_anew(context, sender);
}

void Endpoint::raise_rate(core::Context& context, Sender& sender, std::uint64_t generation) {
  auto& dcqcn = std::get<Dcqcn>(sender.control);
  if (generation != sender.timer || !dcqcn.slowed()) {
    return;
  }
  dcqcn.on_timer();
  if (dcqcn.slowed()) {
    tell_self(context, Dcqcn::kTimer, PacketEvent::raise, sender.flow, sender.timer);
  }
  pace_anew(context, sender);
}

void Endpoint::request(core::Context& context, Sender& sender, std::uint32_t packets) {
  if (packets > 0) {
    tell(context, flow(sender.flow).to, flow(sender.flow).latency, PacketEvent::request,
         sender.flow, packets);
  }
}

}  // namespace headway::network
