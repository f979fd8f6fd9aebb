#include "sim/network/packet/endpoint.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::network {

Endpoint::Endpoint(const PacketScene& scene,
                   std::uint32_t device,
                   const std::vector<std::uint32_t>& sends,
                   const std::vector<std::uint32_t>& receives)
    : PacketDevice(scene, device),
      turns_(std::size_t{self().cables} * scene.classes.count),
      actors_(scene.traffic, device) {
  senders_.resize(sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    Sender& sender = senders_[i];
    sender.flow = sends[i];
    if (const auto way = scene.lone.of(sender.flow); !way.empty()) {
      sender.train = Train(way);
    }
    const Leg& leg = scene.traffic.legs[flow(sender.flow).first_leg];
    sender.cable = leg.ways == 1 ? scene.traffic.ways[leg.first_way].first_cable : kNowhere;
    sender.round_trip = scene.round_trip(flow(sender.flow));
    sender.first_window = scene.first_window(flow(sender.flow));
    if (flow(sender.flow).only_credits) {
      continue;
    }
    switch (scene.transport) {
      case Transport::dcqcn:
        sender.control = Dcqcn{};
        break;
      case Transport::swift: {
        Swift swift;
        swift.window = sender.first_window;
        sender.control = swift;
        break;
      }
      case Transport::dctcp: {
        Dctcp dctcp;
        dctcp.window = sender.first_window;
        sender.control = dctcp;
        break;
      }
      default:
        break;
    }
  }
  receivers_.resize(receives.size());
  for (std::size_t i = 0; i < receives.size(); ++i) {
    receivers_[i].flow = receives[i];
    receivers_[i].window = static_cast<std::uint32_t>(scene.first_window(flow(receives[i])));
  }
}

void Endpoint::start(core::Context& context) {
  for (Sender& sender : senders_) {
    if (const std::uint32_t messages = flow(sender.flow).at_once; messages > 0) {
      post(context, sender.flow, messages);
    }
  }
  ActorRequests requests;
  for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) {
    actors_.advance(actor, context.now(), requests);
  }
  fulfil(context, requests);
}

void Endpoint::handle(core::Context& context, const core::Event& event) {
  const auto a = static_cast<std::uint32_t>(event.a);
  const auto of = static_cast<std::uint32_t>(event.a >> 32U);
  switch (static_cast<PacketEvent>(event.kind)) {
    case PacketEvent::arrive:
      arrive(context, Packet::of(event.a, event.b));
      return;
    case PacketEvent::train:
      train_passes(context, a, static_cast<core::Tick>(event.b));
      return;
    case PacketEvent::free:
      port(a).told = false;
      send_from(context, a);
      return;
    case PacketEvent::stop:
      lane(a, of).stopped = true;
      return;
    case PacketEvent::go:
      lane(a, of).stopped = false;
      send_from(context, a);
      return;
    case PacketEvent::credit:
      lane(a, of).credit += static_cast<std::int64_t>(event.b);
      send_from(context, a);
      return;
    case PacketEvent::news:
      hear(context, News::of(event.a, event.b));
      return;
    case PacketEvent::received:
      message_done(context, a);
      return;
    case PacketEvent::notice:
      cut_rate(context, sender_of(a));
      return;
    case PacketEvent::request:
      want(context, receiver_of(a), static_cast<std::uint32_t>(event.b));
      return;
    case PacketEvent::grant:
      sender_of(a).allowance += static_cast<std::uint32_t>(event.b);
      list(context, sender_of(a));
      return;
    case PacketEvent::pull:
      pulling_ = false;
      grant_next(context);
      return;
    case PacketEvent::wake:
      wake(context, sender_of(a), event.b);
      return;
    case PacketEvent::timeout:
      timed_out(context, sender_of(a));
      return;
    case PacketEvent::raise:
      raise_rate(context, sender_of(a), event.b);
      return;
    case PacketEvent::compute:
      actor_goes_on(context, a);
      return;
  }
}

void Endpoint::train_passes(core::Context& context, std::uint32_t number, core::Tick wait) {
  if (flow(number).to == this->number()) {
    complete_message(context, receiver_of(number));
  } else {
    tell(context, flow(number).to, wait, PacketEvent::train, number);
  }
}

void Endpoint::actor_goes_on(core::Context& context, std::uint32_t actor) {
  ActorRequests requests;
  actors_.advance(actor, context.now(), requests);
  fulfil(context, requests);
}

void Endpoint::post(core::Context& context, std::uint32_t number, std::uint32_t messages) {
  Sender& sender = sender_of(number);
  const std::uint32_t outstanding =
      sender.posted - sender.acknowledged.first_missing() - sender.acknowledged.beyond();
  const std::uint32_t packets = messages * flow(number).packets;
  sender.posted += packets;
  if (!sender.train.way().empty()) {
    for (std::uint32_t m = 0; m < messages; ++m) {
      send_train(context, sender);
    }
    return;
  }
  if (outstanding == 0) {
    sender.last_news = context.now();
  }
  if (scene().hands_out(flow(number))) {
    // A round trip's worth may be on its way unasked; the receiver hands out the rest.
    const auto window = static_cast<std::uint32_t>(sender.first_window);
    const std::uint32_t unasked = std::min(packets, window - std::min(window, outstanding));
    sender.allowance += unasked;
    if (unasked < packets) {
      request(context, sender, packets - unasked);
    }
  }
  list(context, sender);
}

void Endpoint::fulfil(core::Context& context, ActorRequests& requests) {
  for (const std::uint32_t number : requests.posts) {
    post(context, number, 1);
  }
  for (const auto& [actor, ticks] : requests.computes) {
    tell_self(context, ticks, PacketEvent::compute, actor);
  }
}

void Endpoint::message_done(core::Context& context, std::uint32_t number) {
  ActorRequests requests;
  actors_.message_done(number, context.now(), requests);
  fulfil(context, requests);
}

std::vector<core::Tick> Endpoint::ends() const {
  std::vector<core::Tick> ends;
  ends.reserve(receivers_.size());
  for (const Receiver& receiver : receivers_) {
    ends.push_back(receiver.messages >= flow(receiver.flow).at_once
                       ? std::max<core::Tick>(receiver.end, 0)
                       : -1);
  }
  return ends;
}

}  // namespace headway::network
