// Power over one step: what it adds up to, and what it does not depend on.
#include "sim/training/explain/power_trace.h"

#include <gtest/gtest.h>
#include <numeric>

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

TEST(PowerTrace, TheMeanIsThatOfTheTimeSpentComputing) {
  for (const int pipeline : {1, 4}) {
    Scenario s = eight_nodes();
    s.parallelism.pipeline = pipeline;
    const auto checked = check(std::move(s));
    const auto step = simulate_step(checked);
    const PowerTrace trace = power_trace(checked, true);
    EXPECT_EQ(trace.step, step.time);
    using core::Activity;
    const double busy = (step.breakdown[Activity::compute] + step.breakdown[Activity::launch] +
                         step.breakdown[Activity::optimizer] + step.breakdown[Activity::other]) /
                        step.time;
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

TEST(PowerTrace, IsThatOfAllRanksFoldedOrNot) {
  const auto checked = check(eight_nodes());
  const PowerTrace folded = power_trace(checked, true);
  const PowerTrace whole = power_trace(checked, false);
  ASSERT_EQ(folded.gpus.size(), whole.gpus.size());
  for (std::size_t i = 0; i < folded.gpus.size(); ++i) {
    EXPECT_NEAR(folded.gpus[i] / whole.gpus[i], 1, 1e-9);
  }
}

}  // namespace
}  // namespace headway::training
