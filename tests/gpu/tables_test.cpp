#include "sim/gpu/tables.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/gpu/kernel_time.h"

#include "tests/gpu/gpus.h"

namespace headway::gpu {
namespace {

using testing::HasSubstr;

/// Two nodes an axis; the share is 0.1 x 2^(nodes that are the upper one).
GpuSpec with_tables() {
  GpuSpec gpu = tests::h100();
  gpu.kernels = KernelTables{};
  gpu.kernels->gemm.push_back({core::Precision::bf16,
                               {1024, 4096},
                               {1024, 4096},
                               {1024, 4096},
                               {0.1, 0.2, 0.2, 0.4, 0.2, 0.4, 0.4, 0.8}});
  gpu.kernels->attention.push_back({64, {1024, 4096}, {8, 32}, {0.2, 0.4, 0.5, 1.0}});
  gpu.kernels->attention.push_back({128, {1024, 4096}, {8, 32}, {0.4, 0.8, 0.5, 1.0}});
  return gpu;
}

TEST(KernelTables, HoldTheirNodes) {
  const GpuSpec gpu = with_tables();
  EXPECT_NEAR(*gemm_table_share(gpu, core::Precision::bf16, 1024, 1024, 1024), 0.1, 1e-12);
  EXPECT_NEAR(*gemm_table_share(gpu, core::Precision::bf16, 4096, 1024, 4096), 0.4, 1e-12);
  EXPECT_NEAR(*gemm_table_share(gpu, core::Precision::fp16, 4096, 4096, 4096), 0.8, 1e-12);
}

// Half of the way in log m, n and k: 0.1 x 2^(3/2).
TEST(KernelTables, InterpolateLogarithms) {
  EXPECT_NEAR(*gemm_table_share(with_tables(), core::Precision::bf16, 2048, 2048, 2048),
              0.1 * std::pow(2.0, 1.5), 1e-12);
}

TEST(KernelTables, EndAtTheirEdges) {
  const GpuSpec gpu = with_tables();
  EXPECT_NEAR(*gemm_table_share(gpu, core::Precision::bf16, 1, 1 << 20, 4096), 0.4, 1e-12);
  EXPECT_EQ(gemm_table_share(gpu, core::Precision::fp8, 4096, 4096, 4096), std::nullopt);
  EXPECT_EQ(gemm_table_share(tests::h100(), core::Precision::bf16, 4096, 4096, 4096), std::nullopt);
}

// Width 96 reads the table of 64; half of the way in sequence and heads: sqrt(sqrt(0.2 x 0.4 x 0.5
// x 1.0)).
TEST(KernelTables, AttentionReadsTheWidthBelow) {
  const GpuSpec gpu = with_tables();
  EXPECT_NEAR(*attention_table_share(gpu, 2048, 16, 96), std::pow(0.2 * 0.4 * 0.5 * 1.0, 0.25),
              1e-12);
  EXPECT_NEAR(*attention_table_share(gpu, 1024, 8, 128), 0.4, 1e-12);
  EXPECT_EQ(attention_table_share(gpu, 1024, 8, 32), std::nullopt);
}

// 2 x 4096^3 FLOP at 0.8 of the large products' 0.82 of 989 TFLOP/s, and a gap of 2 us.
TEST(KernelTables, SetTheRateOfProducts) {
  const GpuSpec gpu = with_tables();
  core::Kernel kernel;
  kernel.kind = core::KernelKind::gemm;
  kernel.m = kernel.n = kernel.k = 4096;
  kernel.work = core::Flops(2.0 * 4096 * 4096 * 4096);
  EXPECT_NEAR(kernel_time(gpu, gpu.sustained, kernel, {core::Seconds(0), false}).si(),
              2.0 * 4096 * 4096 * 4096 / (0.8 * 0.82 * 989e12) + 2e-6, 1e-12);
}

// Products of 16 experts with 256 rows: one kernel has the tiles of 4,096 rows (0.8 of the large
// products' rate), a loop those of four products at once, 1,024 rows (0.4), and of a single expert
// what a dense product of its rows has. Their weights are no slower than dense ones.
TEST(KernelTables, OfExpertsAreReadAtTheRowsThatRunTogether) {
  const GpuSpec gpu = with_tables();
  const auto rate = [&](core::KernelKind kind, std::int64_t rows, int experts, int launches) {
    core::Kernel kernel;
    kernel.kind = kind;
    kernel.m = rows;
    kernel.n = kernel.k = 4096;
    kernel.batch = experts;
    kernel.launches = launches;
    kernel.work = core::Flops(2.0 * static_cast<double>(rows * experts) * 4096 * 4096);
    const auto time = kernel_time(gpu, gpu.sustained, kernel, {core::Seconds(0), false});
    return kernel.work.si() / (time.si() - 2e-6) / (0.82 * 989e12);
  };
  constexpr auto kGrouped = core::KernelKind::grouped_gemm;
  EXPECT_NEAR(rate(kGrouped, 256, 16, 1), 0.8, 1e-9);
  EXPECT_NEAR(rate(kGrouped, 256, 16, 16), 0.4, 1e-9);
  EXPECT_NEAR(rate(kGrouped, 2048, 2, 2), 0.8, 1e-9);
  EXPECT_NEAR(rate(kGrouped, 2048, 1, 1), rate(core::KernelKind::gemm, 2048, 1, 1), 1e-9);
}

TEST(KernelTables, SayWhatIsWrongWithThem) {
  KernelTables tables = *with_tables().kernels;
  EXPECT_EQ(table_problem(tables), "");
  tables.gemm[0].shares.pop_back();
  EXPECT_THAT(table_problem(tables), HasSubstr("the bf16 table has 7 shares for 2 x 2 x 2 shapes"));
  tables.gemm[0].m = {4096, 1024};
  EXPECT_THAT(table_problem(tables), HasSubstr("the axes of the bf16 table must ascend"));
  tables.gemm.clear();
  tables.attention[1].heads = {};
  EXPECT_THAT(table_problem(tables),
              HasSubstr("the axes of the attention table for width 128 must ascend"));
}

}  // namespace
}  // namespace headway::gpu
