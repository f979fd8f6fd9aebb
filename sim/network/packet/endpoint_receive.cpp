// Receiving: what is there, what the sender is told, and who may send next.
#include <algorithm>

#include "sim/network/packet/endpoint.h"

namespace headway::network {

void Endpoint::arrive(core::Context& context, Packet packet) {
  give_back(context, packet, scene().bytes_of(packet));
  if (packet.leg + 1U < flow(packet.flow).legs) {
    relay(context, packet);
  } else {
    receive(context, packet);
  }
}

/// Goes on by the next leg, through this GPU's memory, which holds whatever comes.
void Endpoint::relay(core::Context& context, Packet packet) {
  packet.leg = (packet.leg + 1U) % Packet::kMostLegs;
  const Leg& leg = scene().traffic.legs[flow(packet.flow).first_leg + packet.leg];
  packet.way = choose_way(leg, packet.path_key()) % Packet::kMostWays;
  const std::uint32_t cable = scene().traffic.ways[leg.first_way + packet.way].first_cable;
  const std::int64_t bytes = scene().bytes_of(packet);
  OutPort& to = lane(cable, scene().class_of(packet.flow));
  to.queue.push({packet.a(), packet.b(), context.now(), bytes});
  to.queued += bytes;
  send_from(context, cable);
}

void Endpoint::receive(core::Context& context, const Packet& packet) {
  Receiver& receiver = receiver_of(packet.flow);
  const PacketFlow& of = flow(packet.flow);
  if (receiver.granted > 0) {
    --receiver.granted;
    list_for_grants(context, receiver);
  }
  News news{packet.flow,
            packet.number,
            0,
            packet.marked,
            packet.trimmed,
            false,
            static_cast<std::uint32_t>(packet.stamp)};
  if (packet.trimmed) {
    tell(context, of.from, of.latency, PacketEvent::news, news.a(), news.b());
    want(context, receiver, 1);
    return;
  }
  const bool acknowledged = scene().acknowledges(of);
  if (acknowledged && scene().spec.repeat == Repeat::go_back_n &&
      scene().transport != Transport::receiver) {
    news.refused = packet.number > receiver.there.first_missing();
    if (packet.number == receiver.there.first_missing()) {
      receiver.there.insert(packet.number);
    }
  } else {
    receiver.there.insert(packet.number);
  }
  if (acknowledged) {
    news.first_missing = receiver.there.first_missing();
    tell(context, of.from, of.latency, PacketEvent::news, news.a(), news.b());
  }
  if (packet.marked && scene().transport == Transport::dcqcn &&
      (receiver.last_notice < 0 || context.now() - receiver.last_notice >= Dcqcn::kNotice)) {
    receiver.last_notice = context.now();
    ++counts_.notices;
    tell(context, of.from, of.latency, PacketEvent::notice, packet.flow);
  }
  complete_messages(context, receiver);
}

void Endpoint::complete_messages(core::Context& context, Receiver& receiver) {
  const PacketFlow& of = flow(receiver.flow);
  while (receiver.there.first_missing() >= (receiver.messages + 1) * of.packets) {
    complete_message(context, receiver);
  }
}

void Endpoint::complete_message(core::Context& context, Receiver& receiver) {
  const PacketFlow& of = flow(receiver.flow);
  ++receiver.messages;
  receiver.end = context.now();
  if (scene().sender_waits[receiver.flow]) {
    tell(context, of.from, of.latency, PacketEvent::received, receiver.flow);
  }
  message_done(context, receiver.flow);
}

void Endpoint::want(core::Context& context, Receiver& receiver, std::uint32_t packets) {
  receiver.wanted += packets;
  list_for_grants(context, receiver);
}

/// A sender that does not use what it has is granted no more: it would hoard what others could use.
void Endpoint::list_for_grants(core::Context& context, Receiver& receiver) {
  if (receiver.listed || receiver.wanted == 0 || receiver.granted >= receiver.window) {
    return;
  }
  receiver.listed = true;
  pulls_.push_back(scene().receiver_number[receiver.flow]);
  if (!pulling_) {
    pulling_ = true;
    tell_self(context, 0, PacketEvent::pull, 0);
  }
}

/// One packet to each in turn, as fast as the way in takes them.
void Endpoint::grant_next(core::Context& context) {
  if (pulls_.empty()) {
    return;
  }
  const std::uint32_t number = pulls_.front();
  pulls_.pop_front();
  Receiver& receiver = receivers_[number];
  const PacketFlow& of = flow(receiver.flow);
  --receiver.wanted;
  ++receiver.granted;
  receiver.listed = receiver.wanted > 0 && receiver.granted < receiver.window;
  if (receiver.listed) {
    pulls_.push_back(number);
  }
  tell(context, of.from, of.latency, PacketEvent::grant, receiver.flow, 1);
  const Leg& leg = scene().traffic.legs[of.first_leg + of.legs - 1];
  const Way& way = scene().traffic.ways[leg.first_way];
  pulling_ = true;
  tell_self(context,
            std::max<core::Tick>(1, cable(way.last_cable).time_of(scene().payload) / leg.ways),
            PacketEvent::pull, 0);
}

}  // namespace headway::network
