// Jobs on nodes of several kinds: what each stage, group and GPU goes by.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/explain/observed_rank.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"
#include "sim/training/unequal/node_kinds.h"

#include "tests/training/answers.h"
#include "tests/training/fixture.h"
#include "tests/training/same_step.h"

namespace headway::training {
namespace {

using namespace core::literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using workload::RankOrder;

/// Half as fast in everything, with half the memory.
NodeSpec slow_node(const NodeSpec& node) {
  NodeSpec slow = node;
  slow.name = "slow node";
  slow.gpu.name = "half an H100";
  for (core::FlopsPerSecond* rate : {&slow.gpu.peak.fp32, &slow.gpu.peak.tf32, &slow.gpu.peak.fp16,
                                     &slow.gpu.peak.bf16, &slow.gpu.peak.fp8}) {
    *rate *= 0.5;
  }
  slow.gpu.memory_bandwidth *= 0.5;
  slow.gpu.kernel_launch *= 2;
  slow.gpu.memory *= 0.5;
  return slow;
}

/// TP 8 x PP 2 x DP 4 on eight nodes: a stage on four of each kind.
Scenario two_unequal_stages() {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 2;
  s.training.framework.step_overhead = core::Seconds(0);
  s.cluster.other_nodes = {{4, slow_node(s.cluster.node)}};
  return s;
}

/// The same with all nodes of one kind.
Scenario all_of(int kind, const Scenario& s) { return of_one_kind(s, kind); }

std::string first_complaint(const Scenario& s) {
  try {
    check(Scenario(s));
  } catch (const core::Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "";
}

TEST(UnequalNodes, KindsStandSideBySideInTheOrderOfTheNodes) {
  Scenario s = eight_nodes();
  s.cluster.other_nodes = {{2, slow_node(s.cluster.node)}, {1, slow_node(s.cluster.node)}};
  std::vector<int> kinds;
  for (int node = 0; node < s.cluster.nodes; ++node) {
    kinds.push_back(kind_of_node(s.cluster, node));
  }
  EXPECT_THAT(kinds, ElementsAre(0, 0, 0, 0, 0, 1, 1, 2));
  EXPECT_EQ(nodes_of_kind(s.cluster, 0), 5);
  EXPECT_EQ(nodes_of_kind(s.cluster, 2), 1);
}

TEST(UnequalNodes, StagesOrReplicasAreOnAKindAsTheOrderOfTheRanksHasIt) {
  Scenario s = two_unequal_stages();
  EXPECT_THAT(replicas_by_kind(s.cluster, s.parallelism, 4), ElementsAre(ElementsAre(0, 1)));
  s.parallelism.rank_order = RankOrder::pipeline_first;
  EXPECT_THAT(replicas_by_kind(s.cluster, s.parallelism, 4),
              ElementsAre(ElementsAre(0, 0), ElementsAre(1, 1)));
  EXPECT_THAT(kinds_of_stages(s.cluster, s.parallelism, 4),
              ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1)));
}

// Each kind runs the attention that its GPUs have.
TEST(UnequalNodes, OlderGpusKeepTheirScoresInMemory) {
  using workload::AttentionKernels;
  Scenario s = two_unequal_stages();
  s.cluster.other_nodes[0].node.gpu.architecture = gpu::Architecture::volta;
  const auto checked = check(Scenario(s)).scenario();
  const auto kernels = [](const Scenario& one) { return one.training.framework.attention_kernels; };
  EXPECT_EQ(kernels(of_one_kind(checked, 0)), AttentionKernels::newest);
  EXPECT_EQ(kernels(of_one_kind(checked, 1)), AttentionKernels::unfused);
}

TEST(UnequalNodes, OfOneSpeedAreTheStepOfEqualNodes) {
  for (const RankOrder order : {RankOrder::data_first, RankOrder::pipeline_first}) {
    Scenario equal = eight_nodes();
    equal.parallelism.rank_order = order;
    equal.parallelism.sharding = workload::Sharding::zero1;
    Scenario named = equal;
    named.cluster.other_nodes = {{3, equal.cluster.node}};
    const StepResult a = step_of(equal), b = step_of(named);
    EXPECT_EQ(a.time, b.time);
    EXPECT_DOUBLE_EQ(a.mfu, b.mfu);
    EXPECT_EQ(a.memory.peak, b.memory.peak);
  }
}

/// A stage works as long as it does where all nodes are of its kind, the kernels of half a GPU
/// taking twice as long.
TEST(UnequalNodes, EveryStageWorksAtTheSpeedOfItsOwnGpus) {
  const Scenario s = two_unequal_stages();
  const auto mixed = step_of(s), fast = step_of(all_of(0, s)), slow = step_of(all_of(1, s));
  EXPECT_EQ(mixed.stage_work[0], fast.stage_work[0]);
  EXPECT_EQ(mixed.stage_work[1], slow.stage_work[1]);
  EXPECT_GT(mixed.stage_work[1], 1.5 * mixed.stage_work[0]);
}

/// One more micro-batch of a full pipeline takes what the slowest stage takes for it: with n_0
/// layers on fast GPUs and n_1 on slow ones max(t_0(n_0), t_1(n_1)), each as if alone.
TEST(UnequalNodes, AMicroBatchTakesWhatTheSlowestStageTakes) {
  const auto each = [](Scenario s, std::size_t stage) {
    s.training.global_batch *= 2;
    const auto work = step_of(s).stage_work[stage];
    s.training.global_batch /= 2;
    return work - step_of(s).stage_work[stage];
  };
  const auto more = [](Scenario s) {
    s.training.global_batch *= 2;
    const auto time = time_of(s);
    s.training.global_batch /= 2;
    return time - time_of(s);
  };
  for (const std::vector<int>& layers : {std::vector{8, 8}, {11, 5}, {14, 2}}) {
    Scenario s = two_unequal_stages();
    s.training.global_batch = 64;
    s.parallelism.chunk_layers = layers;
    const auto slowest = std::max(each(all_of(0, s), 0), each(all_of(1, s), 1));
    EXPECT_NEAR(more(s) / slowest, 1, 0.02) << layers[0];
  }
}

TEST(UnequalNodes, LayersInProportionAreFaster) {
  Scenario even = two_unequal_stages();
  even.training.global_batch = 128;
  Scenario proportional = even;
  // Products take twice as long and tensor-parallel messages as long as before; the head is on the
  // second stage.
  proportional.parallelism.chunk_layers = {11, 5};
  EXPECT_LT(time_of(proportional), 0.8 * time_of(even));
}

/// Replicas meet where gradients are reduced, so all go with the slowest.
TEST(UnequalNodes, ReplicasWaitForTheSlowest) {
  Scenario s = two_unequal_stages();
  s.parallelism.rank_order = RankOrder::pipeline_first;
  EXPECT_NEAR(time_of(s) / time_of(all_of(1, s)), 1, 0.02);
}

TEST(UnequalNodes, FoldedStepsAreThoseOfEveryRank) {
  for (const RankOrder order : {RankOrder::data_first, RankOrder::pipeline_first}) {
    Scenario s = two_unequal_stages();
    s.parallelism.rank_order = order;
    s.parallelism.sharding = workload::Sharding::zero1;
    s.cluster.other_nodes[0].node.nic.bandwidth = 200_Gbps;
    s.cluster.other_nodes[0].node.scale_up.bandwidth = 300_GBps;
    expect_the_same_step(s);
  }
}

TEST(UnequalNodes, LinksAreAsFastAsThoseOfTheirNodes) {
  Scenario s = two_unequal_stages();
  s.cluster.other_nodes[0].node.nic.bandwidth = 100_Gbps;
  s.cluster.other_nodes[0].node.scale_up.bandwidth = 300_GBps;
  const network::Fabric fabric = build_fabric(s.cluster);
  const auto card = [&](std::uint32_t node) {
    return fabric.link(fabric.nic_link(node, 3, 0, true)).capacity;
  };
  EXPECT_DOUBLE_EQ(card(4) / card(3), 0.25);
  const auto port = [&](std::uint32_t gpu) {
    return fabric.link(fabric.scale_up_link(gpu, false)).capacity;
  };
  EXPECT_DOUBLE_EQ(port(32) / port(31), 300.0 / 450);
}

/// A message from a fast card to a slow one: bytes / (rate of the slow one x efficiency), behind
/// nothing else; 4,096 x 4,096 values of bf16 over 8 tensor ranks.
TEST(UnequalNodes, AMessageGoesByTheSlowerCard) {
  Scenario s = two_unequal_stages();
  const auto message = [&] {
    const auto checked = check(Scenario(s));
    const LoweredStep lowered =
        lower(checked, step_graph(checked), build_fabric(checked.scenario().cluster));
    for (const CollectiveUse& use : lowered.collectives) {
      if (use.name == "pipeline message") {
        return use.alone.total;
      }
    }
    return core::Seconds(0);
  };
  const auto fast = message();
  s.cluster.other_nodes[0].node.nic.bandwidth = 100_Gbps;
  const auto slow = message();
  const core::Bytes bytes(2.0 * 4096 * 4096 / 8);
  const auto rate = 100_Gbps * s.cluster.fabric.efficiency;
  EXPECT_NEAR((slow - fast) / (bytes / rate - bytes / (4 * rate)), 1, 0.05);
}

/// 80 GB beside 40 GB: the fullest GPU is the one with the least left in proportion.
TEST(UnequalNodes, MemoryOfAStageIsThatOfItsOwnGpus) {
  Scenario s = two_unequal_stages();
  s.parallelism.chunk_layers = {10, 6};
  const MemoryResult memory = predict_memory(check(Scenario(s)));
  EXPECT_EQ(memory.capacity, 40_GB);
  EXPECT_EQ(memory.peak_stage, 1);
  EXPECT_EQ(memory.peak, memory.stage_peak[1]);
  EXPECT_TRUE(memory.fits);
  s.cluster.other_nodes[0].node.gpu.memory = memory.stage_peak[1] * 0.99;
  EXPECT_FALSE(predict_memory(check(Scenario(s))).fits);
}

/// MFU counts what all GPUs could do: (4 x 989 + 4 x 494.5) / 8 TFLOP/s a GPU.
TEST(UnequalNodes, ThePeakIsTheMeanOfAllGpus) {
  const Scenario s = two_unequal_stages();
  EXPECT_DOUBLE_EQ(mean_peak(s).si(), 0.75 * 989e12);
  const StepResult step = step_of(s);
  EXPECT_DOUBLE_EQ(step.mfu, step.model_flops_per_gpu / (989_TFLOPs * 0.75));
}

/// What the tier says of a step whose transfers are all alone, against the simulation.
double tier_error(const Scenario& s) {
  const auto checked = check(Scenario(s));
  const auto alone = simulate_step(checked, {.contention = false}).time;
  return analytic::AnalyticTier(s).evaluate(checked).time / alone - 1;
}

/// The tier is off by as much as where all nodes are of either kind.
TEST(UnequalNodes, TheAnalyticTierIsAsCloseAsOnEqualNodes) {
  for (const RankOrder order : {RankOrder::data_first, RankOrder::pipeline_first}) {
    for (const auto sharding : {workload::Sharding::zero0, workload::Sharding::zero1}) {
      Scenario s = two_unequal_stages();
      s.parallelism.rank_order = order;
      s.parallelism.sharding = sharding;
      s.parallelism.chunk_layers = {10, 6};
      s.cluster.other_nodes[0].node.nic.bandwidth = 200_Gbps;
      const double equal =
          std::max(std::abs(tier_error(all_of(0, s))), std::abs(tier_error(all_of(1, s))));
      EXPECT_LE(std::abs(tier_error(s)), equal + 0.002) << core::to_word(order);
    }
  }
}

TEST(UnequalNodes, OneStageMayBeOnBothKindsButNotItsTensorRanks) {
  Scenario s = eight_nodes();
  s.cluster.node.gpus = 4;
  s.cluster.nodes = 16;
  s.cluster.node.nic.count = 4;
  s.cluster.node.scale_up.domain_gpus = 4;
  s.cluster.other_nodes = {{5, s.cluster.node}};
  s.cluster.other_nodes[0].node.name = "other node";
  EXPECT_EQ(first_complaint(s),
            "tensor 8 x context 1 = 8 ranks of one stage would lie on both test node and other "
            "node, which is not modelled: they do not divide the 44 GPUs before the first other "
            "node");
  s.cluster.other_nodes[0].nodes = 6;
  EXPECT_EQ(first_complaint(s), "");
}

TEST(UnequalNodes, WhatIsNotModelledIsRefusedByName) {
  const auto with = [](auto change) {
    Scenario s = two_unequal_stages();
    change(s);
    return first_complaint(s);
  };
  EXPECT_EQ(with([](Scenario& s) { s.cluster.other_nodes[0].nodes = 8; }),
            "8 other nodes leave none of the 8 for 'cluster.node'; 'nodes' counts all");
  EXPECT_THAT(with([](Scenario& s) { s.cluster.other_nodes[0].node.gpus = 4; }),
              HasSubstr("slow node has gpus 4, and test node has 8: nodes of one job that differ "
                        "in this are not modelled"));
  EXPECT_EQ(with([](Scenario& s) { s.cluster.other_nodes[0].node.nic.bandwidth = 800_Gbps; }),
            "nic.bandwidth of 100 GB/s of slow node is above the 50 GB/s of test node; make the "
            "nodes with the fastest links 'cluster.node', and the others 'other_nodes'");
  EXPECT_EQ(with([](Scenario& s) { s.cluster.placement = Placement::random; }),
            "a placement that moves nodes beside 'other_nodes' is not modelled; write 'placement: "
            "packed'");
  EXPECT_THAT(with([](Scenario& s) { s.calibration.kernel_launch = core::Seconds(1e-6); }),
              HasSubstr("a calibration, which is of one kind of GPU, beside 'other_nodes' is not "
                        "modelled; write what was measured into the GPUs of both kinds"));
  EXPECT_THAT(with([](Scenario& s) {
                s.cluster.other_nodes[0].node.gpu.peak.bf16 = core::FlopsPerSecond(0);
                s.cluster.other_nodes[0].node.gpu.peak.fp16 = core::FlopsPerSecond(0);
              }),
              HasSubstr("half an H100"));
}

// Timers of a rank are of one kind of node; whoever asks for them is told so.
TEST(UnequalNodes, HaveNoTimersOfRanksYet) {
  const auto checked = check(two_unequal_stages());
  const std::vector<core::Rank> ranks{core::Rank(0U)};
  try {
    observe_ranks(checked, ranks);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.diagnostics().front().message,
                HasSubstr("comparing profiles on nodes of several kinds is not modelled"));
  }
}

// What the kinds cost in the mean, by their nodes: (4 x 2 + 2 x 1 + 2 x 4) / 8 / 2 of two dollars.
TEST(UnequalNodes, CostTheMeanOfTheirPrices) {
  auto s = two_unequal_stages();
  EXPECT_EQ(relative_price(s), 1);
  auto& prices = s.run.prices.emplace();
  prices.gpu_hour = core::Dollars(2) / core::Seconds(3600);
  EXPECT_EQ(relative_price(s), 1);
  auto third = s.cluster.other_nodes[0];
  s.cluster.other_nodes[0].nodes = third.nodes = 2;
  s.cluster.other_nodes.push_back(third);
  s.cluster.other_nodes[0].gpu_hour = core::Dollars(1) / core::Seconds(3600);
  s.cluster.other_nodes[1].gpu_hour = core::Dollars(4) / core::Seconds(3600);
  EXPECT_DOUBLE_EQ(relative_price(s), (4 * 2 + 2 * 1 + 2 * 4) / 8.0 / 2);
  s.cluster.other_nodes[1].gpu_hour.reset();
  EXPECT_DOUBLE_EQ(relative_price(s), (4 * 2 + 2 * 1 + 2 * 2) / 8.0 / 2);
}

}  // namespace
}  // namespace headway::training
