#include "sim/study/replay/replay.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/network/fabric/fabric.h"
#include "sim/study/replay/replay_problem.h"
#include "sim/study/replay/roofline.h"
#include "sim/training/estimate.h"
#include "sim/training/step/step_clock.h"
#include "sim/training/step/step_inputs.h"

namespace headway::study {

namespace {

using namespace core::literals;

/// Computations of the lane that has most: streams of the GPU, or threads of the CPU where none
/// computes.
core::Seconds computation_of(const import::ChakraTrace& trace) {
  std::map<std::pair<bool, std::int64_t>, core::Seconds> lanes;  // on the CPU, its number
  std::array<core::Seconds, 2> most;                             // of the GPU, of the CPU
  for (const import::ChakraNode& node : trace.nodes) {
    if (!import::communicates(node) && node.kind != import::ChakraKind::metadata) {
      core::Seconds& sum = lanes[{node.on_cpu, node.stream.value_or(-1)}];
      sum += core::Clock::step().to_seconds(node.picoseconds());
      most[node.on_cpu ? 1 : 0] = std::max(most[node.on_cpu ? 1 : 0], sum);
    }
  }
  return most[0].si() > 0 ? most[0] : most[1];
}

/// What a fabric does not change.
ReplayReport report_of(const import::ChakraJob& job, const ReplayProblem& replay, bool simulated) {
  ReplayReport report;
  report.ranks = static_cast<std::int64_t>(job.traces.size());
  for (const auto& trace : job.traces) {
    report.nodes += static_cast<std::int64_t>(trace.nodes.size());
  }
  for (const ReplayTransfer& use : replay.transfers) {
    ReplayCollective& row = report.collectives.emplace_back();
    row.kind = use.kind;
    row.bytes = use.bytes;
    row.ranks = use.shape.ranks;
    row.calls = use.calls;
    if (simulated) {
      row.nodes = use.shape.nodes;
      row.alone = use.alone.total;
      row.algorithm = use.alone.algorithm;
    }
  }
  std::stable_sort(report.collectives.begin(), report.collectives.end(),
                   [](const auto& a, const auto& b) {
                     return std::pair(a.kind, a.bytes) < std::pair(b.kind, b.bytes);
                   });
  return report;
}

/// One row for ranks whose figures are equal.
void add_rows(const import::ChakraJob& job,
              const std::vector<std::optional<core::Seconds>>& ends,
              ReplayReport& report) {
  for (std::size_t rank = 0; rank < job.traces.size(); ++rank) {
    const core::Seconds computation = computation_of(job.traces[rank]);
    const auto found = std::find_if(report.rows.begin(), report.rows.end(), [&](const auto& row) {
      return row.computation == computation && row.end == ends[rank];
    });
    if (found == report.rows.end()) {
      report.rows.push_back({static_cast<std::int64_t>(rank), 1, computation, ends[rank]});
    } else {
      ++found->count;
    }
  }
}

std::vector<std::optional<core::Seconds>> ends_of(const ReplayProblem& replay,
                                                  const network::RunResult& run,
                                                  std::size_t ranks) {
  std::vector<core::Tick> last(ranks);
  for (std::size_t a = 0; a < replay.lanes.size(); ++a) {
    core::Tick& end = last[replay.lanes[a].rank];
    end = std::max(end, run.actor_end[run.class_of_actor[a]]);
  }
  std::vector<std::optional<core::Seconds>> ends;
  ends.reserve(last.size());
  for (const core::Tick end : last) {
    ends.emplace_back(core::Clock::step().to_seconds(end));
  }
  return ends;
}

std::vector<training::LinkUse> link_use(const network::Fabric& fabric,
                                        const ReplayProblem& replay,
                                        const network::RunResult& run) {
  struct Sum {
    double bytes = 0, room = 0, busiest = 0;
  };
  std::map<network::Tier, Sum> tiers;
  const core::Seconds time = core::Clock::step().to_seconds(run.end);
  for (std::size_t l = 0; l < replay.fabric_links.size(); ++l) {
    const double room = (replay.problem.links[l].capacity * time).si();
    Sum& sum = tiers[fabric.link(replay.fabric_links[l]).tier];
    sum.bytes += run.link_bytes[l];
    sum.room += room;
    sum.busiest = std::max(sum.busiest, room > 0 ? run.link_bytes[l] / room : 0);
  }
  std::vector<training::LinkUse> uses;
  for (const auto& [tier, sum] : tiers) {
    uses.push_back({std::string(network::tier_name(tier, fabric.input().scale_up.kind)),
                    sum.room > 0 ? sum.bytes / sum.room : 0, sum.busiest});
  }
  return uses;
}

/// @throws core::Error if the traces do not fit on the machine
void check_machine(const import::ChakraJob& job, const Machine& machine) {
  const std::int64_t gpus = std::int64_t{machine.cluster.nodes} * machine.cluster.node.gpus;
  const auto ranks = static_cast<std::int64_t>(job.traces.size());
  if (ranks > gpus) {
    throw core::Error(
        fmt::format("there are traces of {} ranks, and the machine '{}' has {} GPUs; ask for more "
                    "nodes (--set, --nodes)",
                    ranks, machine.name, gpus));
  }
  if (machine.cluster.sites || machine.cluster.occupancy) {
    throw core::Error(
        fmt::format("'{}': a replay on {} is not simulated; take 'cluster.{}' out", machine.name,
                    machine.cluster.sites ? "several sites" : "a fabric that other jobs use",
                    machine.cluster.sites ? "sites" : "occupancy"));
  }
}

/// Any will do: whether ranks come to their end does not depend on it.
network::FabricInput plain_fabric(std::size_t ranks) {
  network::FabricInput input;
  input.fabric.topology = network::Topology::rail_only;
  input.fabric.tiers = 1;
  input.fabric.ports_per_leaf = static_cast<int>(ranks);
  input.fabric.link_bandwidth = 1_GBps;
  input.nic.bandwidth = 1_GBps;
  input.nic.count = 1;
  input.scale_up.bandwidth = 1_GBps;
  input.scale_up.domain_gpus = 1;
  input.gpus_per_node = 1;
  input.nodes = static_cast<int>(ranks);
  return input;
}

std::string words_of(core::Seconds time) {
  const double seconds = time.si();
  const bool short_time = seconds < 1e-3;
  return fmt::format("{} {}",
                     core::number(seconds * (short_time    ? 1e6
                                             : seconds < 1 ? 1e3
                                                           : 1)),
                     short_time    ? "us"
                     : seconds < 1 ? "ms"
                                   : "s");
}

/// What the slowest row comes to.
std::string sentence(const ReplayReport& report) {
  const auto& slowest = *std::max_element(
      report.rows.begin(), report.rows.end(),
      [](const auto& a, const auto& b) { return a.end.value_or(0_s) < b.end.value_or(0_s); });
  const double busy = slowest.computation / *report.time;
  return fmt::format(
      "The replay takes {}: rank {} computes {} % of it and waits for transfers, other "
      "ranks or its CPU {} %.",
      words_of(*report.time), slowest.first, core::percent(busy),
      core::percent(std::max(0.0, 1 - busy)));
}

}  // namespace

ReplayReport describe_traces(const import::ChakraJob& job) {
  const network::Fabric fabric(plain_fabric(job.traces.size()));
  const auto parameters = network::make_parameters(fabric.input(), network::NcclGeneration::hopper);
  const ReplayProblem problem = replay_problem(job, {&fabric, parameters, {}});
  check_ends(problem, job);
  ReplayReport report = report_of(job, problem, false);
  add_rows(job, std::vector<std::optional<core::Seconds>>(job.traces.size()), report);
  report.limit =
      "The traces are whole: causes come before effects, streams keep their order, and what is "
      "sent "
      "is received. --cluster FILE replays them.";
  return report;
}

ReplayReport replay(import::ChakraJob job, const Machine& machine) {
  check_machine(job, machine);
  const auto timed = time_by_roofline(job, machine.cluster.node.gpu);
  training::require_memory(training::estimate_fabric(machine.cluster), training::machine_memory());
  const auto fabric = training::build_fabric(machine.cluster);
  const auto parameters = network::make_parameters(
      fabric.input(), training::nccl_generation(machine.cluster.node.gpu.architecture));
  const ReplayProblem problem = replay_problem(job, {&fabric, parameters, machine.curves});
  check_ends(problem, job);
  const network::RunResult run = network::run(problem.problem, {});
  ReplayReport report = report_of(job, problem, true);
  report.machine = machine.name;
  report.time = core::Clock::step().to_seconds(run.end);
  report.assumptions = machine.assumptions;
  if (timed) {
    report.assumptions.push_back(*timed);
  }
  if (run.end == 0) {
    throw core::Error("the traces take no time: no node of theirs computes or communicates");
  }
  add_rows(job, ends_of(problem, run, job.traces.size()), report);
  report.links = link_use(fabric, problem, run);
  report.limit = sentence(report);
  return report;
}

}  // namespace headway::study
