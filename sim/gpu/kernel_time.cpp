#include "sim/gpu/kernel_time.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/gpu/closed_form.h"

namespace headway::gpu {

namespace {

using core::Kernel;
using core::Precision;
using core::Seconds;

/// The weight-gradient product accumulates in fp32 and reads both operands across their rows.
/// Source: held fixed at a round value; prototype fits over 500 runs were flat from 0.7 to 1.0.
constexpr double kWeightGradientShare = 0.85;

/// Gaps between kernels of a replayed graph, of those between launched ones.
constexpr double kGraphGap = 0.3;

double gemm_share(const SustainedShares& shares, Precision precision) {
  switch (precision) {
    case Precision::fp8:
    case Precision::mxfp8:
      return shares.gemm_8bit;
    case Precision::nvfp4:
      return shares.gemm_4bit;
    default:
      return shares.gemm_16bit;
  }
}

core::BytesPerSecond sustained_bandwidth(const GpuSpec& gpu, const SustainedShares& shares) {
  return gpu.memory_bandwidth * shares.memory;
}

Seconds gemm_time(const GpuSpec& gpu, const SustainedShares& shares, const Kernel& kernel) {
  double share = gemm_share(shares, kernel.precision);
  share *= gemm_utilization(kernel.m, kernel.n, kernel.k, kernel.batch, wave_model(gpu));
  if (kernel.pass == core::GemmPass::weight_gradient) {
    share *= kWeightGradientShare;
  }
  return roofline(kernel.work, peak_rate(gpu, kernel.precision) * share, kernel.traffic,
                  sustained_bandwidth(gpu, shares));
}

Seconds attention_time(const GpuSpec& gpu, const SustainedShares& shares, const Kernel& kernel) {
  const bool forward = kernel.kind == core::KernelKind::attention_forward;
  double share = forward ? shares.attention_forward : shares.attention_backward;
  share *= attention_utilization(kernel.sequence, kernel.head_dim, kernel.causal, gpu.architecture);
  const auto rate = peak_rate(gpu, kernel.precision) * std::min(share, 1.0);
  return roofline(kernel.work, rate, kernel.traffic, sustained_bandwidth(gpu, shares));
}

Seconds one_launch(const GpuSpec& gpu, const SustainedShares& shares, const Kernel& kernel) {
  switch (kernel.kind) {
    case core::KernelKind::gemm:
      return gemm_time(gpu, shares, kernel);
    case core::KernelKind::attention_forward:
    case core::KernelKind::attention_backward:
      return attention_time(gpu, shares, kernel);
    case core::KernelKind::memory_bound:
      return kernel.traffic / sustained_bandwidth(gpu, shares);
  }
  return Seconds(0);
}

}  // namespace

core::FlopsPerSecond peak_rate(const GpuSpec& gpu, Precision precision) {
  core::FlopsPerSecond rate;
  switch (precision) {
    case Precision::fp32:
      break;  // no matrix unit multiplies fp32
    case Precision::tf32:
      rate = gpu.peak.tf32;
      break;
    case Precision::bf16:
      rate = gpu.peak.bf16;
      break;
    case Precision::fp16:
      rate = gpu.peak.fp16;
      break;
    case Precision::fp8:
      rate = gpu.peak.fp8;
      break;
    case Precision::mxfp8: {
      // Block scales are applied by the matrix units from Blackwell and CDNA 4 on.
      const bool scaled =
          gpu.architecture == Architecture::blackwell || gpu.architecture == Architecture::cdna4;
      rate = scaled ? gpu.peak.fp8 : core::FlopsPerSecond(0);
      break;
    }
    case Precision::nvfp4:
      rate = gpu.peak.fp4;
      break;
  }
  if (rate <= core::FlopsPerSecond(0)) {
    throw core::Error(
        fmt::format("{} does not support precision {}", gpu.name, core::to_word(precision)));
  }
  return rate;
}

Seconds kernel_time(const GpuSpec& gpu,
                    const SustainedShares& shares,
                    const Kernel& kernel,
                    const LaunchModel& launch) {
  const Seconds gap = gpu.kernel_launch * (launch.cuda_graphs ? kGraphGap : 1.0);
  return (one_launch(gpu, shares, kernel) + gap) * static_cast<double>(kernel.count);
}

Seconds kernels_time(const GpuSpec& gpu,
                     const SustainedShares& shares,
                     const std::vector<Kernel>& kernels,
                     const LaunchModel& launch) {
  Seconds sum;
  for (const Kernel& kernel : kernels) {
    sum += kernel_time(gpu, shares, kernel, launch);
  }
  return sum;
}

std::int64_t launch_count(const std::vector<Kernel>& kernels) {
  std::int64_t sum = 0;
  for (const Kernel& kernel : kernels) {
    sum += kernel.count;
  }
  return sum;
}

double launch_stretch(Seconds gpu_time, std::int64_t launches, const LaunchModel& launch) {
  if (launch.cuda_graphs || gpu_time <= Seconds(0)) {
    return 1;
  }
  return std::max(1.0, launch.cpu_launch * static_cast<double>(launches) / gpu_time);
}

}  // namespace headway::gpu
