#include "sim/network/compared/calls_at_once.h"

#include <cmath>
#include <utility>

#include "sim/core/error.h"
#include "sim/network/collective/collective_flows.h"

namespace headway::network {

namespace {

/// Cables of a way between two pods. Source: leaf, spine and back.
constexpr double kUsualCables = 4;

}  // namespace

void append_problem(const SteppedCollective& stepped, LinkNumbers& numbers, Problem& whole) {
  const Problem& part = stepped.problem;
  const auto first_program = static_cast<std::uint32_t>(whole.programs.size());
  const auto first_group = static_cast<std::uint32_t>(whole.groups.size());
  const auto first_flow = static_cast<std::uint32_t>(whole.flows.size());
  const auto first_use = static_cast<std::uint32_t>(whole.uses.size());
  HEADWAY_CHECK(part.coefficient_unit == whole.coefficient_unit || whole.flows.empty(),
                "coefficient units {} and {}", part.coefficient_unit, whole.coefficient_unit);
  whole.coefficient_unit = part.coefficient_unit;
  whole.programs.insert(whole.programs.end(), part.programs.begin(), part.programs.end());
  for (Actor actor : part.actors) {
    actor.program += first_program;
    for (std::uint32_t& group : actor.groups) {
      group += first_group;
    }
    whole.actors.push_back(std::move(actor));
  }
  for (TransferGroup group : part.groups) {
    group.first_flow += first_flow;
    whole.groups.push_back(group);
  }
  for (Flow flow : part.flows) {
    flow.group += first_group;
    flow.first_use += first_use;
    whole.flows.push_back(flow);
  }
  for (FlowOnLink use : part.uses) {
    use.link = numbers.number(stepped.links[use.link], whole);
    whole.uses.push_back(use);
  }
}

double expected_hops(const CallsAtOnce& calls, core::Bytes payload) {
  const bool message = calls.call.kind == core::CollectiveKind::send_receive;
  const double times = calls.call.kind == core::CollectiveKind::all_reduce ? 2 : 1;
  double hops = 0;
  for (const auto& members : calls.groups) {
    const double senders = message ? 1 : static_cast<double>(members.size());
    hops += times * senders * std::ceil(calls.call.bytes / payload) * kUsualCables;
  }
  return hops;
}

PacketsAndFluid run_both(const Fabric& fabric,
                         const PacketFabric& cables,
                         const CallsAtOnce& calls,
                         const PacketOptions& options) {
  HEADWAY_CHECK(!calls.call.algorithm || !reduces_in_switches(*calls.call.algorithm),
                "{} reduces in switches", core::to_word(*calls.call.algorithm));
  const std::int64_t payload = std::llround(options.spec.payload.si());
  PacketTraffic traffic;
  Problem problem;
  LinkNumbers numbers(fabric);
  SteppedOptions stepped;
  stepped.most_rounds = calls.most_rounds;
  for (const auto& members : calls.groups) {
    stepped.label = members.front().index();
    stepped.ways = true;
    append_traffic(cables, step_collective(fabric, calls.call, members, stepped), members, payload,
                   traffic);
    stepped.ways = false;
    append_problem(step_collective(fabric, calls.call, members, stepped), numbers, problem);
  }
  if (traffic.flows.empty()) {
    return {};
  }
  PacketResult packets = run_packets(cables.network(), traffic, options);
  const core::Clock clock = core::Clock::step();
  const core::Seconds end = clock.to_seconds(packets.end);
  return {end, clock.to_seconds(run(problem, {}).end), std::move(packets)};
}

}  // namespace headway::network
