#include "calibrate/fit/table_fit.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/gpu/tables.h"

namespace headway::fit {
namespace {

/// Rate = 1 PFLOP/s where m >= 1024, and m / 1024 of it below.
std::vector<Sample> grid_samples() {
  std::vector<Sample> out;
  for (const int m : {64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
    for (const int n : {1024, 4096, 8192}) {
      for (const int k : {1024, 4096, 8192}) {
        Sample s;
        s.kind = SampleKind::gemm;
        s.op = "forward";
        s.m = m;
        s.n = n;
        s.k = k;
        s.batch = 1;
        s.seconds = work_flops(s) / (1e15 * std::min(1.0, m / 1024.0));
        out.push_back(s);
      }
    }
  }
  return out;
}

TEST(TableFit, KeepsTheKneeAndTheCorners) {
  const auto fitted = fit_gemm_tables(grid_samples(), "ours", 1e-6);
  ASSERT_EQ(fitted.tables.gemm.size(), 1U);
  const auto& table = fitted.tables.gemm[0];
  EXPECT_EQ(table.m, (std::vector<double>{64, 1024, 8192}));
  EXPECT_EQ(table.n, (std::vector<double>{1024, 8192}));
  EXPECT_EQ(table.k, (std::vector<double>{1024, 8192}));
  EXPECT_EQ(table.shares,
            (std::vector<double>{0.0625, 0.0625, 0.0625, 0.0625, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(gpu::table_problem(fitted.tables), "");
}

TEST(TableFit, WhatTheTableSaysIsWhatWasMeasured) {
  gpu::GpuSpec gpu;
  gpu.kernels = fit_gemm_tables(grid_samples(), "ours", 0.01).tables;
  for (const auto& s : grid_samples()) {
    const auto share = gpu::gemm_table_share(gpu, core::Precision::bf16, s.m, s.n, s.k);
    ASSERT_TRUE(share);
    EXPECT_NEAR(*share, std::min(1.0, static_cast<double>(s.m) / 1024), 0.01 * *share);
  }
}

TEST(TableFit, AHoleInTheGridCostsTheCoordinateThatIsFilledLeast) {
  auto samples = grid_samples();
  Sample odd = samples.front();
  odd.m = 96;  // one shape of 9 at this m
  samples.push_back(odd);
  const auto fitted = fit_gemm_tables(samples, "ours", 1e-6);
  ASSERT_EQ(fitted.tables.gemm.size(), 1U);
  EXPECT_THAT(fitted.tables.gemm[0].m, testing::Not(testing::Contains(96)));
  EXPECT_THAT(fitted.remarks,
              testing::Contains(testing::HasSubstr("73 shapes on a full grid of 72")));
}

TEST(TableFit, FlaggedSamplesAndSmallProductsMakeNoTable) {
  auto samples = grid_samples();
  for (auto& s : samples) {
    s.flags = {SampleFlag::throttled};
  }
  EXPECT_TRUE(fit_gemm_tables(samples, "ours", 0.02).tables.gemm.empty());
  std::vector<Sample> small;
  for (const auto& s : grid_samples()) {
    if (s.k < 4096) {
      small.push_back(s);
    }
  }
  EXPECT_THAT(fit_gemm_tables(small, "ours", 0.02).remarks,
              testing::Contains(testing::HasSubstr("no table")));
}

}  // namespace
}  // namespace headway::fit
