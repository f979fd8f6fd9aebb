// Power over one step: what it adds up to, and what it does not depend on.
#include "sim/training/explain/power_trace.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

double mean_watts(const PowerTrace& trace) {
  double sum = 0;
  for (const core::Watts watts : trace.gpus) {
    sum += watts.si();
  }
  return sum / static_cast<double>(trace.gpus.size());
}

// Transfers beside kernels lengthen these, which run on: more than `compute` and `optimizer`. The
// CPU's launches and the software's fixed work do not run on the GPU: no kernel, idle power.
TEST(PowerTrace, TheMeanIsThatOfTheTimeInWhichKernelsRun) {
  for (const int pipeline : {1, 4}) {
    Scenario s = eight_nodes();
    s.training.framework.host.launch = core::Seconds(200e-6);
    s.training.framework.step_overhead = core::Seconds(0.1);
    s.parallelism.pipeline = pipeline;
    const auto checked = check(std::move(s));
    const auto step = simulate_step(checked);
    const PowerTrace trace = power_trace(checked, true);
    EXPECT_EQ(trace.step, step.time);
    using core::Activity;
    ASSERT_GT(step.breakdown[Activity::launch] / step.time, 0.01);
    ASSERT_GT(step.breakdown[Activity::other] / step.time, 0.01);
    EXPECT_GE(step.kernels.front() /
                  (step.breakdown[Activity::compute] + step.breakdown[Activity::optimizer]),
              1 - 1e-9);
    EXPECT_LE((step.kernels.front() + step.breakdown[Activity::launch] +
               step.breakdown[Activity::other]) /
                  step.time,
              1 + 1e-9);
    const double busy = step.kernels.front() / step.time;
    const auto& gpu = checked.scenario().cluster.node.gpu;
    // 64 GPUs: idle 70 W, and up to their limit of 700 W while they compute.
    const double expected = 64 * (gpu.idle_power + busy * (gpu.power - gpu.idle_power)).si();
    EXPECT_NEAR(mean_watts(trace) / expected, 1, 1e-3) << pipeline;
    for (const core::Watts watts : trace.gpus) {
      EXPECT_GE(watts.si(), 64 * 70 * (1 - 1e-9));
      EXPECT_LE(watts.si(), 64 * 700 * (1 + 1e-9));
    }
  }
}

// The second of two stages on nodes of half the rate and 400 W (50 W at rest): each kind draws its
// limit for the time of its own kernels. One mean share for both would be off by more than 1 %.
TEST(PowerTrace, TheMeanOfUnequalNodesIsThatOfEachKindsKernels) {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 2;
  NodeSpec old = s.cluster.node;
  old.name = "old node";
  old.gpu.peak.bf16 = 0.5 * old.gpu.peak.bf16;
  old.gpu.power = core::Watts(400);
  old.gpu.idle_power = core::Watts(50);
  s.cluster.other_nodes = {{4, old, {}}};
  const auto checked = check(std::move(s));
  const auto step = simulate_step(checked);
  ASSERT_EQ(step.kernels.size(), 2U);
  const double fast = step.kernels[0] / step.time, slow = step.kernels[1] / step.time;
  const auto drawn = [](double of_new, double of_old) {
    return 32 * (70 + of_new * 630) + 32 * (50 + of_old * 350);
  };
  const double mean = mean_watts(power_trace(checked, true));
  EXPECT_NEAR(mean / drawn(fast, slow), 1, 1e-3);
  EXPECT_GT(drawn((fast + slow) / 2, (fast + slow) / 2) / mean, 1.01);
}

TEST(PowerTrace, IsThatOfAllRanksFoldedOrNot) {
  const auto checked = check(eight_nodes());
  const PowerTrace folded = power_trace(checked, true);
  const PowerTrace whole = power_trace(checked, false);
  ASSERT_EQ(folded.gpus.size(), whole.gpus.size());
  for (std::size_t i = 0; i < folded.gpus.size(); ++i) {
    EXPECT_NEAR(folded.gpus[i] / whole.gpus[i], 1, 1e-9);
  }
}

Scenario in_racks_of_two(int pipeline) {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = pipeline;
  s.run.recovery.rack_nodes = 2;
  s.run.recovery.rack_spares = 1;
  s.cluster.power.emplace();
  s.cluster.power->rack = core::Watts(1e6);
  return s;
}

// Two of eight nodes that all do the same: a quarter of the GPUs' power, two hosts of 2 kW, and a
// spare of 8 x 70 W + 2 kW.
TEST(PowerTrace, ARackOfNodesThatAreAlikeIsItsPartOfTheWhole) {
  const PowerTrace trace = power_trace(check(in_racks_of_two(1)), true);
  ASSERT_EQ(trace.rack.size(), trace.gpus.size());
  for (std::size_t w = 0; w < trace.rack.size(); ++w) {
    EXPECT_NEAR(trace.rack[w].si(), trace.gpus[w].si() / 4 + 2 * 2000 + 2560, 1e-6);
  }
  EXPECT_TRUE(power_trace(check(eight_nodes()), true).rack.empty());
}

double swing_of(const std::vector<core::Watts>& power) {
  const auto [least, most] = std::minmax_element(power.begin(), power.end());
  return (*most - *least).si();
}

// Nodes 0 and 1 are the first stage of both replicas, and idle while the last one works: such a
// rack swings more than its part of the whole, and never more than its GPUs can.
TEST(PowerTrace, ARackOfOneStageSwingsMoreThanItsPartOfTheWhole) {
  const auto checked = check(in_racks_of_two(4));
  const PowerTrace trace = power_trace(checked, true);
  EXPECT_GT(swing_of(trace.rack), swing_of(trace.gpus) / 4);
  EXPECT_LE(swing_of(trace.rack), 16 * 630 + 1e-6);
  const PowerTrace whole = power_trace(checked, false);
  for (std::size_t w = 0; w < trace.rack.size(); ++w) {
    EXPECT_NEAR(trace.rack[w] / whole.rack[w], 1, 1e-9);
  }
}

}  // namespace
}  // namespace headway::training
