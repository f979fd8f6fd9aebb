#include "sim/training/packets/time_by_packets.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "sim/core/digest.h"
#include "sim/core/text.h"
#include "sim/network/compared/calls_at_once.h"
#include "sim/training/step/step_clock.h"

namespace headway::training {

namespace {

using core::CollectiveKind;
using network::Algorithm;

/// Rounds of a ring that are run at least: the first ones fill it. Source: chosen.
constexpr std::int64_t kLeastRounds = 8;

/// The algorithm whose messages stand for those of a call. Trees over NVLink switches send what
/// trees of GPUs send between nodes; the messages of an exchange all set out at once, as those of
/// NCCL's grouped sends do.
Algorithm packet_algorithm(const CheckedScenario& checked, const CollectiveUse& use) {
  switch (use.call.kind) {
    case CollectiveKind::send_receive:
    case CollectiveKind::all_to_all:
      return Algorithm::direct;
    default:
      break;
  }
  switch (use.alone.algorithm) {
    case Algorithm::collnet:
      refuse(
          checked, "cluster.fabric.in_switch_reduction",
          fmt::format("the switches reduce what passes in '{}', and packets that are added up on "
                      "their way are not modelled: take --network fluid, or a fabric without "
                      "in_switch_reduction",
                      use.name));
    case Algorithm::tree:
    case Algorithm::nvls_tree:
      return use.call.kind == CollectiveKind::all_reduce ? Algorithm::tree : Algorithm::ring;
    case Algorithm::pat:
      return use.call.kind == CollectiveKind::all_reduce ? Algorithm::ring : Algorithm::pat;
    default:
      return Algorithm::ring;
  }
}

/// Members of every group of the step, by rank; of a message the sender, then the receiver.
std::vector<std::vector<core::GpuId>> members_of_groups(const RankLayout& layout,
                                                        const LoweredStep& lowered) {
  const network::Problem& problem = lowered.problem;
  std::vector<std::vector<core::GpuId>> members(problem.groups.size());
  for (std::size_t a = 0; a < problem.actors.size(); ++a) {
    const network::Actor& actor = problem.actors[a];
    const core::GpuId gpu = layout.gpu(core::Rank(static_cast<std::uint32_t>(a)));
    std::vector<bool> arrives(actor.groups.size());
    for (const network::ProgramStep& step : problem.programs[actor.program]) {
      if (step.code == network::StepCode::arrive) {
        arrives[step.slot] = true;
      }
    }
    for (std::size_t slot = 0; slot < actor.groups.size(); ++slot) {
      auto& of = members[actor.groups[slot]];
      // A sender that does not wait, or a receiver that sends nothing: who arrives sends.
      const bool sends = problem.groups[actor.groups[slot]].need == 1 && arrives[slot];
      if (std::find(of.begin(), of.end(), gpu) == of.end()) {
        of.insert(sends ? of.begin() : of.end(), gpu);
      }
    }
  }
  return members;
}

class StepByPackets {
 public:
  StepByPackets(const CheckedScenario& checked,
                const network::Fabric& fabric,
                const PacketsOfStep& asked,
                LoweredStep& lowered,
                const std::function<void()>& look)
      : checked_(checked),
        fabric_(fabric),
        lowered_(lowered),
        most_hops_(asked.most_hops),
        options_(options_of(checked.scenario(), asked)),
        cables_(fabric, options_.spec) {
    options_.look = look;
  }

  PacketStep run() {
    PacketStep step;
    step.transport = core::to_word(*options_.spec.transport);
    step.path_choice = core::to_word(*options_.spec.path_choice);
    const auto fluid = run_step(lowered_, {});
    step.fluid_step = core::Clock::step().to_seconds(fluid.end);
    step.fluid_link_bytes = fluid.link_bytes;
    const auto calls = calls_at_once();
    const auto several = static_cast<double>(std::count_if(
        calls.begin(), calls.end(), [](const auto& call) { return !call.groups.empty(); }));
    std::vector<double> times(calls.size(), 1);
    for (std::size_t use = 0; use < calls.size(); ++use) {
      if (!calls[use].groups.empty()) {
        step.collectives.push_back(sample(use, calls[use], most_hops_ / several, step));
        times[use] = step.collectives.back().times();
      }
    }
    stretch(times);
    return step;
  }

 private:
  static network::PacketOptions options_of(const Scenario& scenario, const PacketsOfStep& asked) {
    network::PacketOptions options;
    options.spec = network::packet_spec(scenario.cluster.fabric, asked.transport);
    options.seed = hash_seed(scenario);
    options.threads = asked.threads;
    return options;
  }

  /// Per entry of `collectives`: its call and all groups that make it; none inside one domain.
  std::vector<network::CallsAtOnce> calls_at_once() const {
    std::vector<network::CallsAtOnce> calls(lowered_.collectives.size());
    const auto members = members_of_groups(rank_layout(checked_), lowered_);
    std::vector<std::set<std::vector<core::GpuId>>> known(calls.size());
    for (std::size_t g = 0; g < members.size(); ++g) {
      const std::uint32_t use = lowered_.use_of_group[g];
      if (use >= calls.size() || lowered_.problem.groups[g].flows == 0 ||
          lowered_.collectives[use].shape.domains < 2) {
        continue;
      }
      HEADWAY_CHECK(members[g].size() > 1, "group {} of '{}' has {} members", g,
                    lowered_.collectives[use].name, members[g].size());
      if (known[use].insert(members[g]).second) {
        calls[use].groups.push_back(members[g]);
      }
    }
    for (std::size_t use = 0; use < calls.size(); ++use) {
      if (!calls[use].groups.empty()) {
        calls[use].call = lowered_.collectives[use].call;
        calls[use].call.algorithm = packet_algorithm(checked_, lowered_.collectives[use]);
      }
    }
    return calls;
  }

  network::PacketsAndFluid both(const network::CallsAtOnce& calls, PacketStep& step) {
    auto run = network::run_both(fabric_, cables_, calls, options_);
    step.counts.add(run.run.counts);
    step.event_digest = core::combine(step.event_digest, run.run.event_digest);
    return run;
  }

  PacketCollective sample(std::size_t use,
                          const network::CallsAtOnce& calls,
                          double most_hops,
                          PacketStep& step) {
    const CollectiveUse& of = lowered_.collectives[use];
    const core::Bytes payload = options_.spec.payload;
    PacketCollective result{of.name,
                            of.call.kind,
                            of.shape.ranks,
                            static_cast<int>(calls.groups.size()),
                            of.call.bytes,
                            of.call.bytes,
                            {},
                            {}};
    const double hops = network::expected_hops(calls, payload);
    // Two packets at least in each rank's part, and whole ones, so that half of it is whole too.
    const core::Bytes unit =
        payload * (of.call.kind == CollectiveKind::send_receive ? 2.0 : 2.0 * of.shape.ranks);
    const auto part_of = [&](double share) {
      const core::Bytes part =
          unit * std::max(1.0, std::floor(of.call.bytes * std::min(1.0, share) / unit));
      return std::min(part, of.call.bytes);
    };
    if (hops <= most_hops) {
      take(both(calls, step), 1, result);
    } else if (calls.call.algorithm == Algorithm::ring && rounds_of(calls) > kLeastRounds) {
      sample_rounds(calls, most_hops / hops, part_of, step, result);
    } else {
      sample_bytes(calls, part_of(most_hops / hops), step, result);
    }
    return result;
  }

  static std::int64_t rounds_of(const network::CallsAtOnce& calls) {
    return network::ring_rounds(calls.call.kind, calls.groups.front().size());
  }

  static void take(const network::PacketsAndFluid& run, double times, PacketCollective& result) {
    result.packets = run.packets * times;
    result.fluid = run.fluid * times;
  }

  /// From what a part took and what half of it took, what all of it takes, `halves` further on.
  static network::PacketsAndFluid line(const network::PacketsAndFluid& at,
                                       const network::PacketsAndFluid& at_half,
                                       double halves) {
    const auto on = [halves](core::Seconds part, core::Seconds half) {
      return part + std::max(core::Seconds(0), part - half) * halves;
    };
    return {on(at.packets, at_half.packets), on(at.fluid, at_half.fluid), {}};
  }

  /// A ring is the same round after round, so some of them speak for all, with messages of their
  /// own size: smaller ones would wait for latency alone. Where a few rounds have too many packets
  /// their messages are smaller all the same, and the time is taken in proportion.
  template <class PartOf>
  void sample_rounds(network::CallsAtOnce calls,
                     double share,
                     const PartOf& part_of,
                     PacketStep& step,
                     PacketCollective& result) {
    const std::int64_t all = rounds_of(calls);
    const auto affordable = static_cast<std::int64_t>(share * static_cast<double>(all));
    const std::int64_t rounds = std::max(kLeastRounds, affordable / 2 * 2);
    const double of_all = static_cast<double>(rounds) / static_cast<double>(all);
    calls.call.bytes = part_of(share / of_all);
    calls.most_rounds = rounds;
    const auto whole = both(calls, step);
    calls.most_rounds = rounds / 2;
    const auto half = both(calls, step);
    const double halves = 2 * (1 / of_all - 1);
    take(line(whole, half, halves), result.bytes / calls.call.bytes, result);
    result.simulated = calls.call.bytes * of_all;
  }

  void sample_bytes(network::CallsAtOnce calls,
                    core::Bytes part,
                    PacketStep& step,
                    PacketCollective& result) {
    calls.call.bytes = part;
    const auto whole = both(calls, step);
    if (part >= result.bytes) {
      take(whole, 1, result);
      return;
    }
    calls.call.bytes = part / 2;
    const auto half = both(calls, step);
    take(line(whole, half, (result.bytes - part) / (part / 2)), 1, result);
    result.simulated = part;
  }

  /// The bytes of each call take so many times as long.
  void stretch(const std::vector<double>& times) {
    for (std::size_t g = 0; g < lowered_.problem.groups.size(); ++g) {
      const auto& group = lowered_.problem.groups[g];
      const std::uint32_t use = lowered_.use_of_group[g];
      for (std::uint32_t f = 0; use < times.size() && f < group.flows; ++f) {
        auto& flow = lowered_.problem.flows[group.first_flow + f];
        // Whole bytes, so that folded and unfolded problems stay the same to the tick.
        flow.size = core::Bytes(std::round(flow.size.si() * times[use]));
      }
    }
  }

  const CheckedScenario& checked_;
  const network::Fabric& fabric_;
  LoweredStep& lowered_;
  double most_hops_;
  network::PacketOptions options_;
  network::PacketFabric cables_;
};

}  // namespace

void check_packets(const CheckedScenario& checked) {
  const ClusterSpec& cluster = checked.scenario().cluster;
  if (checked.gpus() > kMostPacketGpus) {
    refuse(checked, "cluster.nodes",
           fmt::format("packets of a step are simulated for at most {} GPUs, and this one has {}: "
                       "take a part of the cluster (cluster.nodes, parallelism), or --network "
                       "fluid",
                       core::count(kMostPacketGpus), core::count(checked.gpus())));
  }
  if (cluster.sites) {
    refuse(checked, "cluster.sites",
           "packets between sites are not modelled: take --network fluid, or one site");
  }
  if (cluster.occupancy) {
    refuse(checked, "cluster.occupancy",
           "packets of other jobs on the fabric are not modelled: take --network fluid, or leave "
           "'occupancy' out");
  }
}

PacketStep time_by_packets(const CheckedScenario& checked,
                           const network::Fabric& fabric,
                           const PacketsOfStep& asked,
                           LoweredStep& lowered,
                           const std::function<void()>& look) {
  return StepByPackets(checked, fabric, asked, lowered, look).run();
}

Assumption packets_assumption(const PacketStep& step) {
  const bool part = std::any_of(step.collectives.begin(), step.collectives.end(),
                                [](const auto& c) { return c.simulated < c.bytes; });
  return {
      "network", "packets (sampled per collective)",
      fmt::format(
          "transport {}, path by {}; each distinct collective between NVLink domains is "
          "run by packets once, by all groups that make it at once{}, and its bytes "
          "take as many times as long as fluid ones; different collectives at the same "
          "time share links as fluid flows; of hashed routing one draw, the interval has no "
          "others; all is training's traffic, of one class",
          step.transport, step.path_choice, part ? ", of long ones a part and half of it" : "")};
}

}  // namespace headway::training
