#include "sim/training/step/step.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <set>
#include <vector>

#include "sim/gpu/kernel_time.h"
#include "sim/training/step/lower.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"

#include "tests/training/answers.h"
#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Activity;

TEST(StepSimulation, BreakdownAndCriticalPathAddUpToTheStep) {
  const StepResult step = simulate_step(check(eight_nodes()));
  EXPECT_NEAR(sum(step.breakdown), step.time.si(), 1e-9 * step.time.si());
  EXPECT_NEAR(sum(step.critical_path), step.time.si(), 1e-9 * step.time.si());
  EXPECT_EQ(step.critical_path[Activity::pipeline_bubble].si(), 0);
}

TEST(StepSimulation, FoldedAndUnfoldedGiveTheSameTicks) {
  for (const int tensor : {1, 2, 8}) {
    for (const auto order :
         {workload::RankOrder::data_first, workload::RankOrder::pipeline_first}) {
      auto s = eight_nodes();
      s.parallelism.tensor = tensor;
      s.parallelism.rank_order = order;
      const auto checked = check(s);
      const StepResult folded = simulate_step(checked, {.fold = true});
      const StepResult unfolded = simulate_step(checked, {.fold = false});
      EXPECT_EQ(folded.time, unfolded.time);
      EXPECT_EQ(folded.result_digest, unfolded.result_digest);
      EXPECT_EQ(unfolded.ranks, 64);
      EXPECT_LT(folded.rank_classes, folded.ranks);
      for (std::size_t a = 0; a < core::kActivities; ++a) {
        EXPECT_NEAR(folded.breakdown.values[a].si(), unfolded.breakdown.values[a].si(), 1e-9) << a;
        EXPECT_EQ(folded.critical_path.values[a], unfolded.critical_path.values[a]) << a;
      }
    }
  }
}

// Stalls of 0.5 of the CPU's time on each of 8 tensor ranks: 1 + 8 x 0.5 = 5, where messages
// between stages leave the node; alone on a node, or without stages, 1.
TEST(LaunchModel, StallsWhereMessagesLeaveTheNode) {
  Scenario s = eight_nodes();
  s.training.framework.host.stall = 0.5;
  EXPECT_EQ(launch_model(s, s.parallelism).slowdown, 5);
  auto one_stage = s.parallelism;
  one_stage.pipeline = 1;
  EXPECT_EQ(launch_model(s, one_stage).slowdown, 1);
  // 2 tensor ranks of 4 stages fill a node where stages are counted before replicas.
  auto inside = s.parallelism;
  inside.tensor = 2;
  inside.pipeline = 4;
  EXPECT_EQ(launch_model(s, inside).slowdown, 2);
  inside.rank_order = workload::RankOrder::pipeline_first;
  EXPECT_EQ(launch_model(s, inside).slowdown, 1);
  inside.tensor = 4;  // and do not fit into one
  EXPECT_EQ(launch_model(s, inside).slowdown, 3);
  s.cluster.nodes = 1;
  EXPECT_EQ(launch_model(s, s.parallelism).slowdown, 1);
}

// A CPU of 10 ms a layer is the slower one by far: 4 micro-batches fill 4 stages of 4 layers and
// empty them, 7 slots of 4 layers forward and backward, 560 ms and little more, whatever the
// tokens.
TEST(StepSimulation, AStepBoundByTheHostDoesNotKnowItsTokens) {
  Scenario s = eight_nodes();
  s.training.framework.host.layer = core::Seconds(10e-3);
  s.training.global_batch = 8;
  for (const int tokens : {1024, 4096}) {
    s.training.sequence_length = tokens;
    const StepResult step = simulate_step(check(s));
    EXPECT_NEAR(step.time.si(), 0.575, 0.02) << tokens;
    EXPECT_GT(step.breakdown[Activity::launch], 0.4 * step.time);
  }
}

// One GPU talks to nobody: the step is the sum of its kernels (rounded to ticks once an operation).
TEST(StepSimulation, OneGpuTakesTheSumOfItsKernels) {
  auto s = eight_nodes();
  s.cluster.nodes = 1;
  s.cluster.node.gpus = 1;
  s.cluster.node.nic.count = 1;
  s.cluster.node.scale_up.domain_gpus = 1;
  s.parallelism.tensor = 1;
  s.parallelism.pipeline = 1;
  s.training.framework.host.launch = core::Seconds(0);
  s.training.global_batch = 4;
  const auto checked = check(s);
  const auto graph = workload::build_step_graph(s.model, s.training, s.parallelism, 1, 4);
  const KernelTimes times = kernel_times(s);
  double expected = 0;
  for (const auto& call : graph.stages[0].calls) {
    for (const auto& operation : graph.blocks[static_cast<std::size_t>(call.block)].operations) {
      expected +=
          call.repeat *
          (operation.duration.si() +
           gpu::kernels_time(*times.gpu, times.shares, operation.kernels, times.launch).si());
    }
  }
  const StepResult step = simulate_step(checked);
  EXPECT_GT(expected, 0.1);
  EXPECT_NEAR(step.time.si(), expected, 1e-6);
}

// MFU = model FLOPs a token x tokens a second and GPU / peak.
TEST(StepSimulation, MfuFollowsFromItsDefinition) {
  const auto s = eight_nodes();
  const StepResult step = simulate_step(check(s));
  const double tokens = 32.0 * 4096;
  const auto flops = workload::training_flops_per_token(s.model, 4096, s.parallelism.recompute);
  EXPECT_NEAR(step.mfu, tokens * flops.mfu.si() / (step.time.si() * 64 * 989e12), 1e-12);
  EXPECT_GT(step.mfu, 0.1);
  EXPECT_LT(step.mfu_causal, step.mfu);
  EXPECT_LT(step.interval_low, step.time);
  EXPECT_GT(step.interval_high, step.time);
}

TEST(StepSimulation, RecomputingActivationsCostsTimeAndSavesMemory) {
  auto s = eight_nodes();
  const StepResult none = simulate_step(check(s));
  s.parallelism.recompute = workload::Recompute::full;
  const StepResult full = simulate_step(check(s));
  EXPECT_GT(full.time.si(),
            1.15 * none.time.si());  // one more forward of three: at most a third more
  EXPECT_LT(full.time.si(), 1.40 * none.time.si());
  EXPECT_LT(full.memory.by_kind.activations, none.memory.by_kind.activations);
  EXPECT_GT(full.hfu, full.mfu);
}

// Four equal stages, eight micro-batches, no data parallelism: each rank stands idle for 3 of the
// 11 slots of 1F1B, warm-up and drain alike, whatever it waits in at the end (a message, the norm).
TEST(StepSimulation, WaitingForOtherStagesIsTheBubbleAtBothEnds) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 4;
  s.model.vocabulary = 1024;
  s.training.global_batch = 8;
  const auto step = simulate_step(check(s));
  const auto& parts = step.breakdown;
  const core::Seconds pipeline = step.time - parts[Activity::optimizer] - parts[Activity::data];
  EXPECT_NEAR((parts[Activity::pipeline_bubble] + parts[Activity::stage_imbalance]) / pipeline,
              3.0 / 11, 0.01);
  EXPECT_LT(parts[Activity::data] / step.time, 0.005);
}

TEST(StepSimulation, ASlowFabricShowsAsDataParallelTime) {
  auto s = eight_nodes();
  const StepResult fast = simulate_step(check(s));
  s.cluster.fabric.link_bandwidth = core::BytesPerSecond(1e9);
  s.cluster.node.nic.bandwidth = core::BytesPerSecond(1e9);
  const StepResult slow = simulate_step(check(s));
  EXPECT_GT(slow.breakdown[Activity::data].si(), 5 * fast.breakdown[Activity::data].si());
  EXPECT_EQ(slow.breakdown[Activity::compute], fast.breakdown[Activity::compute]);
}

TEST(StepSimulation, ARepeatGivesTheSameDigests) {
  const auto checked = check(eight_nodes());
  const StepResult a = simulate_step(checked);
  const StepResult b = simulate_step(checked);
  EXPECT_EQ(a.event_digest, b.event_digest);
  EXPECT_EQ(a.result_digest, b.result_digest);
  EXPECT_NE(a.event_digest, 0U);
}

// Tensor groups stay inside a node, so every byte they send crosses NVLink; a ring of n ranks sends
// (n-1)/n of a gathered array from each rank. Doubling the bandwidth of NVLink halves its use, but
// for the shorter step. Weights of all layers and of experts are gathered and reduced at once over
// slow links: each group as if alone.
TEST(StepSimulation, MoreThanTheLinksCarryIsWarnedOf) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 1;
  s.cluster.node.scale_up.bandwidth = core::BytesPerSecond(20e9);
  s.parallelism.tensor = 1;
  s.parallelism.pipeline = 1;
  s.parallelism.sharding = workload::Sharding::zero3;
  s.model.moe.emplace();
  s.model.moe->experts = 16;
  s.model.moe->ffn = 2048;
  const StepResult slow = simulate_step(check(s));
  ASSERT_GT(slow.links.front().mean, 1.01);
  ASSERT_EQ(slow.warnings.size(), 1U);
  EXPECT_EQ(slow.warnings.front().rfind("nvlink carries 1", 0), 0U) << slow.warnings.front();
  s.cluster.node.scale_up.bandwidth = core::BytesPerSecond(450e9);
  EXPECT_TRUE(simulate_step(check(s)).warnings.empty());
}

TEST(StepSimulation, NvlinkUseFollowsTheBytesOfTheTensorGroups) {
  auto s = eight_nodes();
  const auto use = [](const StepResult& step) {
    for (const auto& link : step.links) {
      if (link.tier == "nvlink") {
        return link.mean;
      }
    }
    return 0.0;
  };
  const StepResult with = simulate_step(check(s));
  EXPECT_GT(use(with), 0.01);
  EXPECT_LT(use(with), 1);
  const double bytes = use(with) * with.time.si();
  s.cluster.node.scale_up.bandwidth = core::BytesPerSecond(900e9);
  const StepResult faster = simulate_step(check(s));
  EXPECT_NEAR(use(faster) * faster.time.si(), bytes / 2, 0.02 * bytes);
}

/// Data-parallel ranks on a fat tree of four leaves with 16 hashed uplinks each.
Scenario hashed(std::int64_t seed) {
  auto s = eight_nodes();
  s.cluster.fabric.topology = network::Topology::fat_tree;
  s.cluster.fabric.ports_per_leaf = 16;
  s.cluster.fabric.routing = network::Routing::ecmp;
  s.parallelism.tensor = 1;
  s.parallelism.pipeline = 1;
  s.training.global_batch = 64;
  s.run.seed = seed;
  return s;
}

TEST(StepSimulation, TheHashOfEcmpIsDrawnBySeedAndTheIntervalCoversOthers) {
  std::vector<StepResult> steps;
  std::set<core::Seconds> times;
  for (std::int64_t seed = 1; seed <= 5; ++seed) {
    steps.push_back(simulate_step(check(hashed(seed)), {.trace = false}));
    EXPECT_EQ(simulate_step(check(hashed(seed)), {.trace = false}).time, steps.back().time);
    times.insert(steps.back().time);
  }
  EXPECT_GE(times.size(), 2U);
  for (const StepResult& step : steps) {
    EXPECT_LE(step.interval_low, *times.begin());
    EXPECT_GE(step.interval_high, *times.rbegin());
    EXPECT_TRUE(
        std::any_of(step.assumptions.begin(), step.assumptions.end(), [](const Assumption& a) {
          return a.key == "cluster.fabric.routing" &&
                 a.why.starts_with("one hash, drawn by run.seed; with 8 others");
        }));
  }
  const StepResult alone = simulate_step(check(hashed(1)), {.trace = false, .hash_draws = 0});
  EXPECT_EQ(alone.time, steps.front().time);
  EXPECT_LE(alone.interval_high, steps.front().interval_high);
}

// Each of the four simulations tells at least once, in thousandths of all.
TEST(StepSimulation, TellsHowManyOfItsSimulationsAreDone) {
  std::mutex mutex;
  std::size_t calls = 0, most = 0;
  const auto told = [&](std::size_t done, std::size_t total) {
    const std::lock_guard lock(mutex);
    ++calls;
    most = std::max(most, done);
    EXPECT_EQ(total, 4000U);
  };
  simulate_step(check(hashed(1)), {.trace = false, .hash_draws = 3, .progress = told});
  EXPECT_GE(calls, 4U);
  EXPECT_LE(most, 4000U);
}

TEST(StepSimulation, WithoutHashesTheSeedChangesNothing) {
  auto s = hashed(1);
  s.cluster.fabric.routing = network::Routing::adaptive;
  const StepResult one = simulate_step(check(s), {.trace = false});
  s.run.seed = 2;
  EXPECT_EQ(simulate_step(check(s), {.trace = false}).result_digest, one.result_digest);
}

TEST(Memory, APlanTooLargeForTheGpuIsReportedWithItsBytes) {
  auto s = eight_nodes();
  EXPECT_TRUE(predict_memory(check(s)).fits);
  s.cluster.node.gpu.memory = core::Bytes(4e9);
  const MemoryResult memory = predict_memory(check(s));
  EXPECT_FALSE(memory.fits);
  EXPECT_GT(memory.peak, memory.capacity);
  EXPECT_NEAR(memory.peak.si(), memory.by_kind.total().si(), 1);
  EXPECT_EQ(memory.peak, memory.stage_peak[static_cast<std::size_t>(memory.peak_stage)]);
}

}  // namespace
}  // namespace headway::training
