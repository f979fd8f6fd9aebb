#include "sim/network/packet/lone_flows.h"

#include <algorithm>
#include <utility>

#include "sim/core/tick.h"
#include "sim/network/packet/forwarder.h"
#include "sim/network/packet/packet_device.h"

namespace headway::network {

namespace {

constexpr std::uint32_t kMany = kNowhere - 1;

/// Who uses each cable, and which flows are lone.
class LoneSearch {
 public:
  explicit LoneSearch(const PacketScene& scene)
      : scene_(scene),
        network_(scene.network),
        ways_(scene.traffic.flows.size()),
        user_(network_.cables.size(), kNowhere),
        busy_(network_.devices.size()),
        shared_(network_.devices.size()),
        seen_(network_.route_set.size()) {}

  LoneWays find() {
    for (std::uint32_t d = 0; d < shared_.size(); ++d) {
      shared_[d] = network_.devices[d].buffer;
    }
    for (const Cable& cable : network_.cables) {
      shared_[cable.to] -= cable.guard == Guard::pause
                               ? scene_.classes.count * Forwarder::headroom(cable, scene_.payload)
                               : 0;
    }
    for (std::uint32_t f = 0; f < ways_.size(); ++f) {
      walk(f);
    }
    drop_those_that_meet();
    drop_those_at_busy_switches();
    LoneWays lone;
    if (std::all_of(ways_.begin(), ways_.end(), [](const auto& way) { return way.empty(); })) {
      return lone;
    }
    lone.first.reserve(ways_.size() + 1);
    for (const auto& way : ways_) {
      lone.first.push_back(static_cast<std::uint32_t>(lone.cables.size()));
      lone.cables.insert(lone.cables.end(), way.begin(), way.end());
    }
    lone.first.push_back(static_cast<std::uint32_t>(lone.cables.size()));
    return lone;
  }

 private:
  void use(std::uint32_t cable, std::uint32_t flow) {
    std::uint32_t& user = user_[cable];
    user = user == kNowhere || user == flow ? flow : kMany;
  }

  /// Notes the flow's way if it is known beforehand; if not, all cables that it may use.
  void walk(std::uint32_t f) {
    const PacketFlow& flow = scene_.traffic.flows[f];
    std::vector<std::uint32_t>& way = ways_[f];
    bool known = true;
    for (std::uint32_t l = flow.first_leg; known && l < flow.first_leg + flow.legs; ++l) {
      known = walk_leg(f, scene_.traffic.legs[l], way);
    }
    if (known) {
      for (const std::uint32_t cable : way) {
        use(cable, f);
      }
      return;
    }
    way.clear();
    for (std::uint32_t l = flow.first_leg; l < flow.first_leg + flow.legs; ++l) {
      const Leg& leg = scene_.traffic.legs[l];
      for (std::uint32_t w = leg.first_way; w < leg.first_way + leg.ways; ++w) {
        mark_all(scene_.traffic.ways[w]);
      }
    }
  }

  [[nodiscard]] bool known_among(std::uint32_t count) const {
    return count == 1 || scene_.choice == PathChoice::flow ||
           scene_.choice == PathChoice::destination;
  }

  /// @returns whether there is one way only
  bool walk_leg(std::uint32_t f, const Leg& leg, std::vector<std::uint32_t>& way) const {
    if (!known_among(leg.ways)) {
      return false;
    }
    const std::uint32_t begins =
        network_.cables[scene_.traffic.ways[leg.first_way].first_cable].from;
    const Way& ends = scene_.traffic.ways[leg.first_way + scene_.fixed_choice(leg.ways, begins, f)];
    way.push_back(ends.first_cable);
    while (way.back() != ends.last_cable) {
      const std::uint32_t at = network_.cables[way.back()].to;
      const auto equal = next_cables(at, ends.last_cable);
      if (!known_among(static_cast<std::uint32_t>(equal.size()))) {
        return false;
      }
      way.push_back(equal[scene_.fixed_choice(static_cast<std::uint32_t>(equal.size()), at, f)]);
    }
    return true;
  }

  /// The equal cables towards the last one.
  [[nodiscard]] std::span<const std::uint32_t> next_cables(std::uint32_t device,
                                                           const std::uint32_t& last) const {
    if (network_.cables[last].from == device) {
      return {&last, 1};
    }
    const auto& set = network_.sets[network_.route_set[route_of(device, last)]];
    return {&network_.set_cables[set.first], set.count};
  }
  [[nodiscard]] std::size_t route_of(std::uint32_t device, std::uint32_t last) const {
    return std::size_t{device} * network_.edges +
           network_.edge_of_device[network_.cables[last].from];
  }

  void mark_all(const Way& way) {
    user_[way.first_cable] = kMany;
    user_[way.last_cable] = kMany;
    std::vector<std::uint32_t> front;
    if (way.first_cable != way.last_cable) {
      front.push_back(network_.cables[way.first_cable].to);
    }
    while (!front.empty()) {
      const std::uint32_t at = front.back();
      front.pop_back();
      busy_[at] = true;
      if (at == network_.cables[way.last_cable].from || seen_[route_of(at, way.last_cable)]) {
        continue;
      }
      seen_[route_of(at, way.last_cable)] = true;
      for (const std::uint32_t cable : next_cables(at, way.last_cable)) {
        user_[cable] = kMany;
        front.push_back(network_.cables[cable].to);
      }
    }
  }

  void drop_those_that_meet() {
    for (std::uint32_t f = 0; f < ways_.size(); ++f) {
      const auto& way = ways_[f];
      const bool meets = std::any_of(way.begin(), way.end(),
                                     [&](std::uint32_t cable) { return user_[cable] != f; });
      if (meets || !flows_freely(way)) {
        drop(f);
      }
    }
  }

  void drop(std::uint32_t f) {
    for (const std::uint32_t cable : ways_[f]) {
      busy_[network_.cables[cable].to] = true;
      busy_[network_.cables[cable].from] = true;
    }
    ways_[f].clear();
  }

  /// No queue builds up, no mark is drawn, no credit runs out where nobody else sends.
  [[nodiscard]] bool flows_freely(const std::vector<std::uint32_t>& way) const {
    const double unmarked =
        core::Clock::step().in_ticks(std::min(scene_.spec.marking_from, scene_.spec.marking_to));
    core::Tick slowest = 0;  // time of a packet on the cables since an endpoint
    for (std::size_t i = 0; i < way.size(); ++i) {
      const Cable& cable = network_.cables[way[i]];
      const core::Tick packet = cable.time_of(scene_.payload);
      if (network_.devices[cable.from].endpoint) {
        slowest = packet;
      }
      // A short last packet comes while the one before it still goes: a head's time behind a cable
      // as slow, at most a packet's behind a faster one.
      const bool faster = i > 0 && network_.cables[way[i - 1]].ps_per_kib < cable.ps_per_kib;
      const core::Tick waits = cable.time_of(faster ? scene_.payload : 2 * PacketScene::kHead);
      if (packet > slowest || static_cast<double>(waits) >= unmarked) {
        return false;
      }
      // What is on its way, waits to be told in lots of an eighth, or has just begun.
      const std::int64_t out = cable.bytes_in(2 * cable.latency + 2 * packet + slowest);
      const std::int64_t room = scene_.buffer_of(cable);
      if (cable.guard == Guard::credit && out + room / 8 + 4 * scene_.payload > room) {
        return false;
      }
    }
    return true;
  }

  /// Where switches pause, all that is in a switch decides when.
  void drop_those_at_busy_switches() {
    std::vector<std::vector<std::uint32_t>> flows_at(network_.devices.size());
    std::vector<std::uint32_t> front;
    for (std::uint32_t f = 0; f < ways_.size(); ++f) {
      for (const std::uint32_t cable : ways_[f]) {
        const std::uint32_t into = network_.cables[cable].to;
        if (network_.cables[cable].guard == Guard::pause && !network_.devices[into].endpoint) {
          flows_at[into].push_back(f);
        }
      }
    }
    for (std::uint32_t d = 0; d < flows_at.size(); ++d) {
      if (!flows_at[d].empty() && (busy_[d] || !holds_one_of_each(d))) {
        front.push_back(d);
      }
    }
    while (!front.empty()) {
      const std::uint32_t at = front.back();
      front.pop_back();
      for (const std::uint32_t f : std::exchange(flows_at[at], {})) {
        for (const std::uint32_t cable : ways_[f]) {
          front.push_back(network_.cables[cable].to);
        }
        drop(f);
      }
    }
  }

  /// Two packets of each cable that comes in stop nobody.
  [[nodiscard]] bool holds_one_of_each(std::uint32_t device) const {
    const Device& of = network_.devices[device];
    const std::int64_t most = 2 * scene_.payload * of.incoming;  // each flow is of one class
    return scene_.spec.threshold * static_cast<double>(shared_[device] - most) >=
           static_cast<double>(2 * scene_.payload);
  }

  const PacketScene& scene_;
  const PacketNetwork& network_;
  std::vector<std::vector<std::uint32_t>> ways_;  ///< by flow; empty: not lone
  std::vector<std::uint32_t> user_;               ///< of a cable: a flow, kMany, kNowhere
  std::vector<bool> busy_;                        ///< devices that others than lone flows pass
  std::vector<std::int64_t> shared_;              ///< of a switch's buffer, without headroom
  std::vector<bool> seen_;                        ///< [device x edges + edge], marked already
};

}  // namespace

LoneWays find_lone_flows(const PacketScene& scene) {
  return scene.may_lose ? LoneWays{} : LoneSearch(scene).find();
}

TrainTimes Train::send(const PacketScene& scene, const PacketFlow& flow, core::Tick now) {
  const Cable& first = scene.network.cables[way_.front()];
  const auto after = [&](core::Tick begin, std::int64_t bytes) {
    return begin + std::max(first.time_of(bytes), scene.gap_of(first));
  };
  core::Tick begin = std::max(now, free_at_.front());
  const core::Tick distance = after(0, scene.payload);
  for (std::uint32_t full = flow.packets - 1; full > 0; --full) {
    before_ = free_at_;
    follow(scene, begin, scene.payload);
    begin += distance;
    if (full < flow.packets - 1 && keeps(distance)) {
      const core::Tick more = static_cast<core::Tick>(full - 1) * distance;
      begin += more;
      for (core::Tick& free_at : free_at_) {
        free_at += more;
      }
      break;
    }
  }
  const TrainTimes times = follow(scene, begin, flow.last_bytes);
  free_at_.front() = after(begin, flow.last_bytes);
  return times;
}

/// Whether a packet left every cable as much later as it set out behind the one before: then so do
/// all that are like it.
bool Train::keeps(core::Tick distance) const {
  for (std::size_t i = 1; i < free_at_.size(); ++i) {
    if (free_at_[i] - before_[i] != distance) {
      return false;
    }
  }
  return true;
}

/// One packet over all cables, as PacketDevice::put_on and Forwarder::arrive have it.
TrainTimes Train::follow(const PacketScene& scene, core::Tick begin, std::int64_t bytes) {
  TrainTimes times;
  core::Tick at = begin;
  for (std::size_t i = 0; i < way_.size(); ++i) {
    const Cable& cable = scene.network.cables[way_[i]];
    times.last_device = at;
    if (i > 0) {
      const Cable& in = scene.network.cables[way_[i - 1]];
      at = std::max(scene.ready(at, in, cable, bytes), free_at_[i]);
    }
    const bool sends = scene.network.devices[cable.from].endpoint;
    free_at_[i] = at + std::max(cable.time_of(bytes), sends ? scene.gap_of(cable) : 0);
    at += scene.time_to_read(cable, bytes) + cable.latency;
  }
  times.received = at;
  return times;
}

}  // namespace headway::network
