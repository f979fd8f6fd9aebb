// Shampoo and SOAP in a step: what they add to its time, its memory and its interval.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"
#include "sim/gpu/kernel_time.h"
#include "sim/training/decompositions.h"
#include "sim/training/step/step.h"
#include "sim/training/step/step_inputs.h"
#include "sim/workload/layout.h"
#include "sim/workload/preconditioner/preconditioner.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using workload::OptimizerState;

/// 16 layers over 4 stages, 2 data ranks; no CPU limit, so that kernels take their own time.
Scenario with(OptimizerState state) {
  Scenario s = eight_nodes();
  s.training.framework.cuda_graphs = true;
  s.training.optimizer_state = state;
  return s;
}

double seconds_of(const Scenario& s, const std::vector<core::Kernel>& kernels) {
  const KernelTimes times = kernel_times(s);
  return gpu::kernels_time(*times.gpu, times.shares, kernels, times.launch).si();
}

/// Of the busiest rank of a stage: all stages have four layers.
std::vector<core::Kernel> busiest_kernels(const Scenario& s) {
  const auto& p = s.parallelism;
  const auto matrices = workload::stage_matrices(s.model, p, workload::StageLayout(s.model, p), 0);
  return workload::preconditioner_kernels(
      s.training, workload::busiest_blocks(matrices, s.training, p, workload::data_ranks(p, 2)));
}

TEST(PreconditionedStep, IsLongerByTheKernelsOfTheBusiestOwner) {
  const double adam = simulate_step(check(with(OptimizerState::adam_fp32))).time.si();
  for (const OptimizerState state : {OptimizerState::shampoo, OptimizerState::soap}) {
    for (const auto sharding : {workload::Sharding::zero0, workload::Sharding::zero1}) {
      Scenario s = with(state);
      s.parallelism.sharding = sharding;
      Scenario plain = with(OptimizerState::adam_fp32);
      plain.parallelism.sharding = sharding;
      const double without = simulate_step(check(plain)).time.si();
      const double added = simulate_step(check(s)).time.si() - without;
      EXPECT_NEAR(added / seconds_of(s, busiest_kernels(s)), 1, 1e-3);
      EXPECT_GT(added, 0.001 * adam);
    }
  }
}

TEST(PreconditionedStep, HasAPartOfTheDecompositions) {
  Scenario s = with(OptimizerState::shampoo);
  s.training.preconditioner.emplace();
  s.training.preconditioner->every = 1;
  const double each = decomposition_time(s).si();
  s.training.preconditioner->every = 50;
  EXPECT_NEAR(50 * decomposition_time(s).si() / each, 1, 1e-9);
  double sides = 0, squares = 0, cubes = 0, factors = 0;
  for (const core::Kernel& kernel : busiest_kernels(s)) {
    if (kernel.kind == core::KernelKind::eigenvalues) {
      const auto n = static_cast<double>(kernel.n), count = static_cast<double>(kernel.count);
      sides += n * count;
      squares += n * n * count;
      cubes += n * n * n * count;
      factors += count;
    }
  }
  // A tensor rank's part of a layer: q 512 x 4096 and o 4096 x 512, 4 blocks each; k and v
  // 128 x 4096, 4 each; gate and up 3584 x 4096, 12 of 1024^2 and 4 of 512 x 1024; down 4096 x
  // 1792, 4 of 1024^2 and 4 of 1024 x 768. Of four layers half are on either data rank.
  const double half = 4 * (8 + 8 + 12 + 4 + 4 + 4) / 2.0;
  EXPECT_EQ(factors, 2 * half);
  const double by_hand = (sides * 9.3e-6 + squares * 0.87e-9 +
                          9 * cubes / (67e12 * kernel_times(s).shares.gemm_16bit) +
                          4.0 / 3 * cubes / (3350e9 * kernel_times(s).shares.memory)) /
                         50;
  EXPECT_NEAR(decomposition_time(s).si() / by_hand, 1, 0.02);  // launch gaps, the power limit
  EXPECT_EQ(decomposition_time(with(OptimizerState::muon)).si(), 0);
}

TEST(PreconditionedStep, IsLessCertainTheMoreItDecomposes) {
  const double adam = relative_error(with(OptimizerState::adam_fp32));
  Scenario s = with(OptimizerState::soap);
  const double usual = relative_error(s);
  s.training.preconditioner.emplace();
  s.training.preconditioner->every = 1;
  const double often = relative_error(s);
  EXPECT_GT(usual, adam);
  EXPECT_GT(often, usual);
  EXPECT_LT(often, std::hypot(adam, 1.1));
  const auto step = simulate_step(check(s));
  EXPECT_GE(std::log(step.interval_high / step.interval_low),
            2 * kOneSidedFivePercent * often - 1e-9);
}

TEST(PreconditionedStep, SaysThatItIsTheMean) {
  const auto step = simulate_step(check(with(OptimizerState::shampoo)));
  const auto found = std::find_if(step.assumptions.begin(), step.assumptions.end(),
                                  [](const auto& a) { return a.key == "training.preconditioner"; });
  ASSERT_NE(found, step.assumptions.end());
  EXPECT_THAT(found->value,
              testing::HasSubstr("blocks of 1024, decomposed one by one every 100 steps: "));
  EXPECT_THAT(found->why, testing::HasSubstr("every step is the mean"));
  EXPECT_THAT(found->why, testing::HasSubstr("measured on H100"));
}

TEST(PreconditionedStep, NeedsAPeakOfFp32) {
  Scenario s = with(OptimizerState::soap);
  s.cluster.node.gpu.peak.fp32 = core::FlopsPerSecond(0);
  try {
    check(s);
    FAIL() << "no complaint";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("optimizer_state soap multiplies in fp32, and the "
                                                 "entry of H100 gives no peak.fp32: add it"));
  }
}

}  // namespace
}  // namespace headway::training
