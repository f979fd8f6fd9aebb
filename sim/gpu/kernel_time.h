// How long a GPU takes for a kernel: rooflines with the shares of the peaks that sustained kernels
// reach.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/kernel.h"
#include "sim/core/units.h"
#include "sim/gpu/spec.h"

namespace headway::gpu {

/// How kernels are launched, and the host they are launched from.
struct LaunchModel {
  core::Seconds cpu_launch{5e-6};  ///< CPU time to launch one kernel
  bool cuda_graphs = false;        ///< replayed from a recorded graph: no CPU limit, shorter gaps
  core::BytesPerSecond host_memory{50e9};  ///< bandwidth of host memory, this GPU's share
  core::Seconds loop_launch{5e-6};         ///< of each further launch of a loop of library calls
  core::Seconds collective{0};             ///< CPU time to start one collective
  core::Seconds layer{0};                  ///< CPU time of one pass through a layer beside these
  double slowdown = 1;                     ///< CPU time / the same without stalls
};

/// What to say where the matrix units do not multiply `precision`: which formats of training they
/// do ("V100 has no bf16; use fp16"); empty where they do.
std::string missing_precision(const GpuSpec& gpu, core::Precision precision);

/// Dense peak of the matrix units for `precision`.
/// @throws core::Error with missing_precision if the GPU does not support it
core::FlopsPerSecond peak_rate(const GpuSpec& gpu, core::Precision precision);

/// Share of the peak that large products of `precision` sustain; where none is given for tf32 or
/// fp32, that of 16-bit products.
double gemm_share(const SustainedShares& shares, core::Precision precision);

/// Whether that share is the format's own.
bool has_own_share(const SustainedShares& shares, core::Precision precision);

/// Rate at which all of a GPU fetches blocks of keys that queries chose.
core::BytesPerSecond fetch_rate(const GpuSpec& gpu);

/// Cycles a second of all multiprocessors together, at the highest clock: what the fp32 peak says,
/// by two operations a lane, 128 lanes a multiprocessor or compute unit, 64 where that would be a
/// clock below 1 GHz (V100, T4, A100, A30). Zero without that peak.
double multiprocessor_cycles(const GpuSpec& gpu);

/// Time that one column of a decomposition waits for the one before it, of all matrices of the
/// kernel: cuSOLVER takes them one by one, rocSOLVER together.
core::Seconds column_time(const GpuSpec& gpu, const core::Kernel& kernel);

/// Time of `kernel.count` launches on the GPU, each with its launch gap, of which a step has one in
/// `kernel.every`; the CPU's limit is not in it.
/// @throws core::Error if the GPU does not support the kernel's precision
core::Seconds kernel_time(const GpuSpec& gpu,
                          const SustainedShares& shares,
                          const core::Kernel& kernel,
                          const LaunchModel& launch);

/// The gap of one launch, in which the GPU does nothing.
core::Seconds launch_gap(const GpuSpec& gpu, const LaunchModel& launch);

/// Sum of kernel_time over `kernels`.
core::Seconds kernels_time(const GpuSpec& gpu,
                           const SustainedShares& shares,
                           const std::vector<core::Kernel>& kernels,
                           const LaunchModel& launch);

/// CPU time to launch `kernels`, without stalls: of each a launch, and further ones of its loop.
core::Seconds launch_time(const std::vector<core::Kernel>& kernels, const LaunchModel& launch);

/// CPU time of a block of work that takes `launches` to launch, starts `collectives` and passes
/// `layers` layers; 0 with CUDA graphs.
core::Seconds host_time(core::Seconds launches,
                        int collectives,
                        int layers,
                        const LaunchModel& launch);

/// What the kernels of a block are stretched by where the CPU needs `host` for it. With g the time
/// of the kernels and b that of transfers that nothing runs beside, the block takes
///     ((g + b)^8 + host^8)^(1/8),
/// and what is more than g + b is the kernels'. The CPU runs ahead of the GPU within a block, so
/// the limit holds for the block, not for each kernel.
double host_stretch(core::Seconds kernels, core::Seconds transfers, core::Seconds host);

}  // namespace headway::gpu
