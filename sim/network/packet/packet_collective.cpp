#include "sim/network/packet/packet_collective.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::network {

bool reduces_in_switches(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree ||
         algorithm == Algorithm::collnet;
}

namespace {

/// Where an actor runs: where what it sends begins, or what it waits for ends.
std::uint32_t endpoint_of(const Actor& actor,
                          const Program& program,
                          const Problem& problem,
                          const std::vector<PacketFlow>& flows) {
  for (const StepCode code : {StepCode::arrive, StepCode::wait}) {
    for (const ProgramStep& step : program) {
      if (step.code == code) {
        const TransferGroup& group = problem.groups[actor.groups[step.slot]];
        if (group.flows == 1) {
          const PacketFlow& flow = flows[group.first_flow];
          return code == StepCode::arrive ? flow.from : flow.to;
        }
      }
    }
  }
  return kNowhere;
}

/// The flows that begin or end at each endpoint.
class FlowsAt {
 public:
  explicit FlowsAt(const std::vector<PacketFlow>& flows) {
    for (std::uint32_t f = 0; f < flows.size(); ++f) {
      note(flows[f].from, f);
      note(flows[f].to, f);
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> among(std::uint32_t endpoint,
                                                 const TransferGroup& group) const {
    if (endpoint >= at_.size()) {
      return {};
    }
    const auto& all = at_[endpoint];
    return {std::lower_bound(all.begin(), all.end(), group.first_flow),
            std::lower_bound(all.begin(), all.end(), group.first_flow + group.flows)};
  }

 private:
  void note(std::uint32_t endpoint, std::uint32_t flow) {
    at_.resize(std::max<std::size_t>(at_.size(), endpoint + std::size_t{1}));
    at_[endpoint].push_back(flow);
  }
  std::vector<std::vector<std::uint32_t>> at_;
};

}  // namespace

void append_traffic(const PacketFabric& fabric,
                    const SteppedCollective& stepped,
                    std::span<const core::GpuId> members,
                    std::int64_t payload,
                    PacketTraffic& traffic) {
  const Problem& problem = stepped.problem;
  HEADWAY_CHECK(stepped.ways.size() == problem.flows.size(), "{} ways of {} flows",
                stepped.ways.size(), problem.flows.size());
  const auto first_flow = static_cast<std::uint32_t>(traffic.flows.size());
  const auto first_program = static_cast<std::uint32_t>(traffic.programs.size());
  for (std::size_t f = 0; f < problem.flows.size(); ++f) {
    const auto bytes = static_cast<std::int64_t>(std::ceil(problem.flows[f].size.si() - 1e-6));
    traffic.add_flow(fabric.network(), fabric.legs(stepped.ways[f]),
                     std::max<std::int64_t>(1, bytes), payload, 0);
  }
  traffic.programs.insert(traffic.programs.end(), problem.programs.begin(), problem.programs.end());
  const std::vector<PacketFlow> flows(traffic.flows.begin() + first_flow, traffic.flows.end());
  const FlowsAt flows_at(flows);
  for (std::size_t a = 0; a < problem.actors.size(); ++a) {
    const Actor& actor = problem.actors[a];
    HEADWAY_CHECK(actor.slowdown_ppm == 0, "actor {} is slow", a);
    PacketActor packet;
    packet.program = first_program + actor.program;
    packet.endpoint = a < members.size()
                          ? members[a].index()
                          : endpoint_of(actor, problem.programs[actor.program], problem, flows);
    for (const std::uint32_t group : actor.groups) {
      packet.slots.push_back(flows_at.among(packet.endpoint, problem.groups[group]));
      for (std::uint32_t& flow : packet.slots.back()) {
        flow += first_flow;
      }
    }
    traffic.actors.push_back(std::move(packet));
  }
}

PacketTraffic packet_traffic(const PacketFabric& fabric,
                             const SteppedCollective& stepped,
                             std::span<const core::GpuId> members,
                             std::int64_t payload) {
  PacketTraffic traffic;
  append_traffic(fabric, stepped, members, payload, traffic);
  return traffic;
}

PacketResult run_packet_collective(const Fabric& fabric,
                                   const PacketFabric& cables,
                                   const CollectiveCall& call,
                                   std::span<const core::GpuId> members,
                                   const SteppedOptions& stepped,
                                   const PacketOptions& options) {
  if (call.algorithm && reduces_in_switches(*call.algorithm)) {
    const auto algorithm = core::to_word(*call.algorithm);
    const bool one_array = call.kind == core::CollectiveKind::all_reduce;
    throw core::Error(fmt::format(
        "{} by the {} algorithm has no packets here: its switches reduce what passes; take "
        "--granularity {}",
        core::to_word(call.kind), algorithm,
        one_array ? fmt::format("stepped:{}", algorithm) : "fluid"));
  }
  SteppedOptions with_ways = stepped;
  with_ways.ways = true;
  const auto messages = step_collective(fabric, call, members, with_ways);
  const auto payload = std::llround(options.spec.payload.si());
  return run_packets(cables.network(), packet_traffic(cables, messages, members, payload), options);
}

}  // namespace headway::network
