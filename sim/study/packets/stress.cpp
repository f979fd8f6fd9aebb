#include "sim/study/packets/stress.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/core/text.h"
#include "sim/network/compared/calls_at_once.h"
#include "sim/network/fabric/route.h"
#include "sim/network/flow/problem.h"
#include "sim/training/estimate.h"
#include "sim/training/step/lower.h"

namespace headway::study {

using namespace core::literals;

namespace {

using core::CollectiveKind;
using core::GpuId;

constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kMostGpus = 64;
constexpr std::uint32_t kIncast = 16;
constexpr std::array kSizes{64_KiB, 1_MiB, 4_MiB};
constexpr std::int64_t kRounds = 16;  ///< of a ring by several groups at once
constexpr double kArray = 16;         ///< of a collective / the size of a row
constexpr double kWrite = 4;          ///< of one GPU in a burst / the size of a row
/// GPUs that compute / GPUs that stand in for storage servers, a burst's fan-in.
constexpr std::size_t kClients = 15;

/// A message from one GPU to another at tick 0.
struct Shot {
  GpuId from, to;
};

/// Every so many GPUs of the fabric, so that all its leaves take part.
std::vector<GpuId> spread(const network::Fabric& fabric) {
  const std::uint32_t all = fabric.shape().gpus;
  const std::uint32_t count = std::min(all, kMostGpus);
  std::vector<GpuId> members;
  for (std::uint32_t i = 0; i < count; ++i) {
    members.emplace_back(static_cast<std::uint32_t>(std::uint64_t{i} * all / count));
  }
  return members;
}

/// These and their neighbours in the same nodes, as many groups as there are side by side.
std::vector<std::vector<GpuId>> side_by_side(const network::Fabric& fabric,
                                             const std::vector<GpuId>& members,
                                             std::uint32_t gpus_per_node) {
  const std::uint32_t apart = fabric.shape().gpus / static_cast<std::uint32_t>(members.size());
  std::vector<std::vector<GpuId>> groups;
  for (std::uint32_t g = 0; g < std::min(apart, gpus_per_node); ++g) {
    auto& group = groups.emplace_back();
    for (const GpuId member : members) {
      group.emplace_back(member.index() + g);
    }
  }
  return groups;
}

/// Everybody's turn in a random order that leaves nobody at home: the next in a shuffled circle.
/// @param group  each has an order of its own
std::vector<Shot> permutation(const std::vector<GpuId>& members, std::uint32_t group = 0) {
  std::vector<GpuId> circle = members;
  const core::RandomStream stream(kSeed, "stress permutation", group);
  for (std::size_t i = circle.size() - 1; i > 0; --i) {
    std::swap(circle[i], circle[stream.index(i, 0, i + 1)]);
  }
  std::vector<Shot> shots;
  for (std::size_t i = 0; i < circle.size(); ++i) {
    shots.push_back({circle[i], circle[(i + 1) % circle.size()]});
  }
  return shots;
}

/// The last half of the members, as many as an incast has, send to the first.
std::vector<Shot> incast(const std::vector<GpuId>& members) {
  const std::size_t senders = std::min<std::size_t>(kIncast, members.size() / 2);
  std::vector<Shot> shots;
  for (std::size_t i = 0; i < senders; ++i) {
    shots.push_back({members[members.size() - 1 - i], members[0]});
  }
  return shots;
}

using Count = std::function<void(std::size_t done, std::size_t total)>;

class Stress {
 public:
  Stress(const Machine& machine,
         const network::Fabric& fabric,
         std::optional<network::Transport> transport)
      : fabric_(fabric),
        packets_(machine.cluster, fabric, transport),
        members_(spread(fabric)),
        groups_(
            side_by_side(fabric, members_, static_cast<std::uint32_t>(machine.cluster.node.gpus))),
        report_{machine,
                std::string(core::to_word(*packets_.options().spec.transport)),
                std::string(core::to_word(*packets_.options().spec.path_choice)),
                static_cast<int>(members_.size()),
                {}} {
    if (members_.size() < 4) {
      throw core::Error(
          fmt::format("a stress needs at least 4 GPUs, and the machine '{}' has {}: take --nodes",
                      machine.name, members_.size()));
    }
    report_.machine.assumptions.push_back(packets_.words());
  }

  /// @param storage  also writes beside gradients
  StressReport run(bool storage, const Count& count) {
    const std::size_t kinds = 5U + (groups_.size() > 1 ? 3U : 0U) + (storage ? 1U : 0U);
    const std::size_t total = kSizes.size() * kinds;
    auto done = [&count, total, n = std::size_t{0}]() mutable {
      if (count) {
        count(++n, total);
      }
    };
    for (const core::Bytes size : kSizes) {
      add_collective(Traffic::all_reduce, CollectiveKind::all_reduce, size);
      done();
      add_collective(Traffic::all_to_all, CollectiveKind::all_to_all, size);
      done();
      add_shots(Traffic::permutation, size, permutation(members_));
      done();
      auto shots = incast(members_);
      add_shots(Traffic::incast, size, shots);
      done();
      // One more sender, to the idle neighbour of the one receiver: of four GPUs one that sends
      // to both.
      shots.push_back({members_[std::max<std::size_t>(2, members_.size() / 2 - 1)], members_[1]});
      add_shots(Traffic::bystander, size, shots);
      done();
      if (groups_.size() > 1) {
        add_groups(Traffic::all_reduce, CollectiveKind::all_reduce, size);
        done();
        add_groups(Traffic::all_to_all, CollectiveKind::all_to_all, size);
        done();
        add_permutations(size);
        done();
      }
      if (storage) {
        add_burst(size);
        done();
      }
    }
    if (storage) {
      report_.machine.assumptions.push_back(fmt::format(
          "storage: {} of the GPUs stand in for servers, on the fabric, and take no part in the "
          "all_reduce beside it",
          servers()));
    }
    return std::move(report_);
  }

 private:
  static network::CollectiveCall call_of(CollectiveKind kind, core::Bytes size) {
    // An all-to-all in rounds would measure how its rounds drift apart more than the network.
    const auto algorithm = kind == CollectiveKind::all_to_all ? network::Algorithm::direct
                                                              : network::usual_algorithm(kind);
    return {kind, size * kArray, algorithm, {}};
  }

  void add_collective(Traffic traffic, CollectiveKind kind, core::Bytes size) {
    const network::CollectiveCall call = call_of(kind, size);
    const auto run = packets_.run(call, members_, {});
    const auto fluid = network::stepped_time(fabric_, call, members_);
    report_.rows.push_back({traffic, 1, size, run.time.total, fluid.total, run.figures});
  }

  [[nodiscard]] int groups() const { return static_cast<int>(groups_.size()); }

  /// The same collective by all groups at once. A ring is the same round after round: of its rounds
  /// some are run, and their time is taken as many times.
  void add_groups(Traffic traffic, CollectiveKind kind, core::Bytes size) {
    network::CallsAtOnce calls{call_of(kind, size), groups_};
    double times = 1;
    if (calls.call.algorithm == network::Algorithm::ring) {
      const std::int64_t all = network::ring_rounds(kind, members_.size());
      calls.most_rounds = std::min(all, kRounds);
      times = static_cast<double>(all) / static_cast<double>(calls.most_rounds);
    }
    const auto both = network::run_both(fabric_, packets_.cables(), calls, packets_.options());
    report_.rows.push_back(
        {traffic, groups(), size, both.packets * times, both.fluid * times, figures(both.run)});
  }

  /// A permutation of each group, all at once.
  void add_permutations(core::Bytes size) {
    std::vector<Shot> shots;
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      const auto more = permutation(groups_[g], g);
      shots.insert(shots.end(), more.begin(), more.end());
    }
    add_shots(Traffic::permutation, size, shots, groups());
  }

  /// All at once. Of a bystander the time is that of the last shot, of the others that of all.
  void add_shots(Traffic traffic,
                 core::Bytes size,
                 const std::vector<Shot>& shots,
                 int groups = 1) {
    network::PacketTraffic flows;
    add_flows(size, shots, flows);
    const auto result =
        network::run_packets(packets_.cables().network(), flows, packets_.options());
    const bool one = traffic == Traffic::bystander;
    const core::Tick end = one ? result.flow_end.back() : result.end;
    network::LinkNumbers numbers(fabric_);
    const auto fluid = fluid_ends(size, shots, numbers, {});
    report_.rows.push_back({traffic, groups, size, core::Clock::step().to_seconds(end),
                            core::Clock::step().to_seconds(
                                one ? fluid.back() : *std::max_element(fluid.begin(), fluid.end())),
                            figures(result)});
  }

  [[nodiscard]] PacketFigures figures(const network::PacketResult& result) const {
    return packet_figures(result, packets_.cables().network(), *packets_.options().spec.transport);
  }

  [[nodiscard]] std::size_t servers() const {
    return (members_.size() + kClients) / (kClients + 1);
  }

  /// A ring of those that are no servers, and a write of each to a server, all from tick 0.
  void add_burst(core::Bytes size) {
    const std::vector<GpuId> ring(members_.begin(),
                                  members_.end() - static_cast<std::ptrdiff_t>(servers()));
    std::vector<Shot> shots;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      shots.push_back({ring[i], members_[ring.size() + i % servers()]});
    }
    const network::CollectiveCall call{
        CollectiveKind::all_reduce, size * kArray, network::Algorithm::ring, {}};
    network::SteppedOptions stepped;
    stepped.ways = true;
    const auto& spec = packets_.options().spec;
    network::PacketTraffic flows;
    network::append_traffic(packets_.cables(),
                            network::step_collective(fabric_, call, ring, stepped), ring,
                            static_cast<std::int64_t>(spec.payload.si()), flows);
    const std::size_t writes = flows.flows.size();
    add_flows(size * kWrite, shots, flows);
    for (std::size_t f = 0; f < flows.flows.size(); ++f) {
      flows.flows[f].traffic_class = network::class_of(
          spec, f < writes ? network::TrafficKind::training : network::TrafficKind::storage);
    }
    const auto result =
        network::run_packets(packets_.cables().network(), flows, packets_.options());
    network::Problem problem;
    network::LinkNumbers numbers(fabric_);
    network::append_problem(network::step_collective(fabric_, call, ring), numbers, problem);
    const std::size_t ranks = problem.actors.size();
    const auto fluid = fluid_ends(size * kWrite, shots, numbers, std::move(problem));
    const auto add = [&](Traffic traffic, const auto& packet_ends, std::size_t from, std::size_t to,
                         std::size_t fluid_from, std::size_t fluid_to) {
      const auto last = [](const std::vector<core::Tick>& ends, std::size_t a, std::size_t b) {
        return core::Clock::step().to_seconds(
            *std::max_element(ends.begin() + static_cast<std::ptrdiff_t>(a),
                              ends.begin() + static_cast<std::ptrdiff_t>(b)));
      };
      report_.rows.push_back({traffic, 1, size, last(packet_ends, from, to),
                              last(fluid, fluid_from, fluid_to), figures(result)});
    };
    add(Traffic::gradients, result.flow_end, 0, writes, 0, ranks);
    add(Traffic::storage, result.flow_end, writes, result.flow_end.size(), ranks, fluid.size());
  }

  void add_flows(core::Bytes size,
                 const std::vector<Shot>& shots,
                 network::PacketTraffic& flows) const {
    for (const Shot& shot : shots) {
      flows.add_flow(packets_.cables().network(),
                     packets_.cables().legs(network::route(fabric_, shot.from, shot.to)),
                     static_cast<std::int64_t>(size.si()),
                     static_cast<std::int64_t>(packets_.options().spec.payload.si()), 1);
    }
  }

  /// When each actor of the problem is done, one a shot behind those that are there.
  [[nodiscard]] std::vector<core::Tick> fluid_ends(core::Bytes size,
                                                   const std::vector<Shot>& shots,
                                                   network::LinkNumbers& numbers,
                                                   network::Problem problem) const {
    const auto program = static_cast<std::uint32_t>(problem.programs.size());
    problem.programs.push_back({{network::StepCode::arrive}, {network::StepCode::wait}});
    for (const Shot& shot : shots) {
      const network::Route way = network::route(fabric_, shot.from, shot.to);
      network::Transfer transfer;
      network::Flow flow;
      flow.size = size;
      flow.latency = core::Clock::step().to_ticks(way.latency);
      for (const network::RouteHop& hop : way.hops) {
        transfer.uses.push_back({hop.link.index(), hop.coefficient});
      }
      flow.uses = static_cast<std::uint32_t>(transfer.uses.size());
      transfer.flows = {flow};
      network::Actor actor;
      actor.program = program;
      actor.groups = {network::append(transfer, 1, core::Activity::data, 0, numbers, problem)};
      problem.actors.push_back(actor);
    }
    network::RunOptions how;
    how.fold = false;
    return network::run(problem, how).actor_end;
  }

  const network::Fabric& fabric_;
  PacketNetworkOf packets_;
  std::vector<GpuId> members_;              ///< the first group
  std::vector<std::vector<GpuId>> groups_;  ///< all of them, in the same nodes
  StressReport report_;
};

constexpr double kWithinTenth = 0.09531;  ///< the logarithm of 1.1

/// How far off, whichever way: twice as long is as far as half as long.
double distance(const StressRow& row) { return std::abs(std::log(row.times())); }

const StressRow* worst(const StressReport& report) {
  const auto place =
      std::max_element(report.rows.begin(), report.rows.end(),
                       [](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return place == report.rows.end() ? nullptr : &*place;
}

std::string size_of(core::Bytes size) {
  return size >= 1_MiB ? fmt::format("{} MiB", core::number(size / 1_MiB))
                       : fmt::format("{} KiB", core::number(size / 1_KiB));
}

std::string miss(const StressReport& report, const StressRow& row) {
  const bool near = distance(row) <= kWithinTenth;
  return fmt::format("{} of {}{}: packets take {} times as long under {}{}",
                     core::to_word(row.traffic), size_of(row.message),
                     row.groups > 1 ? fmt::format(" by {} groups at once", row.groups) : "",
                     core::number(row.times()), report.transport,
                     near              ? ""
                     : row.times() > 1 ? ", so fluid flows are too fast"
                                       : ", so fluid flows are too slow");
}

}  // namespace

std::string stress_sentence(const StressReport& report) {
  const StressRow* row = worst(report);
  if (row == nullptr) {
    return "Nothing was run.";
  }
  if (distance(*row) <= kWithinTenth) {
    return "Packets are within 10 % of fluid flows under every traffic.";
  }
  return fmt::format("Fluid flows are farthest off for {}.", miss(report, *row));
}

StressReport stress(const Machine& machine,
                    const network::Fabric& fabric,
                    std::optional<network::Transport> transport,
                    const Count& count) {
  return Stress(machine, fabric, transport).run(true, count);
}

std::string flow_model_sentence(const FlowModelReport& report) {
  std::size_t rows = 0;
  std::size_t near = 0;
  const StressReport* of = nullptr;
  for (const StressReport& fabric : report.fabrics) {
    rows += fabric.rows.size();
    near += static_cast<std::size_t>(
        std::count_if(fabric.rows.begin(), fabric.rows.end(),
                      [](const auto& row) { return row.times() > 0.9 && row.times() < 1.1; }));
    if (of == nullptr || distance(*worst(fabric)) > distance(*worst(*of))) {
      of = &fabric;
    }
  }
  if (of == nullptr) {
    return "Nothing was run.";
  }
  return fmt::format(
      "Fluid flows are within 10 % of packets in {} of {} cases; farthest off on {} for {}.", near,
      rows, of->machine.cluster.fabric.name, miss(*of, *worst(*of)));
}

FlowModelReport validate_flow_model(const std::string& only, const config::LoadOptions& options) {
  // Two groups of leaves of the usual 32 nodes each.
  const MachineOptions how{64, "", ""};
  FlowModelReport report{{}, {{validation::catalogue_input(options.roots)}, kSeed}};
  for (const auto& entry : config::list_entries("fabrics", options.roots)) {
    const auto machine = load_machine(entry.name, how, options);
    if (!entry.name.starts_with(only) && !machine.name.starts_with(only)) {
      continue;
    }
    const network::Fabric fabric = training::build_fabric(machine.cluster);
    report.fabrics.push_back(Stress(machine, fabric, {}).run(false, {}));
  }
  if (report.fabrics.empty()) {
    throw core::Error(
        fmt::format("no fabric of the catalogue has a name that begins with '{}'", only));
  }
  return report;
}

}  // namespace headway::study
