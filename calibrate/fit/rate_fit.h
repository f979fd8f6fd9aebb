// Single figures from many samples: shares of the peaks, copy and storage rates, launch gaps.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/gpu/spec.h"
#include "sim/training/calibration_spec.h"

#include "calibrate/fit/figures.h"
#include "calibrate/fit/samples.h"

namespace headway::fit {

/// The median of positive values with its errors; nothing of nothing.
std::optional<Typical> typical(std::span<const double> values);

/// Which samples count as large enough to speak for the peak.
inline constexpr double kLargeGemmFlops = 2.0 * 4096 * 4096 * 4096;
inline constexpr std::int64_t kLongSequence = 4096;
inline constexpr double kStreamingBytes = 256e6;  ///< of copies, sums, gates, optimizers

/// Shares of the peaks of `gpu`; those not measured keep the catalogue's value and are named in
/// `remarks`. Attention of variant "flash2" speaks for `attention_flash2` alone, forward and
/// backward of a shape together, any other for the newest kernels. Sustained samples (elapsed_s >
/// 0, last half of the series) go before bursts. The weight gradient's share is that of the forward
/// product of the same shape.
struct ShareFit {
  gpu::SustainedShares shares;
  std::vector<training::FittedFigure> figures;  ///< of the measured ones
  std::vector<std::string> remarks;
};
ShareFit fit_shares(std::span<const Sample> samples, const gpu::GpuSpec& gpu);

/// Launches, host copies and storage as one node sees them.
struct RateFit {
  std::optional<core::Seconds> kernel_launch;
  std::optional<core::Seconds> eager_launch, compiled_layer;
  std::optional<core::BytesPerSecond> host_bandwidth;
  std::optional<training::MeasuredStorage> storage;
  std::vector<training::FittedFigure> figures;
};
RateFit fit_rates(std::span<const Sample> samples);

/// How much longer things take beside other work: the median of seconds beside / seconds alone over
/// samples that are otherwise the same, one figure for each kind, operation and companion, named
/// "interference.gemm.forward.beside.all_reduce".
std::vector<training::FittedFigure> fit_interference(std::span<const Sample> samples);

}  // namespace headway::fit
