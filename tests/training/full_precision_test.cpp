// Steps in fp32 and tf32: their own peak, a wider interval, the same in every tier.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/explain/anchor.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {

using analytic::AnalyticTier;

namespace {

using core::Precision;

Scenario in(Precision precision) {
  Scenario s = eight_nodes();
  s.training.precision = precision;
  return s;
}

std::string why(const StepResult& step, const std::string& key) {
  const auto found = std::find_if(step.assumptions.begin(), step.assumptions.end(),
                                  [&](const Assumption& a) { return a.key == key; });
  return found == step.assumptions.end() ? "" : found->why;
}

TEST(FullPrecision, IsTheReasonWhyAttentionIsNotFused) {
  const std::string key = "training.framework.attention_kernels";
  EXPECT_EQ(why(simulate_step(check(in(Precision::tf32))), key),
            "precision tf32: flash kernels take operands of 16 bits or less");
  EXPECT_THAT(why(simulate_step(check(in(Precision::bf16))), key),
              testing::StartsWith("framework profile"));
}

// 67 TFLOP/s against 494: the model's FLOPs are the same, each MFU is of its own peak.
TEST(FullPrecision, CountsMfuAgainstThePeakOfItsFormat) {
  for (const auto& [precision, peak] :
       {std::pair{Precision::fp32, 67e12}, {Precision::tf32, 494e12}}) {
    const StepResult step = simulate_step(check(in(precision)));
    EXPECT_NEAR(step.mfu, step.model_flops_per_gpu.si() / peak, 1e-12);
    EXPECT_LT(step.mfu_causal, 1);
  }
  const auto seconds = [](Precision precision) {
    return simulate_step(check(in(precision))).time.si();
  };
  EXPECT_GT(seconds(Precision::fp32), seconds(Precision::tf32));
  EXPECT_GT(seconds(Precision::tf32), seconds(Precision::bf16));
}

TEST(FullPrecision, FoldedStepsAreTheUnfoldedToTheBitAndTheAnalyticTierIsNear) {
  for (const Precision precision : {Precision::fp32, Precision::tf32}) {
    const CheckedScenario checked = check(in(precision));
    const StepResult folded = simulate_step(checked);
    const StepResult whole = simulate_step(checked, {.fold = false});
    EXPECT_EQ(folded.time, whole.time);
    EXPECT_EQ(folded.result_digest, whole.result_digest);
    const double alone = simulate_step(checked, {.trace = false, .contention = false}).time.si();
    EXPECT_NEAR(AnalyticTier(checked.scenario()).evaluate(checked).time.si() / alone, 1, 0.03);
  }
}

// No table and no share of its own: 0.05, 0.1 and 0.1 in quadrature; with a share, as any GPU
// without tables.
TEST(FullPrecision, WidensTheIntervalWhereNothingWasMeasured) {
  Scenario s = in(Precision::tf32);
  const auto error = [](const Scenario& scenario) {
    const StepResult step = simulate_step(check(scenario));
    return std::log(step.interval_high / step.time) / 1.6448536269514722;
  };
  EXPECT_NEAR(error(s), std::hypot(0.05, 0.1, 0.1), 1e-9);
  const auto stand_in = simulate_step(check(s));
  EXPECT_THAT(why(stand_in, "gpu.gemm_tf32"), testing::HasSubstr("16-bit products stands in"));
  EXPECT_THAT(why(stand_in, "training.precision"), testing::HasSubstr("no master weights"));
  s.cluster.node.gpu.sustained.gemm_tf32 = 0.9;
  EXPECT_NEAR(error(s), std::hypot(0.05, 0.1), 1e-9);
  EXPECT_LT(simulate_step(check(s)).time, stand_in.time);
}

TEST(FullPrecision, AnAnchoredProfileHasItsOwnShares) {
  const CheckedScenario checked = check(in(Precision::fp32));
  const StepResult step = simulate_step(checked);
  const StepAnchor anchor = anchor_step(checked, step.time * 1.1);
  EXPECT_GT(anchor.calibration.kernels->gemm_fp32, 0);
  EXPECT_EQ(kernel_error(recalibrated(checked, anchor.calibration).scenario()), 0);
}

TEST(FullPrecision, AGpuWithoutTf32RefusesItByName) {
  Scenario s = in(Precision::tf32);
  s.cluster.node.gpu.name = "V100";
  s.cluster.node.gpu.peak = {};
  s.cluster.node.gpu.peak.fp32 = core::FlopsPerSecond(15.7e12);
  s.cluster.node.gpu.peak.fp16 = core::FlopsPerSecond(125e12);
  try {
    check(s);
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("V100 has no tf32; use fp16 or fp32"));
  }
}

// Weight 4 B, moments 8 B: checkpoints hold 12 B a parameter where nobody wrote what they hold.
TEST(FullPrecision, CheckpointsHoldWeightsInFp32) {
  Scenario s = in(Precision::fp32);
  s.run.until.emplace();
  s.run.until->steps = 100;
  EXPECT_EQ(check(s).scenario().run.checkpoint.bytes_per_parameter, 12);
}

}  // namespace
}  // namespace headway::training
