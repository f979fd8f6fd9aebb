#include "sim/network/packet/forwarder.h"

#include <algorithm>

#include "sim/core/error.h"
#include "sim/network/pacing/congestion_control.h"

namespace headway::network {

Forwarder::Forwarder(const PacketScene& scene,
                     std::uint32_t device,
                     const std::vector<std::uint32_t>& incoming)
    : PacketDevice(scene, device),
      in_(std::size_t{self().incoming} * scene.classes.count),
      heads_free_at_(self().cables),
      shared_(self().buffer),
      marking_(scene.spec.marking_from, scene.spec.marking_to, scene.spec.marking_probability),
      marks_(core::RandomStream(scene.seed, "packet marks").part(device)) {
  for (const std::uint32_t c : incoming) {
    const std::size_t first = std::size_t{scene.network.incoming_of_cable[c]} * scene.classes.count;
    for (std::uint32_t k = 0; k < scene.classes.count; ++k) {
      in_[first + k].cable = c;
      in_[first + k].traffic_class = k;
      shared_ -= cable(c).guard == Guard::pause ? headroom(cable(c), scene.payload) : 0;
    }
  }
}

void Forwarder::handle(core::Context& context, const core::Event& event) {
  const auto cable = static_cast<std::uint32_t>(event.a);
  const auto of = static_cast<std::uint32_t>(event.a >> 32U);
  switch (static_cast<PacketEvent>(event.kind)) {
    case PacketEvent::arrive:
      arrive(context, Packet::of(event.a, event.b));
      return;
    case PacketEvent::train:
      tell(context, scene().traffic.flows[cable].to, static_cast<core::Tick>(event.b),
           PacketEvent::train, cable);
      return;
    case PacketEvent::free:
      port(cable).told = false;
      send_first(context, cable);
      return;
    case PacketEvent::stop:
      lane(cable, of).stopped = true;
      return;
    case PacketEvent::go:
      lane(cable, of).stopped = false;
      send_first(context, cable);
      return;
    case PacketEvent::credit:
      lane(cable, of).credit += static_cast<std::int64_t>(event.b);
      send_first(context, cable);
      return;
    default:
      HEADWAY_CHECK(false, "a switch got an event of kind {}", event.kind);
  }
}

std::uint32_t Forwarder::next_cable(core::Tick now, const Packet& packet) {
  const PacketNetwork& network = scene().network;
  const PacketTraffic& traffic = scene().traffic;
  const PacketFlow& flow = traffic.flows[packet.flow];
  const Leg& leg = traffic.legs[flow.first_leg + packet.leg];
  const std::uint32_t last = traffic.ways[leg.first_way + packet.way].last_cable;
  const std::uint32_t edge = network.cables[last].from;
  if (edge == number()) {
    return last;
  }
  const std::uint32_t set =
      network.route_set[std::size_t{number()} * network.edges + network.edge_of_device[edge]];
  HEADWAY_CHECK(set != kNowhere, "{} has no way to {}", self().name, network.devices[edge].name);
  const auto& equal = network.sets[set];
  const std::uint32_t* cables = &network.set_cables[equal.first];
  return cables[choose(equal.count, packet.path_key(), [&](std::uint32_t i) {
    const OutPort& out = lane(cables[i], scene().class_of(packet.flow));
    return std::max<core::Tick>(0, port(cables[i]).free_at - now) +
           cable(cables[i]).time_of(out.queued) + (out.stopped ? core::kEndOfTime / 4 : 0);
  })];
}

void Forwarder::arrive(core::Context& context, Packet packet) {
  const core::Tick now = context.now();
  const Cable& in = cable(packet.cable);
  const std::int64_t bytes = scene().bytes_of(packet);
  const std::uint32_t out = next_cable(now, packet);
  const core::Tick ready = scene().ready(now, in, cable(out), bytes);
  const OutPort& to = lane(out, scene().class_of(packet.flow));
  if (cable(out).guard == Guard::none) {
    if (classes() == 1) {
      send_or_lose(context, out, packet, bytes, ready);
      return;
    }
    if (!fits(to.queued, bytes)) {
      ++counts_.drops;
      return;
    }
  }
  if (cable(out).guard != Guard::credit) {
    mark(std::max<core::Tick>(0, port(out).free_at - now) + cable(out).time_of(to.queued), packet);
  }
  hold(context, out, packet, {packet.a(), packet.b(), ready, bytes});
}

void Forwarder::mark(core::Tick queue, Packet& packet) {
  if (packet.marked || packet.trimmed) {
    return;
  }
  const double chance = marking_.chance(queue);
  if (chance > 0 && (chance >= 1 || marks_.uniform(drawn_++) < chance)) {
    packet.marked = true;
    ++counts_.marks;
  }
}

/// `used_` is at least what is used: it grows with each packet, and is counted anew only where it
/// would refuse one.
bool Forwarder::has_room(core::Tick now, std::int64_t queue, std::int64_t bytes) {
  if (fits(queue, bytes)) {
    return true;
  }
  used_ = 0;
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    used_ +=
        cable(self().first_cable + i).bytes_in(std::max<core::Tick>(0, ports_[i].free_at - now));
  }
  return fits(queue, bytes);
}

bool Forwarder::fits(std::int64_t queue, std::int64_t bytes) const {
  return static_cast<double>(queue + bytes) <=
         scene().spec.threshold * static_cast<double>(shared_ - used_);
}

void Forwarder::send_or_lose(core::Context& context,
                             std::uint32_t out,
                             Packet packet,
                             std::int64_t bytes,
                             core::Tick ready) {
  const core::Tick now = context.now();
  OutPort& to = port(out);
  core::Tick& heads = heads_free_at_[out - self().first_cable];
  const core::Tick wait = std::max<core::Tick>(0, to.free_at - now);
  const std::int64_t queue = cable(out).bytes_in(wait);
  if (!packet.trimmed) {
    const bool trims = scene().transport == Transport::receiver;
    const bool full = trims ? queue > kTrimPackets * scene().payload : !has_room(now, queue, bytes);
    if (full && !trims) {
      ++counts_.drops;
      return;
    }
    packet.trimmed = full;
    counts_.trims += full ? 1 : 0;
    bytes = full ? PacketScene::kHead : bytes;
    mark(wait, packet);
  }
  used_ += bytes;
  counts_.note_depth(out, queue + bytes);
  if (packet.trimmed) {
    // Before all others: behind what is on the cable now at most, and other heads.
    const core::Tick busy_until = to.free_at;
    const core::Tick begin =
        std::max({ready, heads, std::min(busy_until, now + cable(out).time_of(scene().payload))});
    put_on(context, out, packet, bytes, begin);
    heads = to.free_at;
    to.free_at = std::max(busy_until + cable(out).time_of(bytes), heads);
    return;
  }
  put_on(context, out, packet, bytes, std::max(ready, to.free_at));
}

void Forwarder::hold(core::Context& context,
                     std::uint32_t out,
                     const Packet& packet,
                     const HeldPacket& held) {
  OutPort& to = lane(out, scene().class_of(packet.flow));
  InPort& in = in_port(packet);
  if (used_ + held.bytes > self().buffer && cable(packet.cable).guard == Guard::pause) {
    ++counts_.drops;  // headroom that does not suffice; the run refuses to begin with such a one
    return;
  }
  to.queue.push(held);
  to.queued += held.bytes;
  used_ += held.bytes;
  in.held += held.bytes;
  counts_.note_depth(out, to.queued);
  check_pause(context, in);
  send_first(context, out);
}

void Forwarder::send_first(core::Context& context, std::uint32_t out) {
  const OutPort& from = port(out);
  if (from.told || !waits_for(out)) {
    return;
  }
  if (from.free_at > context.now()) {
    tell_when_free(context, out);
    return;
  }
  const std::uint32_t of = class_in_turn(out, [&](std::uint32_t k) {
    const PacketQueue& queue = lane(out, k).queue;
    return queue.empty() ? 0 : queue.front().bytes;
  });
  if (of == kNowhere) {
    return;
  }
  OutPort& to = lane(out, of);
  const HeldPacket held = to.queue.front();
  to.queue.pop();
  to.queued -= held.bytes;
  used_ -= held.bytes;
  const Packet packet = Packet::of(held.a, held.b);
  in_port(packet).held -= held.bytes;
  give_back(context, packet, held.bytes);
  put_on(context, out, packet, held.bytes, std::max(context.now(), held.ready));
  if (stopped_ > 0) {
    check_go(context);
  }
  if (waits_for(out)) {
    tell_when_free(context, out);
  }
}

bool Forwarder::waits_for(std::uint32_t out) {
  for (std::uint32_t k = 0; k < classes(); ++k) {
    if (!lane(out, k).queue.empty()) {
      return true;
    }
  }
  return false;
}

void Forwarder::check_pause(core::Context& context, InPort& in) {
  const Cable& from = cable(in.cable);
  if (from.guard == Guard::pause && !in.stopped &&
      static_cast<double>(in.held) >
          scene().spec.threshold *
              static_cast<double>(std::max<std::int64_t>(0, shared_ - used_))) {
    in.stopped = true;
    ++stopped_;
    ++counts_.pauses;
    tell(context, from.from, from.latency, PacketEvent::stop,
         PacketScene::lane(in.cable, in.traffic_class));
  }
}

void Forwarder::check_go(core::Context& context) {
  const double most =
      scene().spec.threshold * static_cast<double>(std::max<std::int64_t>(0, shared_ - used_));
  for (InPort& in : in_) {
    // Two packets below where it stopped, so that it does not stop again at once; empty in any
    // case.
    if (in.stopped &&
        (in.held == 0 || static_cast<double>(in.held + 2 * scene().payload) <= most)) {
      in.stopped = false;
      --stopped_;
      tell(context, cable(in.cable).from, cable(in.cable).latency, PacketEvent::go,
           PacketScene::lane(in.cable, in.traffic_class));
    }
  }
}

}  // namespace headway::network
