#include "sim/network/collective/collective_alone.h"

#include <set>

namespace headway::network {
namespace {

/// A flow alone goes at the rate that its slowest link gives it: of links with one capacity and one
/// coefficient, one speaks for all.
void keep_different_links(const Fabric& fabric, Footprint& footprint) {
  std::set<std::pair<double, std::uint32_t>> known;
  std::vector<FlowOnLink> kept;
  for (const FlowOnLink& use : footprint.uses) {
    const double capacity = fabric.link(core::LinkId(use.link)).capacity.si();
    if (known.emplace(capacity, use.coefficient).second) {
      kept.push_back(use);
    }
  }
  footprint.uses = std::move(kept);
}

/// Runs a problem of this transfer alone.
core::Seconds run_alone(const Fabric& fabric, const Transfer& transfer, const core::Clock& clock) {
  Problem problem;
  LinkNumbers numbers(fabric);
  problem.programs.push_back({{StepCode::arrive}, {StepCode::wait}});
  Actor actor;
  actor.groups = {append(transfer, 1, core::Activity::data, 0, numbers, problem)};
  problem.actors.push_back(std::move(actor));
  return clock.to_seconds(run(problem, {}).end);
}

}  // namespace

GroupOnFabric::GroupOnFabric(const Fabric& fabric,
                             std::vector<core::GpuId> members,
                             const NetworkParameters& machine,
                             std::span<const CollectiveCurve> curves)
    : fabric_(fabric),
      members_(std::move(members)),
      machine_(machine),
      curves_(curves),
      shape_(group_shape(fabric, members_)) {}

TimeOnFabric GroupOnFabric::time(const CollectiveCall& call) {
  const auto clock = core::Clock::step();
  TimeOnFabric on_fabric{collective_time(call, shape_, machine_, curves_), {}, {}};
  on_fabric.alone = on_fabric.time.total;
  if (members_.size() < 2 || on_fabric.alone.si() <= 0) {
    return on_fabric;
  }
  const auto [place, fresh] =
      footprints_.try_emplace(std::pair{call.kind, on_fabric.time.algorithm});
  if (fresh) {
    place->second = footprint(fabric_, call, members_, on_fabric.time);
    keep_different_links(fabric_, place->second);
  }
  const auto transfer = emit_collective(fabric_, call, place->second, on_fabric.time, clock);
  if (transfer.flows.empty()) {
    return on_fabric;
  }
  // To the tick, so that a time that nothing stretches keeps its bits.
  const core::Seconds run = run_alone(fabric_, transfer, clock);
  if (run > on_fabric.alone + clock.to_seconds(2)) {
    on_fabric.time.total = run;
    on_fabric.slowest = place->second.slowest;
  }
  return on_fabric;
}

}  // namespace headway::network
