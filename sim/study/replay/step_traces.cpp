#include "sim/study/replay/step_traces.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "sim/core/error.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/step_inputs.h"

namespace headway::study {

namespace {

using core::CollectiveKind;
using import::ChakraCollective;
using import::ChakraGroups;
using import::ChakraKind;
using import::ChakraNode;
using import::ChakraTrace;
using network::StepCode;

constexpr std::int64_t kPsOfUs = 1'000'000;

ChakraCollective chakra_kind(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return ChakraCollective::all_gather;
    case CollectiveKind::reduce_scatter:
      return ChakraCollective::reduce_scatter;
    case CollectiveKind::all_to_all:
      return ChakraCollective::all_to_all;
    case CollectiveKind::broadcast:
      return ChakraCollective::broadcast;
    default:
      return ChakraCollective::all_reduce;
  }
}

/// FLOPs and bytes of the kernels of an operation.
struct Work {
  double operations = 0, bytes = 0;
};

Work work_of(const workload::Operation& operation) {
  Work work;
  for (const core::Kernel& kernel : operation.kernels) {
    const double times = static_cast<double>(kernel.count) / static_cast<double>(kernel.every);
    work.operations += kernel.work.si() * times;
    work.bytes += kernel.traffic.si() * times;
  }
  return work;
}

std::vector<bool> slots_that_arrive(const network::Program& program, std::size_t slots) {
  std::vector<bool> arrives(slots);
  for (const auto& step : program) {
    if (step.code == StepCode::arrive) {
      arrives[step.slot] = true;
    }
  }
  return arrives;
}

/// Writes down what one actor does.
class ActorTrace {
 public:
  ActorTrace(const workload::StepGraph& graph,
             const training::LoweredStep& lowered,
             const std::vector<TransferEnds>& ends,
             std::int64_t rank,
             std::uint32_t actor)
      : graph_(graph),
        lowered_(lowered),
        ends_(ends),
        rank_(rank),
        actor_(lowered.problem.actors[actor]),
        program_(lowered.problem.programs[actor_.program]),
        arrives_(slots_that_arrive(program_, actor_.groups.size())),
        launched_(actor_.groups.size()) {}

  import::ChakraTrace take(){out_.rank = rank_;
  for (std::uint32_t i = 0; i < program_.size(); ++i) {
    const auto& step = program_[i];
    if (step.code == StepCode::compute) {
      compute(i);
    } else if (step.code == StepCode::arrive) {
      launched_[step.slot].push_back(add_transfer(step));
    } else if (arrives_[step.slot]) {
      HEADWAY_CHECK(!launched_[step.slot].empty(), "step {} waits for nothing", i);
      before_.push_back(launched_[step.slot].front());
      launched_[step.slot].pop_front();
    } else {
      before_.push_back(add_transfer(step));
    }
  }
  return std::move(out_);
}

private : ChakraNode&
          add(ChakraKind kind, std::uint16_t name) {
  ChakraNode& node = out_.nodes.emplace_back();
  node.id = out_.nodes.size() - 1;
  node.kind = kind;
  node.name = lowered_.problem.names[name];
  node.after = before_;
  return node;
}

void compute(std::uint32_t index) {
  const auto& step = program_[index];
  const auto ticks = network::slowed(step.ticks, actor_.slowdown_ppm);
  if (ticks == 0) {
    return;
  }
  ChakraNode& node = add(ChakraKind::computation, step.name);
  node.stream = 0;
  set_duration(ticks, node);
  const training::StepOrigin& origin = lowered_.origins[actor_.program][index];
  if (origin.block >= 0) {
    const Work work = work_of(graph_.blocks[static_cast<std::size_t>(origin.block)]
                                  .operations[static_cast<std::size_t>(origin.operation)]);
    set_if_any(work.operations, node.operations);
    set_if_any(work.bytes, node.tensor_bytes);
  }
  before_ = {node.id};
}

static void set_if_any(double value, std::optional<std::int64_t>& field) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::int64_t>::max());
  if (value > 0 && value < kMost) {
    field = std::llround(value);
  }
}

/// The format has whole microseconds; they are cut so that all together are right to half of one.
void set_duration(core::Tick ticks, ChakraNode& node) {
  const auto begin = (computed_ + kPsOfUs / 2) / kPsOfUs;
  computed_ += ticks;
  node.duration_us = static_cast<std::uint64_t>((computed_ + kPsOfUs / 2) / kPsOfUs - begin);
  node.duration_ps = ticks;
}

std::uint64_t add_transfer(const network::ProgramStep& step) {
  const std::uint32_t group = actor_.groups[step.slot];
  const std::uint32_t use = lowered_.use_of_group[group];
  if (use >= lowered_.collectives.size()) {
    return add_copy(step, group);
  }
  const network::CollectiveCall& call = lowered_.collectives[use].call;
  const bool message = call.kind == CollectiveKind::send_receive;
  const bool sends = step.code == StepCode::arrive;
  ChakraNode& node = add(!message ? ChakraKind::collective
                         : sends  ? ChakraKind::send
                                  : ChakraKind::receive,
                         step.name);
  node.stream = step.slot + 1;
  const double ranks = lowered_.collectives[use].shape.ranks;
  const bool gathers = call.kind == CollectiveKind::all_gather;
  node.bytes = std::llround(call.bytes.si() / (gathers ? ranks : 1));
  if (message) {
    node.source = ends_[group].arriving.front();
    node.destination = ends_[group].receiver;
    node.tag = group;
  } else {
    node.collective = chakra_kind(call.kind);
    node.group = fmt::format("{}", group + 1);
    out_.groups.try_emplace(node.group, ends_[group].arriving);
  }
  return node.id;
}

std::uint64_t add_copy(const network::ProgramStep& step, std::uint32_t group) {
  ChakraNode& node = add(ChakraKind::memory_store, step.name);
  node.stream = step.slot + 1;
  const core::Tick ticks = lowered_.problem.groups[group].delay;
  node.duration_us = static_cast<std::uint64_t>((ticks + kPsOfUs / 2) / kPsOfUs);
  node.duration_ps = ticks;
  node.tensor_bytes = std::llround(lowered_.copied_bytes[group].si());
  return node.id;
}

const workload::StepGraph& graph_;
const training::LoweredStep& lowered_;
const std::vector<TransferEnds>& ends_;
std::int64_t rank_;
const network::Actor& actor_;
const network::Program& program_;
std::vector<bool> arrives_;                        ///< per slot; else the rank only receives
std::vector<std::deque<std::uint64_t>> launched_;  ///< per slot: nodes not waited for
std::vector<std::uint64_t> before_;                ///< what the next node waits for
core::Tick computed_ = 0;
ChakraTrace out_;
};  // namespace

std::vector<TransferEnds> ends_of(const training::LoweredStep& lowered,
                                  const std::vector<std::int64_t>& rank_of_actor) {
  std::vector<TransferEnds> ends(lowered.problem.groups.size());
  for (std::size_t a = 0; a < lowered.problem.actors.size(); ++a) {
    const network::Actor& actor = lowered.problem.actors[a];
    const auto arrives =
        slots_that_arrive(lowered.problem.programs[actor.program], actor.groups.size());
    for (std::size_t slot = 0; slot < actor.groups.size(); ++slot) {
      TransferEnds& of = ends[actor.groups[slot]];
      if (arrives[slot]) {
        of.arriving.push_back(rank_of_actor[a]);
      } else {
        of.receiver = rank_of_actor[a];
      }
    }
  }
  return ends;
}

}  // namespace headway::study

StepTraces::StepTraces(const training::CheckedScenario& checked) {
  const training::Scenario& s = checked.scenario();
  if (s.cluster.sites || s.cluster.occupancy) {
    throw core::Error(fmt::format(
        "a step on {} is not exported: a trace has no word for it; take 'cluster.{}' out",
        s.cluster.sites ? "several sites" : "a fabric that other jobs use",
        s.cluster.sites ? "sites" : "occupancy"));
  }
  graph_ = training::step_graph(checked);
  const network::Fabric fabric = training::build_fabric(s.cluster, training::hash_seed(s));
  lowered_ = training::lower(checked, graph_, fabric, {.origins = true});
  const training::RankLayout layout = training::rank_layout(checked);
  std::vector<std::pair<core::GpuId, std::uint32_t>> places;  // GPU, actor
  for (std::uint32_t actor = 0; actor < layout.ranks(); ++actor) {
    places.emplace_back(layout.gpu(core::Rank(actor)), actor);
  }
  std::sort(places.begin(), places.end());
  std::vector<std::int64_t> rank_of_actor(places.size());
  for (const auto& [gpu, actor] : places) {
    rank_of_actor[actor] = ranks();
    actors_.push_back(actor);
  }
  ends_ = ends_of(lowered_, rank_of_actor);
}

std::int64_t StepTraces::nodes(const std::vector<std::int64_t>& ranks) const {
  std::int64_t sum = 0;
  for (const std::int64_t rank : ranks) {
    const auto actor = actors_.at(static_cast<std::size_t>(rank));
    const auto& problem = lowered_.problem;
    sum += static_cast<std::int64_t>(problem.programs[problem.actors[actor].program].size());
  }
  return sum;
}

ChakraTrace StepTraces::trace(std::int64_t rank) const {
  return ActorTrace(graph_, lowered_, ends_, rank, actors_.at(static_cast<std::size_t>(rank)))
      .take();
}

ChakraGroups StepTraces::groups() const {
  ChakraGroups groups;
  for (std::size_t g = 0; g < ends_.size(); ++g) {
    const std::uint32_t use = lowered_.use_of_group[g];
    if (use < lowered_.collectives.size() &&
        lowered_.collectives[use].call.kind != CollectiveKind::send_receive) {
      groups[fmt::format("{}", g + 1)] = ends_[g].arriving;
    }
  }
  return groups;
}

}  // namespace headway::study
