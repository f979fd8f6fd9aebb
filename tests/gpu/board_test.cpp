// The slowest of many boards, their power, and memory that nobody asked for.
#include <gtest/gtest.h>

#include "sim/gpu/closed_form.h"
#include "sim/gpu/memory.h"

#include "tests/gpu/gpus.h"

namespace headway::gpu {
namespace {

using namespace core::literals;
using namespace tests;

TEST(SlowestSlowdown, IsTheExpectedMaximumOfNormals) {
  EXPECT_EQ(slowest_slowdown(1, 0.0125), 1);
  // Harter 1961: the expected maximum of 8 standard normals is 1.4236, of 100 it is 2.5076.
  EXPECT_NEAR(1 - 1 / slowest_slowdown(8, 0.01), 0.014236, 2e-4);
  EXPECT_NEAR(1 - 1 / slowest_slowdown(100, 0.01), 0.025076, 2e-4);
  const SustainedShares slowest = shares_of_slowest(h100().sustained, 8192);
  EXPECT_NEAR(slowest.gemm_16bit / 0.82, 1 - 0.0125 * 3.787, 1e-4);
  EXPECT_EQ(slowest.memory, h100().sustained.memory);
  SustainedShares stated = h100().sustained;
  stated.gemm_tf32 = stated.gemm_fp32 = stated.gemm_16bit;
  EXPECT_EQ(shares_of_slowest(stated, 8192).gemm_tf32, slowest.gemm_16bit);
  EXPECT_EQ(shares_of_slowest(stated, 8192).gemm_fp32, slowest.gemm_16bit);
}

TEST(MeanPower, RunsFromIdleToTheLimit) {
  EXPECT_EQ(mean_power(h100(), 0), core::Watts(70));
  EXPECT_EQ(mean_power(h100(), 1), core::Watts(700));
  EXPECT_EQ(energy(h100(), 10_s, 0.5), core::Joules(3850));
}

TEST(ReservedMemory, GrowsWithCommunicatorsAndTensors) {
  const ReservedMemory reserved = reserved_memory(3, 47_GB, 3.0 / 47);
  EXPECT_EQ(reserved.collectives, 3 * 350_MiB);
  EXPECT_NEAR(reserved.allocator.si(), 3e9, 1);
}

}  // namespace
}  // namespace headway::gpu
