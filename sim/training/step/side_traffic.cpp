#include "sim/training/step/side_traffic.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/network/fabric/storage_flows.h"

namespace headway::training {

namespace {

using core::Bytes;
using core::Seconds;
using core::Tick;
using storage::Place;
using storage::Transfer;

/// One GPU of each rail of a node of the job.
std::vector<core::GpuId> exits(const PreparedStep& step, std::int64_t node) {
  const auto& shape = step.fabric.shape();
  const core::GpuId first =
      step.layout.gpu(core::Rank(static_cast<std::uint32_t>(node) * shape.gpus_per_node));
  std::vector<core::GpuId> gpus;
  for (std::uint32_t rail = 0; rail < shape.rails; ++rail) {
    gpus.emplace_back(first.index() + rail * (shape.gpus_per_node / shape.rails));
  }
  return gpus;
}

void join(const network::Transfer& part, network::Transfer& whole) {
  for (network::Flow flow : part.flows) {
    flow.first_use += static_cast<std::uint32_t>(whole.uses.size());
    whole.flows.push_back(flow);
  }
  whole.uses.insert(whole.uses.end(), part.uses.begin(), part.uses.end());
  whole.delay = std::max(whole.delay, part.delay);
  whole.alone = std::max(whole.alone, part.alone);
}

/// Transfers of nodes to or from storage as one call: those of as many bytes as `first`.
network::Transfer equal_storage_flows(const PreparedStep& step,
                                      const SideTransfers& side,
                                      const Transfer& first,
                                      double share) {
  std::vector<core::GpuId> members;
  for (const Transfer& transfer : side.transfers) {
    HEADWAY_CHECK(transfer.bound == first.bound, "clients of {} and {} B/s", transfer.bound.si(),
                  first.bound.si());
    if (transfer.bytes == first.bytes) {
      const auto gpus =
          exits(step, transfer.to == Place::storage ? transfer.from_index : transfer.to_index);
      members.insert(members.end(), gpus.begin(), gpus.end());
    }
  }
  const auto rails = static_cast<double>(step.fabric.shape().rails);
  return network::emit_storage(step.fabric,
                               {.bytes = share * first.bytes / rails,
                                .write = first.to == Place::storage,
                                .client_bound = first.bound / rails,
                                .latency = side.latency},
                               members);
}

/// Those of all nodes: one call where they are equal, else one for each size that there is.
network::Transfer storage_flows(const PreparedStep& step, const SideTransfers& side, double share) {
  network::Transfer whole;
  std::vector<Bytes> sizes;
  for (const Transfer& transfer : side.transfers) {
    if (transfer.bytes.si() > 0 && std::ranges::find(sizes, transfer.bytes) == sizes.end()) {
      sizes.push_back(transfer.bytes);
      join(equal_storage_flows(step, side, transfer, share), whole);
    }
  }
  return sizes.empty() ? equal_storage_flows(step, side, side.transfers.front(), share) : whole;
}

network::Transfer peer_flows(const PreparedStep& step, const SideTransfers& side, double share) {
  network::Transfer whole;
  const auto rails = static_cast<double>(step.fabric.shape().rails);
  for (const Transfer& transfer : side.transfers) {
    const auto from = exits(step, transfer.from_index);
    const auto to = exits(step, transfer.to_index);
    const Bytes bytes = share * transfer.bytes / rails;
    network::CollectiveTime time;
    time.total = bytes / (transfer.bound / rails);
    for (std::size_t rail = 0; rail < from.size(); ++rail) {
      if (from[rail] != to[rail]) {
        join(network::emit_send(step.fabric, bytes, from[rail], to[rail], time), whole);
      }
    }
  }
  whole.delay += core::Clock::step().to_ticks(side.latency);
  return whole;
}

/// Appends the transfers and an actor that waits for them.
/// @returns the actor's number
std::size_t add_side(const PreparedStep& step,
                     const SideTransfers& side,
                     double share,
                     network::Problem& problem) {
  const bool peers =
      side.transfers.front().from == Place::host && side.transfers.front().to == Place::host;
  const network::Transfer flows =
      peers ? peer_flows(step, side, share) : storage_flows(step, side, share);
  network::LinkNumbers numbers(
      step.fabric, problem.links.empty() ? std::vector<core::LinkId>{} : step.lowered.fabric_links);
  const auto name = static_cast<std::uint16_t>(problem.names.size());
  problem.names.emplace_back("checkpoint");
  const std::uint32_t group =
      network::append(flows, 1, core::Activity::checkpoint, name, numbers, problem);
  network::Actor actor;
  actor.program = static_cast<std::uint32_t>(problem.programs.size());
  actor.groups = {group};
  problem.programs.push_back({{network::StepCode::arrive, core::Activity::checkpoint, name, 0, 0},
                              {network::StepCode::wait, core::Activity::checkpoint, name, 0, 0}});
  problem.actors.push_back(actor);
  return problem.actors.size() - 1;
}

/// The training step, so many times in a row.
network::Problem steps_in_a_row(const PreparedStep& step, int count) {
  network::Problem problem = step.lowered.problem;
  for (auto& program : problem.programs) {
    network::ProgramStep loop;
    loop.code = network::StepCode::loop;
    loop.ticks = count;
    program.insert(program.begin(), loop);
    loop.code = network::StepCode::end_loop;
    loop.ticks = 0;
    program.push_back(loop);
  }
  return problem;
}

struct Run {
  Tick training = 0, side = 0;
};

Run run_beside(const PreparedStep& step,
               const SideTransfers& side,
               double share,
               int steps,
               const network::RunOptions& options) {
  network::Problem problem = steps_in_a_row(step, steps);
  const std::size_t waits = add_side(step, side, share, problem);
  const network::RunResult result = network::run(problem, options);
  Run run;
  for (std::size_t a = 0; a < problem.actors.size(); ++a) {
    const Tick end = result.actor_end[result.class_of_actor.empty() ? a : result.class_of_actor[a]];
    (a == waits ? run.side : run.training) = std::max(a == waits ? run.side : run.training, end);
  }
  return run;
}

}  // namespace

Seconds alone(const PreparedStep& step, const SideTransfers& side) {
  network::Problem problem;
  add_side(step, side, 1, problem);
  return core::Clock::step().to_seconds(network::run(problem, {}).end);
}

SideTraffic beside_training(const PreparedStep& step,
                            const SideTransfers& side,
                            Seconds healthy,
                            const std::function<void(std::size_t, std::size_t)>& progress) {
  network::RunOptions options;
  options.progress = network::in_parts(progress);
  const auto clock = core::Clock::step();
  // Nothing moves while files are opened: whole steps of that pass as without the transfers, and
  // the rest says where in a step they begin.
  SideTransfers begun = side;
  begun.latency -= std::floor(side.latency / healthy) * healthy;
  const Tick opened = clock.to_ticks(begun.latency);
  const double lasts = alone(step, begun) / healthy;
  // Room for the transfers to last twice as long beside training as alone. Source: chosen.
  constexpr double kRoom = 2;
  double share = std::min(1.0, kMostSteps / kRoom / lasts);
  int steps =
      static_cast<int>(std::clamp(std::ceil(kRoom * share * lasts), 1.0, double{kMostSteps}));
  Run run = run_beside(step, begun, share, steps, options);
  while (run.side > run.training) {
    HEADWAY_CHECK(share > 1e-6, "transfers never end beside training");
    if (2 * steps <= kMostSteps) {
      steps *= 2;
    } else {
      share /= 2;
    }
    run = run_beside(step, begun, share, steps, options);
  }
  const Tick without =
      steps == 1 ? clock.to_ticks(healthy) : network::run(steps_in_a_row(step, steps), options).end;
  SideTraffic result;
  result.steps = steps;
  result.scaled = share < 1;
  result.lasts = side.latency + clock.to_seconds(run.side - opened) / share;
  result.takes = clock.to_seconds(std::max<Tick>(0, run.training - without)) / share;
  return result;
}

}  // namespace headway::training
