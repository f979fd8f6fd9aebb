#include "sim/gpu/kernel_time.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/gpu/closed_form.h"

#include "tests/gpu/gpus.h"

namespace headway::gpu {
namespace {

using namespace core::literals;
using namespace tests;
using core::Kernel;
using core::KernelKind;
using core::Seconds;

const LaunchModel kNoLimit{Seconds(0), false};

Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  Kernel kernel;
  kernel.kind = KernelKind::gemm;
  kernel.m = m;
  kernel.n = n;
  kernel.k = k;
  const auto M = static_cast<double>(m), N = static_cast<double>(n), K = static_cast<double>(k);
  kernel.work = core::Flops(2 * M * N * K);
  kernel.traffic = core::Bytes(2 * (M * K + K * N + M * N));
  return kernel;
}

Kernel attention(std::int64_t batch,
                 std::int64_t sequence,
                 std::int64_t heads,
                 std::int64_t head_dim) {
  Kernel kernel;
  kernel.kind = KernelKind::attention_forward;
  kernel.batch = batch;
  kernel.sequence = kernel.key_sequence = sequence;
  kernel.query_heads = kernel.key_value_heads = heads;
  kernel.head_dim = head_dim;
  kernel.work = core::Flops(2.0 * static_cast<double>(batch * heads * head_dim) *
                            static_cast<double>(sequence) * static_cast<double>(sequence));
  return kernel;
}

TEST(KernelTime, OfFetchedBlocksIsBytesOverTheRateOfAllMultiprocessors) {
  for (const GpuSpec& gpu : {a100(), h100()}) {
    Kernel kernel = attention(1, 1024, 16, 128);
    const Seconds computes = kernel_time(gpu, gpu.sustained, kernel, kNoLimit) - 2_us;
    kernel.gathered = core::Bytes(1e9);
    const double expected = 1e9 / (41e9 * gpu.streaming_multiprocessors);
    EXPECT_NEAR((kernel_time(gpu, gpu.sustained, kernel, kNoLimit) - 2_us).si() / expected, 1,
                1e-9);
    // Products that take longer hide it.
    kernel.gathered = computes * fetch_rate(gpu) * 0.5;
    EXPECT_EQ(kernel_time(gpu, gpu.sustained, kernel, kNoLimit) - 2_us, computes);
  }
}

TEST(KernelTime, OfMemoryBoundKernelsIsBytesOverSustainedBandwidth) {
  const GpuSpec gpu = h100();
  Kernel kernel;
  kernel.traffic = 1_GB;
  kernel.count = 3;
  const double expected = 3 * (1e9 / (0.85 * 3.35e12) + 2e-6);
  EXPECT_NEAR(kernel_time(gpu, gpu.sustained, kernel, kNoLimit).si(), expected, 1e-15);
}

TEST(KernelTime, OfALargeAlignedProductIsItsWorkAtTheSustainedShare) {
  const GpuSpec gpu = h100();
  // 16384 x 16896: 128 x 66 tiles of 128 x 256 fill 64 whole waves of 132; k loses 128 / (k + 128).
  const Kernel kernel = gemm(16384, 16896, 16384);
  const double share = 0.82 * std::sqrt(16384.0 / (16384 + 128));
  const double expected = kernel.work.si() / (989e12 * share) + 2e-6;
  EXPECT_NEAR(kernel_time(gpu, gpu.sustained, kernel, kNoLimit).si() / expected, 1, 1e-12);
}

TEST(KernelTime, IsNeverBelowTheRoofline) {
  const GpuSpec gpu = h100();
  for (const std::int64_t m : {1, 7, 128, 129, 4096}) {
    for (const std::int64_t n : {1, 100, 8192}) {
      const Kernel kernel = gemm(m, n, 4096);
      const Seconds bound =
          roofline(kernel.work, gpu.peak.bf16, kernel.traffic, gpu.memory_bandwidth);
      EXPECT_GT(kernel_time(gpu, gpu.sustained, kernel, kNoLimit), bound);
    }
  }
}

TEST(KernelTime, OfAWeightGradientIsLongerThanOfTheForward) {
  const GpuSpec gpu = h100();
  Kernel kernel = gemm(8192, 8192, 8192);
  const Seconds forward = kernel_time(gpu, gpu.sustained, kernel, kNoLimit);
  kernel.pass = core::GemmPass::weight_gradient;
  EXPECT_NEAR((kernel_time(gpu, gpu.sustained, kernel, kNoLimit) - 2_us) / (forward - 2_us),
              1 / 0.85, 1e-9);
}

TEST(KernelTime, RefusesAPrecisionTheGpuLacks) {
  Kernel kernel = gemm(1024, 1024, 1024);
  kernel.precision = core::Precision::fp8;
  const GpuSpec gpu = a100();
  try {
    kernel_time(gpu, gpu.sustained, kernel, kNoLimit);
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_STREQ(error.what(), "A100 SXM 80 GB has no fp8; use bf16 or fp16\n");
  }
  EXPECT_THROW(peak_rate(h100(), core::Precision::mxfp8), core::Error);
  EXPECT_EQ(peak_rate(b200(), core::Precision::mxfp8), 4500_TFLOPs);
}

// The same product at the peak of each format; without a share of their own tf32 and fp32 have that
// of 16 bits.
TEST(KernelTime, OfTf32AndFp32ProductsIsThatOfTheirPeaks) {
  GpuSpec gpu = h100();
  Kernel kernel = gemm(16384, 16896, 16384);
  const double work = kernel.work.si();
  const double fill = std::sqrt(16384.0 / (16384 + 128));
  const auto seconds = [&](core::Precision precision) {
    kernel.precision = precision;
    return (kernel_time(gpu, gpu.sustained, kernel, kNoLimit) - 2_us).si();
  };
  EXPECT_NEAR(seconds(core::Precision::tf32), work / (494e12 * 0.82 * fill), 1e-9);
  EXPECT_NEAR(seconds(core::Precision::fp32), work / (67e12 * 0.82 * fill), 1e-9);
  gpu.sustained.gemm_tf32 = 0.9;
  gpu.sustained.gemm_fp32 = 0.7;
  EXPECT_NEAR(seconds(core::Precision::tf32), work / (494e12 * 0.9 * fill), 1e-9);
  EXPECT_NEAR(seconds(core::Precision::fp32), work / (67e12 * 0.7 * fill), 1e-9);
}

// 16 bytes are 4 numbers of tf32; the vector units that multiply fp32 ask for no alignment.
// 4-bit products of CDNA 4 are MXFP4's: scales are powers of two of 32 numbers, not E4M3 of 16.
TEST(KernelTime, Nvfp4IsOfBlackwellAlone) {
  GpuSpec gpu = h100();
  gpu.peak.fp4 = core::FlopsPerSecond(10e15);
  gpu.architecture = Architecture::blackwell;
  EXPECT_EQ(peak_rate(gpu, core::Precision::nvfp4), gpu.peak.fp4);
  gpu.architecture = Architecture::cdna4;
  EXPECT_THROW(peak_rate(gpu, core::Precision::nvfp4), core::Error);
  EXPECT_EQ(peak_rate(gpu, core::Precision::mxfp8), gpu.peak.fp8);
}

TEST(KernelTime, AlignsRowsToSixteenBytesOfTheFormat) {
  const GpuSpec gpu = h100();
  const auto slower = [&](core::Precision precision, std::int64_t n) {
    Kernel odd = gemm(8192, n, 4096), even = gemm(8192, n - n % 32, 4096);
    odd.precision = even.precision = precision;
    return kernel_time(gpu, gpu.sustained, odd, kNoLimit) /
           kernel_time(gpu, gpu.sustained, even, kNoLimit);
  };
  EXPECT_NEAR(slower(core::Precision::bf16, 50260), 4, 0.05);
  EXPECT_NEAR(slower(core::Precision::tf32, 50260), 1, 0.05);
  EXPECT_NEAR(slower(core::Precision::tf32, 50257), 4, 0.05);
  EXPECT_NEAR(slower(core::Precision::fp32, 50257), 1, 0.05);
  EXPECT_NEAR(slower(core::Precision::bf16, 50264), 1, 0.05);  // 8 numbers, but not 16
  EXPECT_NEAR(slower(core::Precision::fp8, 50264), 4, 0.05);
  EXPECT_NEAR(slower(core::Precision::fp8, 50256), 1, 0.05);
}

// r = 0.8: (1 + 0.8^8)^(1/8) = 1.16777^0.125; r = 2.7: (1 + 2824.3)^0.125.
TEST(HostStretch, HoldsABlockToThePaceOfTheCpu) {
  EXPECT_NEAR(host_stretch(1_ms, 0_us, 800_us), 1.01958, 1e-5);
  EXPECT_NEAR(host_stretch(1_ms, 0_us, 2700_us), 2.70012, 1e-5);
  EXPECT_DOUBLE_EQ(host_stretch(1_ms, 0_us, 0_us), 1);
  EXPECT_DOUBLE_EQ(host_stretch(0_us, 0_us, 1_ms), 1);
}

// Kernels of 1 ms and transfers of 3 ms are busy for 4; a CPU that needs 8 makes the block last 4 x
// (1 + 2^8)^(1/8) = 4 x 2.000976 = 8.003904 ms, of which 5.003904 are the kernels'.
TEST(HostStretch, LaunchesAheadWhileTransfersBlock) {
  EXPECT_NEAR(host_stretch(1_ms, 3_ms, 8_ms), 5.003904, 1e-5);
}

// (100 us of launches + 4 collectives of 10 us + 2 passes of 30 us) x 1.5 = 300 us.
TEST(HostTime, IsOfLaunchesCollectivesAndLayersWithStalls) {
  LaunchModel launch;
  launch.collective = 10_us;
  launch.layer = 30_us;
  launch.slowdown = 1.5;
  EXPECT_NEAR(host_time(100_us, 4, 2, launch).si(), 300e-6, 1e-12);
  launch.cuda_graphs = true;
  EXPECT_EQ(host_time(100_us, 4, 2, launch).si(), 0);
}

// sqrt((1200 - 70) / (1000 - 70)) = 1.1023: shares that hold at 1,000 W, on a board of 1,200 W.
TEST(PowerShare, FollowsTheRootOfTheDynamicPower) {
  GpuSpec gpu = b200();
  EXPECT_EQ(power_share(gpu, gpu.sustained), 1);
  gpu.sustained.power = core::Watts(1000);
  gpu.power = core::Watts(1200);
  EXPECT_NEAR(power_share(gpu, gpu.sustained), 1.1023, 1e-4);
  const Kernel product = gemm(8192, 8192, 8192);
  GpuSpec cool = gpu;
  cool.power = core::Watts(1000);
  EXPECT_NEAR((kernel_time(cool, gpu.sustained, product, kNoLimit) - 2_us) /
                  (kernel_time(gpu, gpu.sustained, product, kNoLimit) - 2_us),
              1.1023, 1e-4);
}

// 500 W of 700, 70 idle: (430 / 630) = 0.683 of the dynamic power. A product at its full share is
// slowed by the root, 0.826; a kernel of 0.8 of its rate by sqrt(0.683 / 0.8) = 0.924; one of half
// of it needs less than the limit and keeps its clock.
TEST(PowerShare, LeavesKernelsAloneThatNeedLessThanTheLimit) {
  GpuSpec gpu = h100();
  gpu.power = core::Watts(500);
  gpu.idle_power = core::Watts(70);
  gpu.sustained.power = core::Watts(700);
  EXPECT_NEAR(power_share(gpu, gpu.sustained), 0.8262, 1e-4);
  EXPECT_NEAR(power_share(gpu, gpu.sustained, 0.8), 0.9237, 1e-4);
  EXPECT_EQ(power_share(gpu, gpu.sustained, 0.5), 1);
  // FlashAttention-2 at 0.3 of the peak beside products at 0.74 takes as long as at 700 W.
  gpu.sustained.gemm_16bit = 0.74;
  gpu.sustained.attention_forward = 0.3;
  Kernel attention;
  attention.kind = KernelKind::attention_forward;
  attention.sequence = attention.key_sequence = 8192;
  attention.query_heads = attention.key_value_heads = 32;
  attention.head_dim = 128;
  attention.work = core::Flops(1e13);
  GpuSpec full = gpu;
  full.power = core::Watts(700);
  EXPECT_EQ(kernel_time(gpu, gpu.sustained, attention, kNoLimit),
            kernel_time(full, gpu.sustained, attention, kNoLimit));
}

// 50,257 is odd: no row of the operand but the first begins at a multiple of 16 bytes.
TEST(KernelTime, PunishesRowsThatAreNotAligned) {
  const GpuSpec gpu = h100();
  const Seconds aligned = kernel_time(gpu, gpu.sustained, gemm(8192, 50256, 4096), kNoLimit);
  const Seconds odd = kernel_time(gpu, gpu.sustained, gemm(8192, 50257, 4096), kNoLimit);
  EXPECT_NEAR(odd / aligned, 4, 0.05);
}

// A gradient of weights sums over tokens, whose odd number leaves every row of both operands
// aligned.
TEST(KernelTime, OfAWeightGradientOfAnOddNumberOfTokensIsNotPunished) {
  const GpuSpec gpu = h100();
  for (const bool experts : {true, false}) {
    Kernel even = gemm(4096, 2048, 10922);
    even.kind = experts ? KernelKind::grouped_gemm : KernelKind::gemm;
    even.pass = core::GemmPass::weight_gradient;
    even.batch = experts ? 4 : 1;
    Kernel odd = even;
    odd.k = 10923;
    const auto times = [&] {
      return kernel_time(gpu, gpu.sustained, odd, kNoLimit) /
             kernel_time(gpu, gpu.sustained, even, kNoLimit);
    };
    EXPECT_NEAR(times(), 1, 1e-3);
    odd.m = 4095;  // as of a vocabulary that is not padded
    EXPECT_GT(times(), 3);
    odd.m = even.m = 4108;  // 8 bytes beyond a multiple of 16: experts' kernels need 16
    const Kernel wide = gemm(4104, 2048, 10922);
    const double beside = kernel_time(gpu, gpu.sustained, odd, kNoLimit).si() /
                          kernel_time(gpu, gpu.sustained, wide, kNoLimit).si();
    EXPECT_EQ(beside > 3, experts) << beside;
  }
}

// Of 8 bits a copy is multiplied whose rows are the tokens.
TEST(KernelTime, OfANarrowWeightGradientOfAnOddNumberOfTokensIsPunished) {
  const GpuSpec gpu = h100();
  Kernel even = gemm(4096, 2048, 8192);
  even.precision = core::Precision::fp8;
  even.pass = core::GemmPass::weight_gradient;
  Kernel odd = even;
  odd.k = 8191;
  EXPECT_GT(kernel_time(gpu, gpu.sustained, odd, kNoLimit) /
                kernel_time(gpu, gpu.sustained, even, kNoLimit),
            3);
}

// One launch and 15 more of its loop, none from a graph, two of a pair: 3 x 45 + 15 x 5 = 210 us.
TEST(LaunchTime, OfALoopIsOneLaunchAndItsFurtherCalls) {
  Kernel loop = gemm(128, 128, 128);
  loop.launches = 16;
  Kernel replayed = loop;
  replayed.launches = 0;
  Kernel pair;
  pair.count = 2;
  LaunchModel launch{45_us};
  launch.loop_launch = 5_us;
  EXPECT_NEAR(launch_time({loop, replayed, pair}, launch).si(), 210e-6, 1e-12);
}

TEST(KernelTime, OfScoresInMemoryIsLongerThanOfPlainStreams) {
  const GpuSpec gpu = a100();
  Kernel kernel;
  kernel.traffic = 1_GB;
  const Seconds stream = kernel_time(gpu, gpu.sustained, kernel, kNoLimit) - 2_us;
  kernel.kind = KernelKind::score_rows;
  EXPECT_GT(kernel_time(gpu, gpu.sustained, kernel, kNoLimit) - 2_us, stream);
}

// arXiv 2312.00752, section 4.5: on A100, with 16 states, "faster than the best attention
// implementation that we know of (FlashAttention-2) beyond sequence length 2K". Width 1,024 both.
TEST(KernelTime, OfASelectiveScanIsShorterThanFlashAttention2BeyondTwoThousandTokens) {
  const GpuSpec gpu = a100();
  SustainedShares shares = gpu.sustained;
  shares.flash2 = true;
  const auto ratio = [&](std::int64_t sequence) {
    Kernel scan;
    scan.kind = KernelKind::vector_scan;
    const double elements = 8.0 * 1024 * static_cast<double>(sequence);
    scan.work = core::Flops(9 * 16 * elements);
    scan.traffic = core::Bytes(2 * 3 * elements);  // x and steps read, the output written
    return kernel_time(gpu, shares, scan, kNoLimit) /
           kernel_time(gpu, shares, attention(8, sequence, 16, 64), kNoLimit);
  };
  EXPECT_GT(ratio(1024), 1);
  EXPECT_NEAR(ratio(2048), 1, 0.25);
  EXPECT_LT(ratio(4096), 0.75);
}

TEST(KernelTime, OfARecurrenceIsThatOfItsOperationsAndExponentials) {
  // An exponential waits for 8 FLOPs of the 64 lanes of an A100's SM, for 16 of the 128 of an
  // H100's; the rest is the rate of chunked scans.
  for (const auto& [gpu, cost] : {std::pair{a100(), 8.0}, std::pair{h100(), 16.0}}) {
    Kernel scan;
    scan.kind = KernelKind::vector_scan;
    scan.work = core::Flops(9e12);
    const double seconds =
        (kernel_time(gpu, gpu.sustained, scan, kNoLimit) - gpu.kernel_launch).si();
    EXPECT_NEAR(seconds, 1e12 * (8 + cost) / (0.55 * gpu.peak.fp32.si()), 1e-9 * seconds);
  }
}

/// One of `together` matrices.
Kernel decomposition(
    KernelKind kind, std::int64_t side, double work, double traffic, std::int64_t together) {
  Kernel kernel;
  kernel.kind = kind;
  kernel.precision = core::Precision::fp32;
  kernel.n = side;
  kernel.batch = together;
  kernel.work = core::Flops(work * static_cast<double>(together));
  kernel.traffic = core::Bytes(traffic * static_cast<double>(together));
  return kernel;
}

Kernel qr(std::int64_t side, std::int64_t together = 1) {
  const auto s = static_cast<double>(side);
  return decomposition(KernelKind::decomposition, side, 8.0 / 3 * s * s * s, 8 * s * s, together);
}

Kernel eigenvalues(std::int64_t side, std::int64_t together = 1) {
  const auto s = static_cast<double>(side);
  return decomposition(KernelKind::eigenvalues, side, 9 * s * s * s, 4.0 / 3 * s * s * s, together);
}

GpuSpec mi300x() {
  GpuSpec gpu;
  gpu.name = "MI300X";
  gpu.architecture = Architecture::cdna3;
  gpu.peak.fp32 = 163.4_TFLOPs;
  gpu.memory_bandwidth = 5300_GBps;
  gpu.sustained.gemm_16bit = 0.4;
  return gpu;
}

TEST(KernelTime, OfADecompositionIsThatOfColumnsProductsAndPasses) {
  GpuSpec gpu = h100();
  gpu.sustained.gemm_fp32 = 0.7;
  // 1,000 columns of 3.5 us and 0.87 ns a row, 9.3 us and as much a row of eigenvalues; 67e9 FLOP
  // at 0.7 x 67 TFLOP/s; 3.35 GB at 0.85 x 3.35 TB/s.
  const auto qr_like = [](double flop, double bytes, std::int64_t together) {
    return decomposition(KernelKind::decomposition, 1000, flop, bytes, together);
  };
  const double work = 67e9, traffic = 3.35e9;
  const double rest = 1e-3 / 0.7 + 1e-3 / 0.85;
  const auto seconds = [&](const Kernel& kernel) {
    return kernel_time(gpu, gpu.sustained, kernel, kNoLimit).si();
  };
  EXPECT_NEAR(seconds(qr_like(work, traffic, 1)), 4.37e-3 + rest + 2e-6, 1e-9);
  EXPECT_NEAR(seconds(decomposition(KernelKind::eigenvalues, 1000, work, traffic, 1)),
              10.17e-3 + rest + 2e-6, 1e-9);
  // Several together wait one after another; by rocSOLVER they share the columns' waiting.
  EXPECT_NEAR(seconds(qr_like(work, traffic, 8)), 8 * (4.37e-3 + rest) + 2e-6, 1e-9);
  EXPECT_EQ(column_time(mi300x(), qr(1000, 8)), column_time(mi300x(), qr(1000)));
  // A step has a hundredth of what runs once in a hundred.
  Kernel rare = qr_like(work, traffic, 1);
  rare.count = 7;
  rare.every = 100;
  EXPECT_NEAR(seconds(rare), 0.07 * (4.37e-3 + rest + 2e-6), 1e-9);
  const LaunchModel launch{5_us};
  EXPECT_NEAR(launch_time({rare}, launch).si(), 0.07 * 5e-6, 1e-12);
}

// What the law's constants are from, and what they are not from.
TEST(KernelTime, OfADecompositionIsNearPublishedOnes) {
  const auto seconds = [](const GpuSpec& gpu, const Kernel& kernel) {
    return kernel_time(gpu, gpu.sustained, kernel, kNoLimit).si();
  };
  // calibrate/validate/h100-sxm/pytorch.csv, fp32: QRs, then eigenvalues, then 61 in one call.
  GpuSpec ours = h100();
  ours.sustained.gemm_fp32 = 0.8;
  EXPECT_NEAR(seconds(ours, qr(512)) / 1.89e-3, 1, 0.1);
  EXPECT_NEAR(seconds(ours, qr(1024)) / 4.53e-3, 1, 0.05);
  EXPECT_NEAR(seconds(ours, qr(4096)) / 28.98e-3, 1, 0.13);
  EXPECT_NEAR(seconds(ours, eigenvalues(1024)) / 10.88e-3, 1, 0.05);
  EXPECT_NEAR(seconds(ours, eigenvalues(2048)) / 25.93e-3, 1, 0.1);
  EXPECT_NEAR(seconds(ours, eigenvalues(4096)) / 96.28e-3, 1, 0.05);
  EXPECT_NEAR(seconds(ours, eigenvalues(768, 61)) / 484.7e-3, 1, 0.05);
  EXPECT_NEAR(seconds(ours, qr(768, 61)) / 190.2e-3, 1, 0.1);
  // Small ones are decomposed another way (Jacobi's), which is slower: 14.8 ms.
  EXPECT_LT(seconds(ours, eigenvalues(512)), 14.77e-3 / 2);
  // Not fitted, a QR of 2,000 columns on A100: 6.3 ms (ml-explore/mlx, pull request 975).
  EXPECT_NEAR(seconds(a100(), qr(2000)) / 6.3e-3, 1.85, 0.1);
  // 62 QRs of 768 and one of 1,024, one after another, on MI300X: 918 ms with the products beside
  // them (tasmaikeni13/RFS, logs of SOAP with seeds 1 to 3).
  EXPECT_NEAR((62 * seconds(mi300x(), qr(768)) + seconds(mi300x(), qr(1024))) / 0.918, 1, 0.1);
  // Not fitted: eigenvalues of 61 together in fp64, which takes at least as long as fp32: 85.4 ms
  // (the same, artifacts/kernel_benchmark.json). Within the factor of three that is claimed, with
  // a little for fp64.
  const double together = seconds(mi300x(), eigenvalues(768, 61));
  EXPECT_LT(together, 85.4e-3);
  EXPECT_GT(together, 85.4e-3 / 3.5);
}

// Data sheets: boost clocks of A100 1,410, H100 SXM 1,980, MI300X 2,100 MHz; 108, 132, 304
// multiprocessors.
TEST(KernelTime, ClocksOfMultiprocessorsFollowFromTheirFp32Peak) {
  EXPECT_NEAR(multiprocessor_cycles(a100()) / (108 * 1.41e9), 1, 0.01);
  EXPECT_NEAR(multiprocessor_cycles(h100()) / (132 * 1.98e9), 1, 0.01);
  EXPECT_NEAR(multiprocessor_cycles(mi300x()) / (304 * 2.1e9), 1, 0.01);
  GpuSpec unknown = h100();
  unknown.peak.fp32 = core::FlopsPerSecond(0);
  EXPECT_EQ(multiprocessor_cycles(unknown), 0);
}

// 1 GB by memory and by instructions: sides of a right angle, 3 to 4.
TEST(KernelTime, OfKernelsThatAreNoPlainStreamsHasTheirInstructionsInIt) {
  const GpuSpec gpu = h100();
  Kernel kernel;
  kernel.traffic = 1_GB;
  const auto time = [&](const GpuSpec& on) {
    return kernel_time(on, on.sustained, kernel, kNoLimit) - 2_us;
  };
  const Seconds stream = time(gpu);
  kernel.issued = 3.0 / 4 * kernel.traffic.si() / stream.si() / multiprocessor_cycles(gpu);
  EXPECT_NEAR(time(gpu) / stream, 5.0 / 3, 1e-9);
  GpuSpec unknown = gpu;
  unknown.peak.fp32 = core::FlopsPerSecond(0);
  EXPECT_NEAR(time(unknown) / stream, 1, 1e-12);
}

// calibrate/validate/h200-sxm and h100-sxm: times of the same kernels on the same multiprocessors
// beside 4.8 and 3.35 TB/s. A norm forward of 8,192 x 4,096, 36 B an element: 444 and 528 us; sums
// over scattered rows of a mixture's step: 4.37 and 4.38 ms.
TEST(KernelTime, OfNormsHardlyFollowsTheBandwidth) {
  GpuSpec slow = h100();
  slow.memory_bandwidth = core::BytesPerSecond(3.35e12);
  slow.sustained.memory = 0.885;
  GpuSpec fast = slow;
  fast.memory_bandwidth = core::BytesPerSecond(4.8e12);
  Kernel norm;
  norm.traffic = core::Bytes(36.0 * 8192 * 4096);
  norm.issued = 12.9;
  const auto time = [&](const GpuSpec& on, const Kernel& kernel) {
    return (kernel_time(on, on.sustained, kernel, kNoLimit) - 2_us).si();
  };
  EXPECT_NEAR(time(fast, norm) / 444e-6, 1, 0.05);
  EXPECT_NEAR(time(slow, norm) / 528e-6, 1, 0.05);
  norm.issued = 2.86;
  EXPECT_NEAR(time(slow, norm) / time(fast, norm), 4.38 / 4.37, 0.02);
}

// FlashAttention-2 on H200, forward and backward together, over 8,192 tokens and a width of 128:
// samples in calibrate/validate/h200-sxm/pytorch.csv, 32 heads, 16,384 tokens or more a call.
TEST(KernelTime, OfFlashAttention2HasAmperesDependenceOnTheShape) {
  const GpuSpec gpu = h100();
  SustainedShares shares = gpu.sustained;
  shares.attention_forward = shares.attention_backward = 0.3;
  shares.flash2 = true;
  const auto rate = [&](std::int64_t sequence, std::int64_t width) {
    const Kernel kernel = attention(16, sequence, 32, width);
    return kernel.work / (kernel_time(gpu, shares, kernel, kNoLimit) - 2_us);
  };
  const auto reference = rate(8192, 128);
  const std::vector<std::pair<int, double>> wide{
      {1024, 0.741}, {2048, 0.861}, {4096, 0.957}, {16384, 1.044}, {32768, 1.060}};
  for (const auto& [sequence, share] : wide) {
    EXPECT_NEAR(rate(sequence, 128) / reference / share, 1, 0.03) << sequence;
  }
  const std::vector<std::pair<int, double>> narrow{
      {1024, 0.628}, {2048, 0.756}, {4096, 0.822}, {8192, 0.870}, {32768, 0.940}};
  for (const auto& [sequence, share] : narrow) {
    EXPECT_NEAR(rate(sequence, 64) / reference / share, 1, 0.06) << sequence;
  }
}

TEST(AttentionUtilization, FollowsThePublishedFigures) {
  // FlashAttention-3 on H100, forward, head 128, causal (figure in Dao-AILab/flash-attention
  // assets): TFLOP/s.
  const std::vector<std::pair<int, double>> figure{{512, 292},  {1024, 423}, {2048, 521},
                                                   {4096, 579}, {8192, 602}, {16384, 616}};
  for (const auto& [sequence, rate] : figure) {
    EXPECT_NEAR(602 * attention_utilization(sequence, 128, true, Architecture::hopper) / rate, 1,
                0.06)
        << sequence;
  }
  EXPECT_NEAR(602 * attention_utilization(8192, 64, true, Architecture::hopper) / 460, 1, 0.02);
  // FlashAttention-2 on A100, forward and backward.
  const std::vector<std::pair<int, double>> ampere{{512, 99},   {1024, 133}, {2048, 155},
                                                   {4096, 173}, {8192, 182}, {16384, 189}};
  for (const auto& [sequence, rate] : ampere) {
    EXPECT_NEAR(182 * attention_utilization(sequence, 128, true, Architecture::ampere) / rate, 1,
                0.06)
        << sequence;
  }
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Relative errors over the rows of a thinned GEMM table with m, n, k of 1024 or more
/// (tests/data/README.md).
std::vector<double> gemm_errors(const GpuSpec& gpu, const std::string& table) {
  std::vector<double> errors;
  std::ifstream file(std::string(HEADWAY_SOURCE_DIR "/tests/data/measured/gemm_") + table + ".csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream row(line);
    std::string dtype, m, n, k, micros;
    std::getline(row, dtype, ',');
    std::getline(row, m, ',');
    std::getline(row, n, ',');
    std::getline(row, k, ',');
    std::getline(row, micros, ',');
    const Kernel kernel = gemm(std::atoll(m.c_str()), std::atoll(n.c_str()), std::atoll(k.c_str()));
    if (dtype == "bfloat16" && kernel.m >= 1024 && kernel.n >= 1024 && kernel.k >= 1024) {
      const double predicted = kernel_time(gpu, gpu.sustained, kernel, kNoLimit).si();
      errors.push_back(std::abs(predicted / (std::atof(micros.c_str()) * 1e-6) - 1));
    }
  }
  return errors;
}

TEST(KernelTime, IsNearMeasuredProducts) {
  const std::vector<std::pair<GpuSpec, std::string>> tables{
      {a100(), "a100_sxm"}, {h100(), "h100_sxm"}, {h200(), "h200_sxm"}, {b200(), "b200_sxm"}};
  for (const auto& [gpu, table] : tables) {
    const std::vector<double> errors = gemm_errors(gpu, table);
    ASSERT_GT(errors.size(), 300U) << table;
    const double error = median(errors);
    std::cout << gpu.name << ": median error " << 100 * error << " % over " << errors.size()
              << " products\n";
    EXPECT_LT(error, 0.12) << gpu.name;
  }
}

/// Relative errors over causal bf16 rows of at least 1024 tokens, below 0 where too fast.
std::vector<double> attention_errors(const GpuSpec& gpu, const std::string& name) {
  std::vector<double> errors;
  std::ifstream file(HEADWAY_SOURCE_DIR "/tests/data/measured/attention_forward_causal.csv");
  std::string line;
  while (std::getline(file, line)) {
    std::stringstream row(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(row, field, ',');) {
      fields.push_back(field);
    }
    if (fields[0] != name || fields[6] != "0" || fields[7] != "bf16" ||
        std::atoi(fields[2].c_str()) < 1024) {
      continue;
    }
    const Kernel kernel = attention(std::atoll(fields[1].c_str()), std::atoll(fields[2].c_str()),
                                    std::atoll(fields[3].c_str()), std::atoll(fields[5].c_str()));
    errors.push_back(kernel_time(gpu, gpu.sustained, kernel, kNoLimit).si() /
                         (std::atof(fields[8].c_str()) * 1e-6) -
                     1);
  }
  return errors;
}

// Shapes from 1 to 128 sequences, 4 to 64 heads: neither too fast as a whole, nor far off each.
TEST(KernelTime, IsNearMeasuredAttention) {
  const std::vector<std::tuple<GpuSpec, std::string, double>> tables{
      {a100(), "a100_sxm", 0.14}, {h100(), "h100_sxm", 0.14}, {b200(), "b200_sxm", 0.25}};
  for (const auto& [gpu, name, most] : tables) {
    std::vector<double> errors = attention_errors(gpu, name);
    ASSERT_GT(errors.size(), 300U) << name;
    const double bias = median(errors);
    std::ranges::transform(errors, errors.begin(), [](double error) { return std::abs(error); });
    const double error = median(errors);
    std::cout << gpu.name << ": attention " << 100 * bias << " %, median error " << 100 * error
              << " % over " << errors.size() << " kernels\n";
    EXPECT_LT(std::abs(bias), 0.14) << gpu.name;
    EXPECT_LT(error, most) << gpu.name;
  }
}

}  // namespace
}  // namespace headway::gpu
