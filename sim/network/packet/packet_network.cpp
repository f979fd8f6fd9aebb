#include <algorithm>
#include <cmath>
#include <map>

#include "sim/core/error.h"
#include "sim/core/tick.h"
#include "sim/network/packet/packet.h"

namespace headway::network {

std::uint32_t PacketNetwork::add_device(std::string name, bool endpoint) {
  Device device;
  device.endpoint = endpoint;
  device.name = std::move(name);
  devices.push_back(std::move(device));
  return static_cast<std::uint32_t>(devices.size() - 1);
}

std::uint32_t PacketNetwork::add_cable(std::uint32_t from,
                                       std::uint32_t to,
                                       core::BytesPerSecond rate,
                                       core::Seconds latency,
                                       Guard guard,
                                       core::LinkId link) {
  const auto number = static_cast<std::uint32_t>(cables.size());
  Device& device = devices[from];
  device.first_cable = device.cables == 0 ? number : device.first_cable;
  HEADWAY_CHECK(device.first_cable + device.cables == number, "cables of {} in two places",
                device.name);
  HEADWAY_CHECK(number < Packet::kMostCables && rate.si() > 0, "cable {}", number);
  ++device.cables;
  Cable cable;
  cable.from = from;
  cable.to = to;
  cable.ps_per_kib = std::max<core::Tick>(1, std::llround(1024e12 / rate.si()));
  cable.latency = std::max<core::Tick>(1, core::Clock::step().to_ticks(latency));
  cable.guard = guard;
  cable.link = link;
  cables.push_back(cable);
  return number;
}

namespace {

constexpr std::uint32_t kFar = 0xffffffffU;

/// Cables to each device, and the breadth-first distances of all devices to one.
class CablesAway {
 public:
  explicit CablesAway(const PacketNetwork& network)
      : network_(network), incoming_(network.devices.size()), hops_(network.devices.size()) {
    for (std::uint32_t c = 0; c < network.cables.size(); ++c) {
      incoming_[network.cables[c].to].push_back(c);
    }
  }

  /// Switches alone pass on.
  const std::vector<std::uint32_t>& to(std::uint32_t edge) {
    std::fill(hops_.begin(), hops_.end(), kFar);
    std::vector<std::uint32_t> front{edge};
    hops_[edge] = 0;
    for (std::size_t i = 0; i < front.size(); ++i) {
      for (const std::uint32_t c : incoming_[front[i]]) {
        const std::uint32_t before = network_.cables[c].from;
        if (hops_[before] == kFar && !network_.devices[before].endpoint) {
          hops_[before] = hops_[front[i]] + 1;
          front.push_back(before);
        }
      }
    }
    return hops_;
  }

 private:
  const PacketNetwork& network_;
  std::vector<std::vector<std::uint32_t>> incoming_;
  std::vector<std::uint32_t> hops_;
};

}  // namespace

void PacketNetwork::find_routes() {
  incoming_of_cable.assign(cables.size(), 0);
  edge_of_device.assign(devices.size(), kNowhere);
  std::vector<std::uint32_t> edge_devices;
  for (std::uint32_t c = 0; c < cables.size(); ++c) {
    incoming_of_cable[c] = devices[cables[c].to].incoming++;
    auto& edge = edge_of_device[cables[c].from];
    if (devices[cables[c].to].endpoint && !devices[cables[c].from].endpoint) {
      ++devices[cables[c].from].ports;
      if (edge == kNowhere) {
        edge = edges++;
        edge_devices.push_back(cables[c].from);
      }
    }
  }
  route_set.assign(devices.size() * edges, kNowhere);
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  CablesAway distances(*this);
  std::vector<std::uint32_t> equal;
  for (std::uint32_t e = 0; e < edges; ++e) {
    const auto& hops = distances.to(edge_devices[e]);
    for (std::uint32_t d = 0; d < devices.size(); ++d) {
      if (devices[d].endpoint || hops[d] == kFar || hops[d] == 0) {
        continue;
      }
      equal.clear();
      for (std::uint32_t c = devices[d].first_cable; c < devices[d].first_cable + devices[d].cables;
           ++c) {
        if (hops[cables[c].to] != kFar && hops[cables[c].to] + 1 == hops[d]) {
          equal.push_back(c);
        }
      }
      const auto [place, added] = known.try_emplace(equal, static_cast<std::uint32_t>(sets.size()));
      if (added) {
        sets.push_back({static_cast<std::uint32_t>(set_cables.size()),
                        static_cast<std::uint32_t>(equal.size())});
        set_cables.insert(set_cables.end(), equal.begin(), equal.end());
      }
      route_set[std::size_t{d} * edges + e] = place->second;
    }
  }
}

std::vector<std::uint32_t> PacketNetwork::path(std::uint32_t first_cable,
                                               std::uint32_t last_cable) const {
  std::vector<std::uint32_t> path{first_cable};
  while (path.back() != last_cable) {
    const std::uint32_t at = cables[path.back()].to;
    if (cables[last_cable].from == at) {
      path.push_back(last_cable);
      continue;
    }
    const std::uint32_t edge = edge_of_device[cables[last_cable].from];
    const std::uint32_t set = devices[at].endpoint || edge == kNowhere
                                  ? kNowhere
                                  : route_set[std::size_t{at} * edges + edge];
    if (set == kNowhere) {
      throw core::Error(fmt::format("no way for packets from {} to {}: stuck at {}",
                                    devices[cables[first_cable].from].name,
                                    devices[cables[last_cable].to].name, devices[at].name));
    }
    path.push_back(set_cables[sets[set].first]);
  }
  return path;
}

namespace {

void note_path(const PacketNetwork& network,
               const std::vector<std::uint32_t>& path,
               core::Tick ways,
               PacketFlow& flow) {
  core::Tick slowest = 1;
  for (const std::uint32_t c : path) {
    flow.latency += network.cables[c].latency;
    slowest = std::max(slowest, network.cables[c].ps_per_kib);
    ++flow.cables;
  }
  flow.ps_per_kib = std::max(flow.ps_per_kib, slowest);
  flow.ps_per_kib_of_all = std::max(flow.ps_per_kib_of_all, (slowest + ways - 1) / ways);
}

}  // namespace

std::uint32_t PacketTraffic::add_flow(const PacketNetwork& network,
                                      const std::vector<std::vector<Way>>& of_legs,
                                      std::int64_t message_bytes,
                                      std::int64_t payload,
                                      std::uint32_t at_once) {
  HEADWAY_CHECK(!of_legs.empty() && of_legs.size() < Packet::kMostLegs && message_bytes > 0,
                "{} legs, {} bytes", of_legs.size(), message_bytes);
  PacketFlow flow;
  flow.from = network.cables[of_legs.front().front().first_cable].from;
  flow.to = network.cables[of_legs.back().front().last_cable].to;
  flow.first_leg = static_cast<std::uint32_t>(legs.size());
  flow.legs = static_cast<std::uint32_t>(of_legs.size());
  const std::int64_t packets = (message_bytes + payload - 1) / payload;
  HEADWAY_CHECK(packets < std::int64_t{1} << 31U, "{} packets of a message", packets);
  flow.packets = static_cast<std::uint32_t>(packets);
  flow.last_bytes = static_cast<std::uint32_t>(message_bytes - (packets - 1) * payload);
  flow.at_once = at_once;
  flow.label = flows.size();
  flow.latency = 0;
  flow.cables = 0;
  flow.only_credits = true;
  for (const auto& of_leg : of_legs) {
    HEADWAY_CHECK(!of_leg.empty() && of_leg.size() < Packet::kMostWays, "{} ways", of_leg.size());
    legs.push_back(
        {static_cast<std::uint32_t>(ways.size()), static_cast<std::uint32_t>(of_leg.size())});
    ways.insert(ways.end(), of_leg.begin(), of_leg.end());
    for (const Way& way : of_leg) {
      const auto path = network.path(way.first_cable, way.last_cable);
      if (&way == &of_leg.front()) {
        note_path(network, path, static_cast<core::Tick>(of_leg.size()), flow);
      }
      flow.only_credits =
          flow.only_credits && std::all_of(path.begin(), path.end(), [&](std::uint32_t c) {
            return network.cables[c].guard == Guard::credit;
          });
    }
  }
  flows.push_back(flow);
  return static_cast<std::uint32_t>(flows.size() - 1);
}

}  // namespace headway::network
