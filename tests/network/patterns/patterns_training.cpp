// Larger patterns: a 1F1B training step, a hierarchical all-reduce, a random permutation.
#include <numeric>
#include <utility>

#include "sim/network/flow/digest.h"
#include "sim/network/flow/program_steps.h"

#include "tests/network/patterns/patterns.h"

namespace headway::network::patterns {
namespace {

using core::Activity;

// Slots of a rank of the training step.
enum Slot : std::uint32_t { kTensor, kData, kForwardIn, kForwardOut, kBackwardIn, kBackwardOut };

ProgramStep compute(core::Tick ticks, Activity activity = Activity::compute) {
  return {StepCode::compute, activity, 0, 0, ticks};
}

void append_layers(const TrainingStep& step, core::Tick half, Program& program) {
  for (std::uint32_t i = 0; i < 2 * step.layers; ++i) {
    program.insert(program.end(), {compute(half), arrive(kTensor), wait(kTensor)});
  }
}

void append_forward(const TrainingStep& step, std::uint32_t stage, Program& program) {
  if (stage > 0) {
    program.push_back(wait(kForwardIn));
  }
  append_layers(step, step.layer_half, program);
  if (stage + 1 < step.stages) {
    program.push_back(arrive(kForwardOut));
  }
}

void append_backward(const TrainingStep& step, std::uint32_t stage, Program& program) {
  if (stage + 1 < step.stages) {
    program.push_back(wait(kBackwardIn));
  }
  append_layers(step, 2 * step.layer_half, program);
  if (stage > 0) {
    program.push_back(arrive(kBackwardOut));
  }
}

/// 1F1B: a stage runs ahead by its distance to the last one, then alternates.
Program stage_program(const TrainingStep& step, std::uint32_t stage) {
  const std::uint32_t ahead = std::min(step.stages - 1 - stage, step.micro_batches);
  Program program{loop(ahead)};
  append_forward(step, stage, program);
  program.insert(program.end(), {end_loop(), loop(step.micro_batches - ahead)});
  append_forward(step, stage, program);
  append_backward(step, stage, program);
  program.insert(program.end(), {end_loop(), loop(ahead)});
  append_backward(step, stage, program);
  program.insert(program.end(), {end_loop(), arrive(kData), wait(kData),
                                 compute(step.layer_half, Activity::optimizer)});
  return program;
}

std::uint32_t append_group(Problem& problem,
                           std::uint32_t need,
                           core::Tick delay,
                           Activity activity) {
  problem.groups.push_back(
      {need, delay, static_cast<std::uint32_t>(problem.flows.size()), 0, activity, 0, 1});
  return static_cast<std::uint32_t>(problem.groups.size() - 1);
}

/// Adds one flow over `uses`, which stand at the end of problem.uses, to the last group.
void append_flow(Problem& problem, core::Bytes size, core::Tick latency, std::uint32_t uses) {
  const auto group = static_cast<std::uint32_t>(problem.groups.size() - 1);
  const auto first = static_cast<std::uint32_t>(problem.uses.size()) - uses;
  problem.flows.push_back({group, size, latency, core::BytesPerSecond(0), 1, first, uses, 1});
  ++problem.groups.back().flows;
}

/// A point-to-point channel; rank r's NIC sends on link 2 r and receives on link 2 r + 1.
std::uint32_t append_channel(const TrainingStep& step,
                             std::uint32_t from,
                             std::uint32_t to,
                             Problem& problem) {
  const std::uint32_t group = append_group(problem, 1, 0, Activity::pipeline_p2p);
  problem.uses.push_back({2 * from, 1});
  problem.uses.push_back({2 * to + 1, 1});
  append_flow(problem, step.activation, step.latency, 2);
  return group;
}

/// The ring of all replicas of one rank position: one flow that uses every member's NIC both ways.
std::uint32_t append_data_ring(const TrainingStep& step, std::uint32_t position, Problem& problem) {
  const std::uint32_t group = append_group(problem, step.replicas, 0, Activity::data);
  const std::uint32_t stride = step.stages * step.tensor;
  for (std::uint32_t replica = 0; replica < step.replicas; ++replica) {
    const std::uint32_t rank = replica * stride + position;
    problem.uses.push_back({2 * rank, 1});
    problem.uses.push_back({2 * rank + 1, 1});
  }
  append_flow(problem, step.gradient, 2 * (step.replicas - 1) * step.latency, 2 * step.replicas);
  return group;
}

}  // namespace

Problem training_step(const TrainingStep& step) {
  Problem problem;
  for (std::uint32_t stage = 0; stage < step.stages; ++stage) {
    problem.programs.push_back(stage_program(step, stage));
  }
  const std::uint32_t positions = step.stages * step.tensor;
  const std::uint32_t ranks = positions * step.replicas;
  problem.links.assign(std::size_t{2} * ranks, ProblemLink{step.nic});
  problem.actors.resize(ranks);
  std::vector<std::uint32_t> rings;
  for (std::uint32_t position = 0; position < positions; ++position) {
    rings.push_back(append_data_ring(step, position, problem));
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Actor& actor = problem.actors[rank];
    actor.program = rank % positions / step.tensor;
    if (rank % step.tensor == 0) {
      append_group(problem, step.tensor, step.tensor_collective, Activity::tensor);
    }
    actor.groups.assign(6, static_cast<std::uint32_t>(problem.groups.size() - 1));
    actor.groups[kData] = rings[rank % positions];
    if (rank % step.tensor + 1 < step.tensor) {
      continue;
    }
    // The tensor group is complete: channels from the stage before it, both ways.
    for (std::uint32_t i = 0; i < step.tensor && actor.program > 0; ++i) {
      const std::uint32_t to = rank + 1 - step.tensor + i;
      const std::uint32_t from = to - step.tensor;
      problem.actors[to].groups[kForwardIn] = append_channel(step, from, to, problem);
      problem.actors[from].groups[kForwardOut] = problem.actors[to].groups[kForwardIn];
      problem.actors[from].groups[kBackwardIn] = append_channel(step, to, from, problem);
      problem.actors[to].groups[kBackwardOut] = problem.actors[from].groups[kBackwardIn];
    }
  }
  return problem;
}

Problem hierarchical_all_reduce(const Hierarchical& shape) {
  Problem problem;
  const std::uint32_t gpus = shape.gpus_per_node;
  const std::uint32_t ranks = shape.nodes * gpus;
  problem.programs = {
      {compute(shape.compute), arrive(0), wait(0), arrive(1), wait(1), arrive(0), wait(0)}};
  // Links of rank r: 3 r into NVLink, 3 r + 1 NIC out, 3 r + 2 NIC in.
  problem.links.reserve(std::size_t{3} * ranks);
  problem.actors.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    problem.links.insert(problem.links.end(), {{shape.nvlink}, {shape.nic}, {shape.nic}});
    problem.actors[rank].groups = {rank / gpus, shape.nodes + rank % gpus};
  }
  for (std::uint32_t node = 0; node < shape.nodes; ++node) {
    append_group(problem, gpus, 0, Activity::data);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      problem.uses.push_back({3 * (node * gpus + gpu), 1});
    }
    append_flow(problem, shape.size * (gpus - 1) / gpus, shape.latency, gpus);
  }
  for (std::uint32_t rail = 0; rail < gpus; ++rail) {
    append_group(problem, shape.nodes, 0, Activity::data);
    for (std::uint32_t node = 0; node < shape.nodes; ++node) {
      const std::uint32_t rank = node * gpus + rail;
      problem.uses.push_back({3 * rank + 1, 1});
      problem.uses.push_back({3 * rank + 2, 1});
    }
    const double share = 2.0 * (shape.nodes - 1) / shape.nodes / gpus;
    append_flow(problem, shape.size * share, 2 * (std::int64_t{shape.nodes} - 1) * shape.latency,
                2 * shape.nodes);
  }
  return problem;
}

namespace {

/// Numbers the links of a fat tree with hashed routing, and finds routes.
class HashedTree {
 public:
  explicit HashedTree(const Permutation& shape) : shape_(shape) {
    per_leaf_ = shape.radix / 2;
    if (shape.tiers == 2) {
      per_leaf_ = 1;
      while (per_leaf_ * per_leaf_ < shape.hosts) {
        per_leaf_ *= 2;
      }
    }
    leaves_ = (shape.hosts + per_leaf_ - 1) / per_leaf_;
  }

  [[nodiscard]] std::size_t links() const {
    return 2 * std::size_t{shape_.hosts} + 4 * std::size_t{leaves_} * per_leaf_;
  }

  void append_route(std::uint32_t from, std::uint32_t to, Problem& problem) const {
    const std::uint32_t here = from / per_leaf_;
    const std::uint32_t there = to / per_leaf_;
    const std::uint64_t hash = scramble(shape_.seed, (std::uint64_t{from} << 32) | to);
    const auto spine = static_cast<std::uint32_t>(hash % per_leaf_);
    const auto core = static_cast<std::uint32_t>((hash >> 32) % per_leaf_);
    const std::uint32_t tier = leaves_ * per_leaf_;
    const std::uint32_t up = 2 * shape_.hosts;
    problem.uses.push_back({from, 1});
    if (here != there) {
      problem.uses.push_back({up + here * per_leaf_ + spine, 1});
      const std::uint32_t pod_here = here / per_leaf_;
      const std::uint32_t pod_there = there / per_leaf_;
      if (shape_.tiers == 3 && pod_here != pod_there) {
        problem.uses.push_back(
            {up + 2 * tier + (pod_here * per_leaf_ + spine) * per_leaf_ + core, 1});
        problem.uses.push_back(
            {up + 3 * tier + (pod_there * per_leaf_ + spine) * per_leaf_ + core, 1});
      }
      problem.uses.push_back({up + tier + there * per_leaf_ + spine, 1});
    }
    problem.uses.push_back({shape_.hosts + to, 1});
  }

 private:
  const Permutation& shape_;
  std::uint32_t per_leaf_ = 1, leaves_ = 1;
};

/// Fisher-Yates with hashed draws.
std::vector<std::uint32_t> shuffled(std::uint32_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[scramble(seed, i) % i]);
  }
  return order;
}

}  // namespace

Problem permutation(const Permutation& shape) {
  Problem problem;
  const HashedTree tree(shape);
  problem.links.assign(tree.links(), ProblemLink{shape.bandwidth});
  problem.programs = {{arrive(0), wait(0)}};
  problem.actors.resize(1);
  problem.actors[0].groups = {0};
  append_group(problem, 1, 0, Activity::data);
  problem.flows.reserve(shape.hosts);
  const std::vector<std::uint32_t> to = shuffled(shape.hosts, shape.seed);
  for (std::uint32_t from = 0; from < shape.hosts; ++from) {
    if (to[from] != from) {
      const std::size_t first = problem.uses.size();
      tree.append_route(from, to[from], problem);
      const double draw = static_cast<double>(scramble(shape.seed + 1, from) >> 11) * 0x1p-53;
      const core::Bytes size = shape.equal_sizes ? shape.size : shape.size * (0.5 + draw);
      append_flow(problem, size, 0, static_cast<std::uint32_t>(problem.uses.size() - first));
    }
  }
  return problem;
}

}  // namespace headway::network::patterns
