// Steps of the bidirectional schedule: its bubble, its groups of mirrored stages, and that folding
// changes nothing.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"

#include "tests/training/answers.h"
#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Activity;
using core::Rank;
using workload::Group;
using workload::OperationKind;
using workload::ScheduleKind;
using workload::Sharding;

/// The eight nodes with micro-batches both ways, as many as 4 stages need or twice that.
Scenario both_ways(int tensor, int pipeline, int micro_batches) {
  Scenario s = eight_nodes();
  s.parallelism.tensor = tensor;
  s.parallelism.pipeline = pipeline;
  s.parallelism.schedule = ScheduleKind::dual_pipe;
  s.training.global_batch = 64 / (tensor * pipeline) * micro_batches;
  return s;
}

/// Time of a layer's passes; all else takes none.
struct LayerTimes {
  double forward = 0, input_gradient = 0, weight_gradient = 0;
};

/// The step graph with these times in place of kernels and collectives; messages stay.
workload::StepGraph timed(workload::StepGraph graph, const LayerTimes& times) {
  const std::vector<std::pair<std::string, double>> known{
      {"layer forward", times.forward},
      {"layer backward", times.input_gradient + times.weight_gradient},
      {"layer input gradient", times.input_gradient},
      {"layer weight gradient", times.weight_gradient}};
  for (workload::Block& block : graph.blocks) {
    std::erase_if(block.operations, [](const workload::Operation& o) {
      return o.kind != OperationKind::send && o.kind != OperationKind::receive;
    });
    for (const auto& [name, seconds] : known) {
      if (block.name.ends_with(name)) {
        workload::Operation work;
        work.kind = OperationKind::delay;
        work.duration = core::Seconds(seconds);
        block.operations = {work};
      }
    }
  }
  return graph;
}

/// Seconds of a step of equal stages beyond m (F + B), simulated event by event over the fabric.
double simulated_bubble(const Scenario& s, const LayerTimes& times) {
  const auto checked = check(s);
  const auto graph = workload::build_step_graph(s.model, s.training, s.parallelism,
                                                checked.data_parallel(), checked.micro_batches());
  const auto lowered = lower(checked, timed(graph, times), build_fabric(s.cluster));
  const auto run = network::run(lowered.problem, {});
  const double layers = static_cast<double>(s.model.layers) / s.parallelism.pipeline;
  const double pass = layers * (times.forward + times.input_gradient + times.weight_gradient);
  return core::Clock::step().to_seconds(run.end).si() - checked.micro_batches() * pass;
}

// (p/2 - 1)(F&B + B - 3W) with F&B = F + B, where a forward lasts as long as an input gradient; a
// message takes under a millisecond, a pass seconds.
TEST(DualPipe, LeavesThePublishedBubbleInTheEventSimulation) {
  for (const auto& times : {LayerTimes{1, 1, 1}, LayerTimes{2, 2, 1}}) {
    for (const int p : {2, 4, 8}) {
      const double layers = 16.0 / p;
      const workload::StageTimes stage{
          core::Seconds(layers * times.forward),
          core::Seconds(layers * (times.input_gradient + times.weight_gradient)),
          core::Seconds(layers * times.weight_gradient)};
      const double expected = workload::pipeline_bubble(ScheduleKind::dual_pipe, p, 1, stage).si();
      EXPECT_NEAR(simulated_bubble(both_ways(8, p, 4 * p), times), expected, 0.05) << "p" << p;
    }
  }
}

// The same layers on as many ranks: a V of half the stages with twice the replicas.
TEST(DualPipe, TakesAsLongAsDualPipeVOfHalfTheStages) {
  Scenario s = both_ways(8, 4, 16);
  const LayerTimes times{1, 1.5, 0.75};
  const double bubble = simulated_bubble(s, times);
  const StepResult both = simulate_step(check(s));
  s.parallelism.pipeline = 2;
  s.parallelism.schedule = ScheduleKind::dual_pipe_v;
  EXPECT_NEAR(simulated_bubble(s, times), bubble, 0.05);
  const StepResult folded = simulate_step(check(s));
  EXPECT_NEAR(both.time / folded.time, 1, 0.01);
  EXPECT_EQ(both.memory.by_kind.weights, folded.memory.by_kind.weights);
  EXPECT_EQ(both.memory.by_kind.optimizer, folded.memory.by_kind.optimizer);
  EXPECT_EQ(both.memory.by_kind.activations, folded.memory.by_kind.activations);
}

TEST(DualPipe, WaitsLessForOtherStagesThan1F1B) {
  Scenario s = both_ways(8, 4, 16);
  const StepResult both = simulate_step(check(s));
  s.parallelism.schedule = ScheduleKind::one_f_one_b;
  const StepResult one = simulate_step(check(s));
  EXPECT_LT(both.breakdown[Activity::pipeline_bubble].si(),
            0.6 * one.breakdown[Activity::pipeline_bubble].si());
  EXPECT_GT(both.memory.by_kind.weights.si(), 1.9 * one.memory.by_kind.weights.si());
}

TEST(DualPipe, BreakdownAndCriticalPathAddUpToTheStep) {
  for (const bool overlap : {true, false}) {
    Scenario s = both_ways(8, 4, 8);
    s.training.framework.data_overlap = overlap;
    const StepResult step = simulate_step(check(s));
    EXPECT_NEAR(sum(step.breakdown), step.time.si(), 1e-9 * step.time.si());
    EXPECT_NEAR(sum(step.critical_path), step.time.si(), 1e-9 * step.time.si());
  }
}

TEST(DualPipe, FoldedAndUnfoldedGiveTheSameTicks) {
  for (const int tensor : {2, 8}) {
    for (const auto order :
         {workload::RankOrder::data_first, workload::RankOrder::pipeline_first}) {
      for (const Sharding sharding :
           {Sharding::zero0, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
        Scenario s = both_ways(tensor, 4, 8);
        s.parallelism.rank_order = order;
        s.parallelism.sharding = sharding;
        const auto checked = check(s);
        const StepResult folded = simulate_step(checked, {.fold = true});
        const StepResult unfolded = simulate_step(checked, {.fold = false});
        EXPECT_EQ(folded.time, unfolded.time) << core::to_word(sharding);
        EXPECT_EQ(folded.result_digest, unfolded.result_digest) << core::to_word(sharding);
        EXPECT_LT(folded.rank_classes, folded.ranks);
        for (std::size_t a = 0; a < core::kActivities; ++a) {
          EXPECT_NEAR(folded.breakdown.values[a].si(), unfolded.breakdown.values[a].si(), 1e-9);
          EXPECT_EQ(folded.critical_path.values[a], unfolded.critical_path.values[a]) << a;
        }
      }
    }
  }
}

// A slow GPU holds up its own stage in one direction and the mirrored one in the other.
TEST(DualPipe, FoldsAroundASlowGpuToTheSameTicks) {
  const auto checked = check(both_ways(8, 4, 8));
  const StepResult healthy = simulate_step(checked);
  StepOptions options;
  options.degradations = {{Degradation::Kind::gpu, 0.8, Rank(17)}};
  const StepResult folded = simulate_step(checked, options);
  options.fold = false;
  const StepResult unfolded = simulate_step(checked, options);
  EXPECT_EQ(folded.time, unfolded.time);
  EXPECT_EQ(folded.result_digest, unfolded.result_digest);
  EXPECT_GT(folded.time, healthy.time);
}

TEST(DualPipe, FoldsMixturesOfExpertsToTheSameTicks) {
  Scenario s = both_ways(2, 4, 8);
  s.model.moe = workload::ExpertsSpec{};
  s.model.moe->experts = 16;
  s.model.moe->top_k = 2;
  s.model.moe->ffn = 1792;
  s.model.moe->leading_dense_layers = 1;
  s.model.multi_token_prediction = 1;
  s.parallelism.expert = 4;
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1, Sharding::zero3}) {
    s.parallelism.sharding = sharding;
    const auto checked = check(s);
    const StepResult folded = simulate_step(checked, {.fold = true});
    const StepResult unfolded = simulate_step(checked, {.fold = false});
    EXPECT_EQ(folded.time, unfolded.time) << core::to_word(sharding);
    EXPECT_EQ(folded.result_digest, unfolded.result_digest) << core::to_word(sharding);
    EXPECT_NEAR(sum(folded.breakdown), folded.time.si(), 1e-9 * folded.time.si());
  }
}

// Stages 0 and 3 hold the same layers, so do 1 and 2: rank 1 of stage 0 is 1, of stage 3 it is 49.
TEST(RankLayout, RanksWithTheSameWeightsAreOnAStageAndItsMirror) {
  const auto checked = check(both_ways(8, 4, 8));
  const RankLayout ranks = rank_layout(checked);
  EXPECT_EQ(ranks.members(Group::data_context, Rank(1)),
            (std::vector<Rank>{Rank(1), Rank(9), Rank(49), Rank(57)}));
  EXPECT_EQ(ranks.members(Group::data_context, Rank(57)),
            ranks.members(Group::data_context, Rank(1)));
  EXPECT_EQ(ranks.members(Group::data_context, Rank(34)),
            (std::vector<Rank>{Rank(18), Rank(26), Rank(34), Rank(42)}));
}

TEST(RankLayout, EveryRankIsInOneGroupOfMirroredStages) {
  workload::ParallelismSpec p = both_ways(2, 4, 8).parallelism;
  p.context = 2;
  p.expert = 4;
  p.expert_tensor = 2;
  for (const auto order : {workload::RankOrder::data_first, workload::RankOrder::pipeline_first}) {
    p.rank_order = order;
    const RankLayout ranks(p, 4);
    for (const Group group : {Group::data_context, Group::expert_data}) {
      std::vector<int> seen(static_cast<std::size_t>(ranks.ranks()));
      for (std::uint32_t r = 0; r < seen.size(); ++r) {
        const auto members = ranks.members(group, Rank(r));
        EXPECT_EQ(members.size(), group == Group::data_context ? 2U * 4U * 2U : 2U * 16U / 8U);
        EXPECT_EQ(ranks.leader(group, Rank(r)), members.front());
        if (members.front() == Rank(r)) {
          for (const Rank member : members) {
            ++seen[member.index()];
          }
        }
      }
      EXPECT_EQ(std::set<int>(seen.begin(), seen.end()), std::set<int>{1});
    }
  }
}

// Two replicas x two copies share each gradient; 8 tensor ranks x 2 pairs of stages have a group a
// reduction. Every group's flows touch the network cards of its four ranks alone.
TEST(DualPipeLowering, GradientsAreReducedOverBothCopies) {
  const Scenario s = both_ways(8, 4, 8);
  const auto checked = check(s);
  const auto graph = workload::build_step_graph(s.model, s.training, s.parallelism, 2, 8);
  const auto step = lower(checked, graph, build_fabric(s.cluster));
  std::size_t reductions = 0;
  for (std::size_t g = 0; g < step.problem.groups.size(); ++g) {
    const auto& group = step.problem.groups[g];
    const auto& use = step.collectives[step.use_of_group[g]];
    if (use.call.kind == core::CollectiveKind::reduce_scatter && group.activity == Activity::data) {
      EXPECT_EQ(group.need, 4U);
      EXPECT_EQ(use.shape.ranks, 4);
      EXPECT_TRUE(group.across_stages);
      EXPECT_GT(group.flows, 0U);
      ++reductions;
    }
  }
  EXPECT_GT(reductions, 0U);
  EXPECT_EQ(reductions % 16U, 0U);
}

// Each micro-batch crosses the three boundaries between four stages forward and backward, whichever
// way it goes: between neighbours m messages each way, half of them activations.
TEST(DualPipeLowering, NeighboursSendMessagesOfBothDirections) {
  const Scenario s = both_ways(8, 4, 12);
  const auto graph = workload::build_step_graph(s.model, s.training, s.parallelism, 2, 12);
  std::map<std::tuple<int, int, int>, int> sent, received;  // from, to, channel
  for (int stage = 0; stage < 4; ++stage) {
    for (const auto& call : graph.stages[static_cast<std::size_t>(stage)].calls) {
      for (const auto& o : graph.blocks[static_cast<std::size_t>(call.block)].operations) {
        if (o.kind == OperationKind::send) {
          ++sent[{stage, o.peer_stage, o.channel}];
        } else if (o.kind == OperationKind::receive) {
          ++received[{o.peer_stage, stage, o.channel}];
        }
      }
    }
  }
  EXPECT_EQ(sent, received);
  EXPECT_EQ(sent.size(), 3U * 2U * 2U);  // boundaries x ways x activations or gradients
  for (const auto& [between, count] : sent) {
    EXPECT_EQ(std::abs(std::get<0>(between) - std::get<1>(between)), 1);
    EXPECT_EQ(count, 6);
  }
}

}  // namespace
}  // namespace headway::training
