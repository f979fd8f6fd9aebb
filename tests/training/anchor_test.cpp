#include "sim/training/explain/anchor.h"

#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

// A machine whose matrix products run at 0.8 of the profile's rate: its step, measured, gives 0.8
// back.
TEST(Anchor, FindsTheRateOfAPlantedMachine) {
  const auto profile = check(eight_nodes());
  auto machine = eight_nodes();
  machine.calibration.kernels = machine.cluster.node.gpu.sustained;
  machine.calibration.kernels->gemm_16bit *= 0.8;
  machine.calibration.kernels->gemm_8bit *= 0.8;
  machine.calibration.kernels->gemm_4bit *= 0.8;
  const core::Seconds measured = simulate_step(check(machine)).time;
  const auto anchor = anchor_step(profile, measured);
  EXPECT_NEAR(anchor.factor, 0.8, 0.005);
  EXPECT_NEAR(anchor.matched / measured, 1, 0.001);
  EXPECT_LT(anchor.predicted, measured);
  EXPECT_EQ(simulate_step(recalibrated(profile, anchor.calibration)).time, anchor.matched);
  EXPECT_EQ(anchor.calibration.figures.back().name, "anchor.gemm");
}

// tf32 with half of the share of 16 bits reaches its peak at twice the factor that those do.
TEST(Anchor, GoesUpToThePeakOfTheStepsOwnFormat) {
  auto slow = eight_nodes();
  slow.training.precision = core::Precision::tf32;
  slow.cluster.node.gpu.sustained.gemm_tf32 = slow.cluster.node.gpu.sustained.gemm_16bit / 2;
  auto machine = slow;
  machine.cluster.node.gpu.sustained.gemm_tf32 = 0.95;
  const core::Seconds measured = simulate_step(check(machine)).time;
  EXPECT_NEAR(anchor_step(check(slow), measured).matched / measured, 1, 0.001);
}

TEST(Anchor, TheSameStepChangesNothing) {
  const auto profile = check(eight_nodes());
  const auto anchor = anchor_step(profile, simulate_step(profile).time);
  EXPECT_NEAR(anchor.factor, 1, 0.003);
}

// One step does not say how far other layouts are off: the interval stays as wide as it was, on a
// GPU whose kernels nobody measured (its 10 % must move into the profile) and on one with measured
// shares.
TEST(Anchor, KeepsTheIntervalAsWideAsItWas) {
  for (const bool measured : {false, true}) {
    auto scenario = eight_nodes();
    ASSERT_FALSE(scenario.cluster.node.gpu.kernels.has_value());
    if (measured) scenario.calibration.kernels = scenario.cluster.node.gpu.sustained;
    const auto profile = check(scenario);
    const StepResult before = simulate_step(profile);
    const auto anchor = anchor_step(profile, before.time);
    const StepResult after = simulate_step(recalibrated(profile, anchor.calibration));
    EXPECT_NEAR(after.interval_high / after.time, before.interval_high / before.time, 1e-12);
    EXPECT_EQ(kernel_error(profile.scenario()) > 0, !measured);
  }
}

// The anchored shares hold at the limit of the machine that was measured; at another they scale.
TEST(Anchor, KeepsThePowerLimitOfTheMachine) {
  const auto profile = check(eight_nodes());
  const auto anchor = anchor_step(profile, simulate_step(profile).time);
  ASSERT_TRUE(anchor.calibration.kernels.has_value());
  EXPECT_EQ(anchor.calibration.kernels->power, core::Watts(700));
  auto capped = eight_nodes();
  capped.calibration = anchor.calibration;
  capped.cluster.node.gpu.power = core::Watts(350);
  EXPECT_GT(simulate_step(check(capped)).time / anchor.matched, 1.1);
}

TEST(Anchor, AStepThatNoRateMatchesIsRefusedWithItsBounds) {
  const auto profile = check(eight_nodes());
  const core::Seconds step = simulate_step(profile).time;
  EXPECT_THROW(anchor_step(profile, step * 100), core::Error);
  try {
    anchor_step(profile, step * 0.01);
    FAIL() << "a step at a hundredth of the time was matched";
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("no rate of the matrix products"), std::string::npos);
  }
}

}  // namespace
}  // namespace headway::training
