#include "sim/network/packet/packet_device.h"

#include <algorithm>
#include <cmath>

namespace headway::network {

core::Tick PacketScene::round_trip(const PacketFlow& flow) const {
  const core::Tick full = (payload * flow.ps_per_kib + 1023) >> 10;
  const core::Tick head = (kHead * flow.ps_per_kib + 1023) >> 10;
  const auto more = static_cast<core::Tick>(flow.cables) - 1;
  return 2 * flow.latency + full + more * (store ? full : head);
}

std::uint32_t PacketScene::by_destination(std::uint32_t count,
                                          std::uint32_t device,
                                          const PacketFlow& flow) const {
  const std::uint32_t last =
      traffic.ways[traffic.legs[flow.first_leg + flow.legs - 1].first_way].last_cable;
  const std::uint32_t leaf = network.cables[last].from;
  const std::uint32_t port = last - network.devices[leaf].first_cable;
  const bool above =
      !network.devices[device].endpoint && network.edge_of_device[device] == kNowhere;
  const std::uint32_t ports = std::max(1U, network.devices[leaf].ports);
  return (above ? network.edge_of_device[leaf] + port * count / ports : port) % count;
}

std::int64_t PacketScene::buffer_of(const Cable& cable) const {
  const std::int64_t all = cable.buffer > 0 ? cable.buffer : network.cable_buffer;
  return classes.count == 1 ? all : all / classes.count;
}

double PacketScene::first_window(const PacketFlow& flow) const {
  return std::ceil(static_cast<double>(round_trip(flow)) /
                   static_cast<double>(time_of(flow, payload))) +
         1;
}

PacketDevice::PacketDevice(const PacketScene& scene, std::uint32_t device)
    : scene_(scene),
      self_(scene.network.devices[device]),
      cables_(scene.network.cables.data()),
      device_(device),
      first_cable_(self_.first_cable),
      classes_(scene.classes.count),
      owed_(std::size_t{scene.network.devices[device].incoming} * scene.classes.count),
      served_(scene.classes.count > 1 ? self().cables : 0) {
  ports_.resize(std::size_t{self().cables} * scene.classes.count);
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    ports_[i].credit = scene.buffer_of(cable(first_cable_ + i / classes_));
  }
}

std::vector<BlockedCable> PacketDevice::blocked() const {
  std::vector<BlockedCable> all;
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    const OutPort& port = ports_[i];
    if (port.queue.empty()) {
      continue;
    }
    BlockedCable one{self().first_cable + i / scene_.classes.count, {}};
    for (const HeldPacket& held : port.queue.all()) {
      one.came_by.push_back(Packet::of(held.a, held.b).cable);
    }
    std::sort(one.came_by.begin(), one.came_by.end());
    one.came_by.erase(std::unique(one.came_by.begin(), one.came_by.end()), one.came_by.end());
    all.push_back(std::move(one));
  }
  return all;
}

void PacketDevice::put_on(core::Context& context,
                          std::uint32_t number,
                          Packet packet,
                          std::int64_t bytes,
                          core::Tick begin) {
  const Cable& out = cable(number);
  OutPort& from = port(number);
  const core::Tick whole = out.time_of(bytes);
  from.free_at = begin + (self_.endpoint ? std::max(whole, scene_.gap_of(out)) : whole);
  const std::uint32_t of = scene_.class_of(packet.flow);
  if (classes_ > 1) {
    lane(number, of).turn += bytes * scene_.classes.per_byte[of];
  }
  if (out.guard == Guard::credit) {
    lane(number, of).credit -= bytes;
  }
  ++counts_.hops;
  from.sent += bytes;
  packet.cable = number & (Packet::kMostCables - 1);
  tell(context, out.to, begin - context.now() + scene_.time_to_read(out, bytes) + out.latency,
       PacketEvent::arrive, packet.a(), packet.b());
}

void PacketDevice::tell_when_free(core::Context& context, std::uint32_t number) {
  OutPort& of = port(number);
  if (!of.told) {
    of.told = true;
    context.schedule(
        std::max<core::Tick>(0, of.free_at - context.now()),
        {static_cast<std::uint32_t>(PacketEvent::free), core::kNormalPriority, number, 0});
  }
}

void PacketDevice::give_back(core::Context& context, const Packet& packet, std::int64_t bytes) {
  const Cable& in = cable(packet.cable);
  if (in.guard != Guard::credit) {
    return;
  }
  const std::uint32_t of = scene_.class_of(packet.flow);
  std::int64_t& owed =
      owed_[scene_.network.incoming_of_cable[packet.cable] * scene_.classes.count + of];
  owed += bytes;
  if (owed * 8 >= scene_.buffer_of(in)) {
    tell(context, in.from, in.latency, PacketEvent::credit, PacketScene::lane(packet.cable, of),
         static_cast<std::uint64_t>(owed));
    owed = 0;
  }
}

bool PacketDevice::may_go(std::uint32_t number, std::uint32_t traffic_class, std::int64_t bytes) {
  const OutPort& of = lane(number, traffic_class);
  if (of.stopped) {
    return false;
  }
  if (cable(number).guard == Guard::credit && of.credit < bytes) {
    ++counts_.stalls;
    return false;
  }
  return true;
}

}  // namespace headway::network
