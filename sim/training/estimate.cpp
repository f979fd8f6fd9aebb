#include "sim/training/estimate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <set>
#include <string_view>
#include <sys/resource.h>
#include <tuple>

#include "sim/core/infeasible.h"
#include "sim/core/text.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/fabric_shape.h"
#include "sim/training/orbits/rank_orbits.h"
#include "sim/training/step/lower.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/blocks/build.h"

namespace headway::training {

namespace {

using core::Bytes;
using workload::OperationKind;

// Bytes of the structures, and of what is copied while they grow (a vector that doubles holds its
// old and its new storage for a moment: half as much again on average). Source: measured by
// counting allocations over the scenarios of tests/training/estimate_test.cpp, which holds them to
// a factor of two.
constexpr double kLink = 4;          ///< its kind, where it is not that of its tier
constexpr double kStep = 92;         ///< of a program: ProgramStep, Instruction, launch, idle
constexpr double kLinkLowered = 12;  ///< its place in the tables that lowering looks links up in
constexpr double kPortLowered = 25;  ///< a NIC's, whose loads the widest collective lists
/// Its share of a report's paths, of a collective's loads. Source: round value.
constexpr double kLinkTold = 40;
constexpr double kChunk = 200;          ///< of the schedule: work items, calls, channels
constexpr double kSlotOfRank = 85;      ///< an actor's share of group and flow, keys, fold's graph
constexpr double kSlotInPlane = 16;     ///< the links that its flow uses in one plane
constexpr double kSlotSimulated = 100;  ///< the engine's states
constexpr double kTrial = 600;          ///< campaign::TrialResult
constexpr double kNodeOfJob = 100;      ///< a node or spare in a trial that runs
constexpr double kCrew = 8;             ///< when a repair crew is free

/// What a step is made of, counted without building it.
struct StepCounts {
  double program_steps = 0;  ///< of all stages
  double slots = 0;          ///< different transfers of a rank
};

/// The same model on a single stage: few calls, each layer's operations all the same.
workload::StepGraph on_one_stage(const CheckedScenario& checked, int micro_batches) {
  const Scenario& s = checked.scenario();
  workload::ParallelismSpec p = s.parallelism;
  p.pipeline = 1;
  p.virtual_stages = 1;
  p.schedule = workload::ScheduleKind::one_f_one_b;
  p.first_stage_layers = 0;
  p.last_stage_layers = 0;
  p.chunk_layers.clear();
  p.chunk_recompute.clear();
  workload::ModelSpec model = s.model;
  if (model.vision) {
    model.vision->stage = workload::EncoderStage::first;
  }
  return workload::build_step_graph(model, s.training, p, checked.synchronous_data(),
                                    micro_batches);
}

/// Computing is one step of a program, a transfer two: to arrive and to wait.
double program_steps(const workload::StepGraph& graph) {
  double sum = 0;
  for (const auto& call : graph.stages.front().calls) {
    for (const auto& o : graph.blocks[static_cast<std::size_t>(call.block)].operations) {
      const bool computes = o.kind == OperationKind::compute || o.kind == OperationKind::delay;
      sum += (computes ? 1.0 : 2.0) * call.repeat;
    }
  }
  return sum;
}

double different_transfers(const workload::StepGraph& graph) {
  std::set<std::tuple<OperationKind, workload::Group, core::CollectiveKind, double, std::string>>
      seen;
  for (const auto& block : graph.blocks) {
    for (const auto& o : block.operations) {
      if (o.kind != OperationKind::compute && o.kind != OperationKind::delay) {
        seen.emplace(o.kind, o.group, o.collective, o.bytes.si(), o.name);
      }
    }
  }
  return static_cast<double>(seen.size());
}

/// Whether reductions of every micro-batch are left for the end of the step to wait for, which no
/// loop of micro-batches can do.
bool reduces_each(workload::Sharding sharding) {
  return sharding != workload::Sharding::zero0 && sharding != workload::Sharding::zero1;
}

/// Micro-batches whose steps a program has: of a loop a few around it and one in it.
int written_out(const CheckedScenario& checked, bool loops) {
  constexpr int kAroundALoop = 8;
  const auto& p = checked.scenario().parallelism;
  const bool folds = loops && p.pipeline == 1 && !reduces_each(p.sharding) &&
                     checked.micro_batches() > kFewestLoops + kAroundALoop;
  return folds ? kAroundALoop : checked.micro_batches();
}

StepCounts count_step(const CheckedScenario& checked, bool loops = false) {
  const auto& p = checked.scenario().parallelism;
  const auto one = on_one_stage(checked, 1);
  const double once = program_steps(one);
  const double each = program_steps(on_one_stage(checked, 2)) - once;
  const double messages = p.pipeline > 1 ? 8 : 0;  // of a chunk: sent and received, both ways
  const int micro_batches = written_out(checked, loops);
  const double chunks = static_cast<double>(micro_batches) * p.virtual_stages;
  return {each * micro_batches + (once - each) * p.pipeline + messages * chunks * p.pipeline,
          different_transfers(one) + messages / 2};
}

/// The number after `key` in a file, or the first of all; infinite if there is none ("max").
double number_in_file(const char* path, std::string_view key = "") {
  std::ifstream file(path);
  std::string word;
  while (!key.empty() && file >> word && word != key) {
  }
  double value = 0;
  return file >> value ? value : std::numeric_limits<double>::infinity();
}

constexpr double kKibibyte = 1024;

/// What is left of a limit; unlimited if there is none, or what is in use cannot be read.
double left_of(double limit, double used) {
  return std::isfinite(limit) ? std::max(0.0, limit - (std::isfinite(used) ? used : 0))
                              : core::kInfinity;
}

/// What a control group may still take: pages of files that it holds can be given back.
double control_group_memory(const char* most,
                            const char* used,
                            const char* statistics,
                            std::string_view files) {
  const double cached = number_in_file(statistics, files);
  return left_of(number_in_file(most), number_in_file(used) - (std::isfinite(cached) ? cached : 0));
}

double address_space() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return left_of(limited ? static_cast<double>(limit.rlim_cur) : core::kInfinity,
                 number_in_file("/proc/self/status", "VmSize:") * kKibibyte);
}

std::string advice(const MemoryPart& part, bool fold) {
  if (!fold) {
    return "use --fold on, or fewer GPUs";
  }
  return fmt::format("make {} smaller", part.field);
}

}  // namespace

Bytes MemoryEstimate::total() const {
  Bytes sum;
  for (const auto& part : parts) {
    sum += part.bytes;
  }
  return sum;
}

const MemoryPart& MemoryEstimate::largest() const {
  return *std::max_element(parts.begin(), parts.end(),
                           [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

MemoryEstimate estimate_step(const CheckedScenario& checked, bool fold, int beside, bool loops) {
  const Scenario& s = checked.scenario();
  const auto& p = s.parallelism;
  const network::FabricInput input = fabric_input(s.cluster);
  const network::FabricShape shape = network::make_shape(input);
  const StepCounts counts = count_step(checked, loops);
  const auto gpus = static_cast<double>(checked.gpus());
  // Where links are pools, nothing tells most ranks apart: their classes take no room worth
  // counting.
  const bool hashed = s.cluster.fabric.routing != network::Routing::adaptive;
  const bool one_by_one = !fold || hashed;
  double lowered = gpus;
  if (fold) {
    lowered /= tensor_ranks_alike(checked, input, shape) ? p.tensor : 1;
    lowered *= unequal(s.cluster) ? 1 : replica_orbits(checked, input, shape).kept_share();
  }
  const double links = network::count_links(input, shape).approximate();
  const double ports = 2.0 * shape.nodes * shape.rails * shape.planes;
  const double built = 1 + beside;  // fabrics and lowered steps that live at the same time
  const double chunks =
      static_cast<double>(checked.micro_batches()) * p.virtual_stages * p.pipeline;
  const char* const width = s.cluster.fabric.planes > 1 ? "cluster.fabric.planes" : "cluster.nodes";
  MemoryEstimate out;
  out.parts.push_back({fmt::format("a fabric of {} links", core::count(links)), width,
                       Bytes(built * ((kLink + kLinkLowered) * links + kPortLowered * ports))});
  out.parts.push_back(
      {fmt::format("{} pieces of work of all stages in a step", core::count(counts.program_steps)),
       "training.global_batch", Bytes(kStep * counts.program_steps + kChunk * chunks)});
  out.parts.push_back({fmt::format("{} ranks of {:.0f} kinds of transfers each over {} planes",
                                   core::count(lowered), counts.slots, s.cluster.fabric.planes),
                       width,
                       Bytes(built * lowered * counts.slots *
                             (kSlotOfRank + kSlotInPlane * s.cluster.fabric.planes))});
  if (one_by_one) {
    out.parts.push_back({fmt::format("{} ranks that are simulated one by one", core::count(gpus)),
                         "cluster.nodes",
                         Bytes(gpus * (std::max(1, beside) * kSlotSimulated * counts.slots))});
  }
  return out;
}

double estimate_operations(const CheckedScenario& checked) {
  return count_step(checked, true).program_steps * checked.scenario().parallelism.context;
}

MemoryEstimate estimate_fabric(const ClusterSpec& cluster) {
  const network::FabricInput input = fabric_input(cluster);
  const double links = network::count_links(input, network::make_shape(input)).approximate();
  const char* const width = cluster.fabric.planes > 1 ? "cluster.fabric.planes" : "cluster.nodes";
  return {{{fmt::format("a fabric of {} links", core::count(links)), width,
            Bytes((kLink + kLinkTold) * links)}}};
}

MemoryEstimate estimate_campaign(const CheckedScenario& checked, int threads) {
  const Scenario& s = checked.scenario();
  const double at_a_time = std::min(threads, s.run.trials);
  const double nodes = static_cast<double>(s.cluster.nodes + spare_nodes(s));
  const double crews = s.run.recovery.repair_crews;
  MemoryEstimate out;
  out.parts.push_back({fmt::format("{} trials", core::count(s.run.trials)), "run.trials",
                       Bytes(kTrial * s.run.trials)});
  out.parts.push_back(
      {fmt::format("{} nodes and spares in {:.0f} trials at a time", core::count(nodes), at_a_time),
       "cluster.spares", Bytes(kNodeOfJob * nodes * at_a_time)});
  out.parts.push_back(
      {fmt::format("{} repair crews in {:.0f} trials at a time", core::count(crews), at_a_time),
       "run.recovery.repair_crews", Bytes(kCrew * crews * at_a_time)});
  return out;
}

Bytes machine_memory() {
  return Bytes(
      std::min({number_in_file("/proc/meminfo", "MemAvailable:") * kKibibyte,
                control_group_memory("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
                                     "/sys/fs/cgroup/memory.stat", "file"),
                control_group_memory("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                     "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                                     "/sys/fs/cgroup/memory/memory.stat", "cache"),
                address_space()}));
}

void require_room_for_steps(std::size_t more) {
  const auto steps = static_cast<double>(more);
  require_memory({{{fmt::format("{} pieces of work more of a stage", core::count(steps)),
                    "training.global_batch", Bytes(kStep * steps)}}},
                 machine_memory());
}

void require_memory(const MemoryEstimate& estimate, Bytes available, bool fold) {
  if (estimate.total() <= available) {
    return;
  }
  constexpr double kGigabyte = 1e9;
  const MemoryPart& most = estimate.largest();
  throw core::Infeasible(
      fmt::format("simulating this needs about {:.3g} GB of memory, most of it for {} ({:.3g} GB); "
                  "this machine "
                  "has {:.3g} GB free: {}",
                  estimate.total().si() / kGigabyte, most.what, most.bytes.si() / kGigabyte,
                  available.si() / kGigabyte, advice(most, fold)));
}

}  // namespace headway::training
