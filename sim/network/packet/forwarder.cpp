#include "sim/network/packet/forwarder.h"

#include <algorithm>

#include "sim/core/error.h"
#include "sim/network/packet/congestion_control.h"

namespace headway::network {

Forwarder::Forwarder(const PacketScene& scene,
                     std::uint32_t device,
                     const std::vector<std::uint32_t>& incoming)
    : PacketDevice(scene, device),
      in_(self().incoming),
      heads_free_at_(self().cables),
      shared_(self().buffer),
      marks_(core::RandomStream(scene.seed, "packet marks").part(device)) {
  for (const std::uint32_t c : incoming) {
    in_[scene.network.incoming_of_cable[c]].cable = c;
    shared_ -= cable(c).guard == Guard::pause ? headroom(cable(c), scene.payload) : 0;
  }
}

void Forwarder::handle(core::Context& context, const core::Event& event) {
  const auto cable = static_cast<std::uint32_t>(event.a);
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
      port(cable).stopped = true;
      return;
    case PacketEvent::go:
      port(cable).stopped = false;
      send_first(context, cable);
      return;
    case PacketEvent::credit:
      port(cable).credit += static_cast<std::int64_t>(event.b);
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
  return cables[choose(equal.count, packet, [&](std::uint32_t i) {
    const OutPort& out = port(cables[i]);
    return std::max<core::Tick>(0, out.free_at - now) + cable(cables[i]).time_of(out.queued) +
           (out.stopped ? core::kEndOfTime / 4 : 0);
  })];
}

void Forwarder::arrive(core::Context& context, Packet packet) {
  const core::Tick now = context.now();
  const Cable& in = cable(packet.cable);
  const std::int64_t bytes = scene().bytes_of(packet);
  const std::uint32_t out = next_cable(now, packet);
  const core::Tick ready = scene().ready(now, in, cable(out), bytes);
  if (cable(out).guard == Guard::none) {
    send_or_lose(context, out, packet, bytes, ready);
    return;
  }
  const OutPort& to = port(out);
  mark(std::max<core::Tick>(0, to.free_at - now) + cable(out).time_of(to.queued), packet);
  hold(context, out, packet, {packet.a(), packet.b(), ready, bytes});
}

void Forwarder::mark(core::Tick queue, Packet& packet) {
  if (packet.marked || packet.trimmed) {
    return;
  }
  const double chance = marking_chance(scene().spec, queue);
  if (chance > 0 && (chance >= 1 || marks_.uniform(drawn_++) < chance)) {
    packet.marked = true;
    ++counts_.marks;
  }
}

/// `used_` is at least what is used: it grows with each packet, and is counted anew only where it
/// would refuse one.
bool Forwarder::has_room(core::Tick now, std::int64_t queue, std::int64_t bytes) {
  const auto fits = [&] {
    return static_cast<double>(queue + bytes) <=
           scene().spec.threshold * static_cast<double>(shared_ - used_);
  };
  if (fits()) {
    return true;
  }
  used_ = 0;
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    used_ +=
        cable(self().first_cable + i).bytes_in(std::max<core::Tick>(0, ports_[i].free_at - now));
  }
  return fits();
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
  OutPort& to = port(out);
  InPort& in = in_[scene().network.incoming_of_cable[packet.cable]];
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
  OutPort& to = port(out);
  if (to.queue.empty() || to.told) {
    return;
  }
  if (to.free_at > context.now()) {
    tell_when_free(context, out);
    return;
  }
  const HeldPacket held = to.queue.front();
  if (!may_go(out, held.bytes)) {
    return;
  }
  to.queue.pop();
  to.queued -= held.bytes;
  used_ -= held.bytes;
  const Packet packet = Packet::of(held.a, held.b);
  InPort& in = in_[scene().network.incoming_of_cable[packet.cable]];
  in.held -= held.bytes;
  give_back(context, packet.cable, held.bytes);
  put_on(context, out, packet, held.bytes, std::max(context.now(), held.ready));
  if (stopped_ > 0) {
    check_go(context);
  }
  if (!to.queue.empty()) {
    tell_when_free(context, out);
  }
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
    tell(context, from.from, from.latency, PacketEvent::stop, in.cable);
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
      tell(context, cable(in.cable).from, cable(in.cable).latency, PacketEvent::go, in.cable);
    }
  }
}

}  // namespace headway::network
