// The laws behind kernel_time, as pure functions of numbers.
#pragma once

#include <cstdint>

#include "sim/core/units.h"
#include "sim/gpu/spec.h"

namespace headway::gpu {

/// Roofline: max(work / rate, traffic / bandwidth).
core::Seconds roofline(core::Flops work,
                       core::FlopsPerSecond rate,
                       core::Bytes traffic,
                       core::BytesPerSecond bandwidth);

/// How output tiles of a matrix product fall on the SMs.
struct WaveModel {
  int streaming_multiprocessors = 132;
  double sharpness = 0.5;  ///< exponent of the loss: 1 where a wave must end as a whole, less where
                           ///< kernels split it
};

/// The wave model of a GPU: sharpness 1 on Ampere, 0.5 on later ones (from GEMM microbenchmarks,
/// README.md).
WaveModel wave_model(const GpuSpec& gpu);

/// Share of the best rate of a large product that an m x n x k product reaches, in (0, 1]:
///     u = (tile share x whole tiles x whole waves x k / (k + 128)) ^ sharpness, for the best of
///     six tiles
double gemm_utilization(
    std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch, const WaveModel& model);

/// Share of the rate at 8,192 tokens and head width 128 that flash attention reaches; about 1
/// there.
///     g(s) / g(8192) with g(s) = s / (s + s_half), times (d / 128)^x below 128, x = 0.4, on Ampere
///     0.15 (FlashAttention-3 and -2, width 64 against 128)
double attention_utilization(std::int64_t sequence,
                             std::int64_t head_dim,
                             bool causal,
                             Architecture architecture);

/// How much longer the slowest of `gpus` equal GPUs takes for the same matrix products than a
/// typical one:
///     1 / (1 - spread z), z = normal quantile of (n - 3/8) / (n + 1/4) (Blom's expected maximum)
/// @param spread  standard deviation of speed over GPUs of one model, relative
double slowest_slowdown(std::int64_t gpus, double spread);

/// Shares of the slowest of `gpus` GPUs, which all others wait for: matrix units follow the clock
/// that the power limit leaves each chip, memory does not. Spread 1.25 %: GPUs of one model differ
/// by +-2.5 % (two standard deviations; stas00/ml-engineering, training/performance, "silicon
/// lottery"; Sinha et al., SC 2022, find 8 % between extremes).
SustainedShares shares_of_slowest(SustainedShares shares, std::int64_t gpus);

/// Rate of matrix and attention kernels at the GPU's power limit / rate at the limit where `shares`
/// hold:
///     sqrt((power - idle) / (shares.power - idle)); 1 where the shares name no power
/// Heavy kernels run at the clock that the limit leaves: dynamic power is f V^2, and V falls with
/// f, so f follows a root of the power between the square and the cube root. Source: square root,
/// from B200 to GB200 to GB300 (1.0, 1.2, 1.4 kW) tuned runs gain 10 to 15 % and 10 %.
/// A lower limit leaves a kernel alone whose dynamic power at full clock is below it:
///     min(1, sqrt((power - idle) / (demand (shares.power - idle))))
/// @param demand  dynamic power of the kernel / that of large products, taken as that of the rates
double power_share(const GpuSpec& gpu, const SustainedShares& shares, double demand = 1);

/// Mean power of a GPU that is busy a share of the time: idle + (limit - idle) x busy share.
core::Watts mean_power(const GpuSpec& gpu, double busy_share);

/// Energy of one GPU over `time`.
core::Joules energy(const GpuSpec& gpu, core::Seconds time, double busy_share);

}  // namespace headway::gpu
