#include "sim/network/packet/packet_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "sim/core/engine/engine.h"
#include "sim/core/error.h"
#include "sim/core/tick.h"
#include "sim/network/packet/endpoint.h"
#include "sim/network/packet/forwarder.h"

namespace headway::network {

void PacketCounts::add(const PacketCounts& other) {
  packets += other.packets;
  hops += other.hops;
  marks += other.marks;
  drops += other.drops;
  trims += other.trims;
  pauses += other.pauses;
  stalls += other.stalls;
  repeats += other.repeats;
  timeouts += other.timeouts;
  notices += other.notices;
  note_depth(other.deepest_cable, other.deepest);
}

namespace {

/// All devices of one run, and the engine that runs them.
class PacketRun {
 public:
  PacketRun(const PacketNetwork& network,
            const PacketTraffic& traffic,
            const PacketOptions& options)
      : network_(network),
        traffic_(traffic),
        scene_{network, traffic, options.spec},
        devices_(network.devices.size()) {
    HEADWAY_CHECK(options.spec.transport && options.spec.path_choice, "no transport was chosen");
    fill_scene(options);
    if (options.trains) {
      scene_.lone = find_lone_flows(scene_);
    }
    build_devices();
    check_buffers();
  }

  PacketResult run(const PacketOptions& options) {
    // A device alone has a short queue and its state at hand; the builders number neighbours side
    // by side, so a group of them has most of its messages to itself.
    core::Engine engine({options.threads, options.partitions, {}, options.look});
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      engine.add({"device", d}, *devices_[d]);
    }
    core::Tick lookahead = core::kEndOfTime;
    for (const Cable& cable : network_.cables) {
      lookahead = std::min(lookahead, cable.latency);
    }
    engine.connect({"device"}, {"device"}, lookahead);
    const core::RunSummary summary = engine.run();
    PacketResult result;
    result.events = summary.events;
    result.event_digest = summary.event_digest;
    result.flow_end.resize(traffic_.flows.size());
    result.cable_bytes.resize(network_.cables.size());
    bool done = true;
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      result.counts.add(devices_[d]->counts());
      const Device& device = network_.devices[d];
      for (std::uint32_t c = 0; c < device.cables; ++c) {
        result.cable_bytes[device.first_cable + c] =
            devices_[d]->ports()[std::size_t{c} * scene_.classes.count].sent;
      }
      done = take_endpoint(d, result) && done;
    }
    if (!done) {
      refuse_standstill();
    }
    add_trains(result);
    return result;
  }

 private:
  /// What trains carried past the devices on their ways.
  void add_trains(PacketResult& result) const {
    for (std::uint32_t f = 0; f < traffic_.flows.size(); ++f) {
      const PacketFlow& flow = traffic_.flows[f];
      const auto way = scene_.lone.of(f);
      const std::int64_t messages = way.empty() ? 0 : endpoint(flow.from)->messages_of(f);
      if (messages == 0) {
        continue;
      }
      const std::int64_t full = messages * (std::int64_t{flow.packets} - 1);
      result.counts.packets += static_cast<std::uint64_t>(full + messages);
      result.counts.hops += static_cast<std::uint64_t>(full + messages) * way.size();
      for (const std::uint32_t cable : way) {
        result.cable_bytes[cable] += full * scene_.payload + messages * flow.last_bytes;
        if (!network_.devices[network_.cables[cable].from].endpoint) {
          result.counts.note_depth(cable, full > 0 ? scene_.payload : flow.last_bytes);
        }
      }
    }
  }

  [[nodiscard]] const Endpoint* endpoint(std::uint32_t device) const {
    return dynamic_cast<const Endpoint*>(devices_[device].get());
  }

  void fill_scene(const PacketOptions& options) {
    scene_.transport = *options.spec.transport;
    scene_.choice = *options.spec.path_choice;
    scene_.seed = options.seed;
    scene_.payload = std::llround(options.spec.payload.si());
    fill_classes(options.spec);
    constexpr core::Clock clock = core::Clock::step();
    scene_.card_gap = std::llround(clock.ticks_per_second() / options.spec.packets_per_second);
    scene_.store = options.spec.switching == Switching::store_and_forward;
    scene_.may_lose = scene_.transport == Transport::swift ||
                      scene_.transport == Transport::dctcp ||
                      scene_.transport == Transport::receiver;
    scene_.times = {clock.to_ticks(options.spec.flowlet_gap),
                    clock.to_ticks(options.spec.delay_target),
                    clock.to_ticks(options.spec.timeout)};
    scene_.may_overtake = scene_.choice == PathChoice::packet || scene_.choice == PathChoice::queue;
  }

  /// Several classes are of use only to flows of several.
  void fill_classes(const PacketSpec& spec) {
    const auto& flows = traffic_.flows;
    if (std::all_of(flows.begin(), flows.end(), [&](const PacketFlow& flow) {
          return flow.traffic_class == flows.front().traffic_class;
        })) {
      return;
    }
    TrafficClasses& classes = scene_.classes;
    classes.count = static_cast<std::uint32_t>(spec.classes.size());
    for (const PacketFlow& flow : flows) {
      HEADWAY_CHECK(flow.traffic_class < classes.count, "class {} of {}", flow.traffic_class,
                    classes.count);
    }
    for (const TrafficClassSpec& one : spec.classes) {
      classes.priority.push_back(one.priority);
      classes.per_byte.push_back(
          std::llround(static_cast<double>(TrafficClasses::kUnit) / one.weight));
    }
  }

  void build_devices() {
    std::vector<std::vector<std::uint32_t>> sends(devices_.size()), receives(devices_.size()),
        incoming(devices_.size());
    for (std::uint32_t f = 0; f < traffic_.flows.size(); ++f) {
      scene_.sender_number.push_back(
          static_cast<std::uint32_t>(sends[traffic_.flows[f].from].size()));
      scene_.receiver_number.push_back(
          static_cast<std::uint32_t>(receives[traffic_.flows[f].to].size()));
      sends[traffic_.flows[f].from].push_back(f);
      receives[traffic_.flows[f].to].push_back(f);
    }
    for (std::uint32_t c = 0; c < network_.cables.size(); ++c) {
      incoming[network_.cables[c].to].push_back(c);
    }
    scene_.sender_waits.resize(traffic_.flows.size());
    received_ = receives;
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      if (!network_.devices[d].endpoint) {
        devices_[d] = std::make_unique<Forwarder>(scene_, d, incoming[d]);
        continue;
      }
      auto endpoint = std::make_unique<Endpoint>(scene_, d, sends[d], receives[d]);
      for (const std::uint32_t f : sends[d]) {
        scene_.sender_waits[f] = endpoint->actors().waits_for(f);
      }
      devices_[d] = std::move(endpoint);
    }
  }

  /// A shared buffer must hold the headroom of all its ports and something to share.
  void check_buffers() const {
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      const auto* forwarder = dynamic_cast<const Forwarder*>(devices_[d].get());
      if (forwarder != nullptr && pauses(d) &&
          forwarder->shared() <
              2 * scene_.payload * network_.devices[d].incoming * scene_.classes.count) {
        throw core::Error(
            fmt::format("{}: {} bytes of buffer do not suffice for pauses: {} bytes are headroom "
                        "for what comes "
                        "after a stop, and two packets a port must be left: raise "
                        "fabric.packets.buffer_per_port",
                        network_.devices[d].name, network_.devices[d].buffer,
                        network_.devices[d].buffer - forwarder->shared()));
      }
    }
  }

  [[nodiscard]] bool pauses(std::uint32_t device) const {
    const Device& of = network_.devices[device];
    return of.cables > 0 && network_.cables[of.first_cable].guard == Guard::pause;
  }

  /// @returns whether all that was to happen there has
  bool take_endpoint(std::uint32_t device, PacketResult& result) const {
    const Endpoint* of = endpoint(device);
    if (of == nullptr) {
      return true;
    }
    const core::Tick actors = of->actors().end();
    bool done = actors >= 0;
    result.end = std::max(result.end, actors);
    const auto ends = of->ends();
    for (std::size_t i = 0; i < ends.size(); ++i) {
      done = done && ends[i] >= 0;
      result.flow_end[received_[device][i]] = ends[i];
      result.end = std::max(result.end, ends[i]);
    }
    return done;
  }

  /// Nothing happens any more, and not all is done: a circle of cables that wait for one another,
  /// or a message that nobody sends.
  [[noreturn]] void refuse_standstill() const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> waits_for;
    for (const auto& device : devices_) {
      for (const BlockedCable& blocked : device->blocked()) {
        for (const std::uint32_t before : blocked.came_by) {
          waits_for[before].push_back(blocked.cable);
        }
      }
    }
    for (const auto& [start, unused] : waits_for) {
      const auto circle = circle_from(start, waits_for);
      if (!circle.empty()) {
        throw core::Error(deadlock_text(circle));
      }
    }
    for (const auto& device : devices_) {
      const auto* endpoint = dynamic_cast<const Endpoint*>(device.get());
      HEADWAY_CHECK(endpoint == nullptr || endpoint->actors().end() >= 0,
                    "actor {} waits for a message that nobody sends",
                    endpoint->actors().first_unfinished());
    }
    HEADWAY_CHECK(false, "flows did not end");
    std::terminate();
  }

  using Waits = std::map<std::uint32_t, std::vector<std::uint32_t>>;

  /// Cables from `start` round to it again; empty: there is no such way.
  static std::vector<std::uint32_t> circle_from(std::uint32_t start, const Waits& waits) {
    std::map<std::uint32_t, std::uint32_t> came_from;
    std::vector<std::uint32_t> front{start};
    for (std::size_t i = 0; i < front.size(); ++i) {
      const auto place = waits.find(front[i]);
      if (place == waits.end()) {
        continue;
      }
      for (const std::uint32_t next : place->second) {
        if (next == start) {
          std::vector<std::uint32_t> circle{front[i]};
          while (circle.back() != start) {
            circle.push_back(came_from.at(circle.back()));
          }
          std::reverse(circle.begin(), circle.end());
          return circle;
        }
        if (came_from.try_emplace(next, front[i]).second) {
          front.push_back(next);
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::string deadlock_text(const std::vector<std::uint32_t>& circle) const {
    std::string way;
    for (const std::uint32_t c : circle) {
      way += network_.devices[network_.cables[c].from].name + " -> ";
    }
    way += network_.devices[network_.cables[circle.front()].from].name;
    return fmt::format(
        "deadlock: packets wait for one another in a circle, {} ({}): take routes without circles, "
        "or a transport that drops",
        way, core::to_word(scene_.transport));
  }

  const PacketNetwork& network_;
  const PacketTraffic& traffic_;
  PacketScene scene_;
  std::vector<std::unique_ptr<PacketDevice>> devices_;
  std::vector<std::vector<std::uint32_t>> received_;  ///< by device: flows
};

}  // namespace

PacketResult run_packets(const PacketNetwork& network,
                         const PacketTraffic& traffic,
                         const PacketOptions& options) {
  return PacketRun(network, traffic, options).run(options);
}

}  // namespace headway::network
