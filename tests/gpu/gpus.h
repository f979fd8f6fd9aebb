// GPUs that the tests of this room share: data sheet values.
#pragma once

#include "sim/gpu/spec.h"

namespace headway::gpu::tests {

inline GpuSpec a100() {
  using namespace core::literals;
  GpuSpec gpu;
  gpu.name = "A100 SXM 80 GB";
  gpu.architecture = Architecture::ampere;
  gpu.peak = {19.5_TFLOPs, 156_TFLOPs, 312_TFLOPs, 312_TFLOPs, {}, {}};
  gpu.memory = 80_GB;
  gpu.memory_bandwidth = 2039_GBps;
  gpu.streaming_multiprocessors = 108;
  gpu.power = core::Watts(400);
  gpu.sustained.gemm_16bit = 0.92;
  return gpu;
}

inline GpuSpec h100() {
  using namespace core::literals;
  GpuSpec gpu;
  gpu.name = "H100 SXM";
  gpu.architecture = Architecture::hopper;
  gpu.peak = {67_TFLOPs, 494_TFLOPs, 989_TFLOPs, 989_TFLOPs, 1979_TFLOPs, {}};
  gpu.memory = 80_GB;
  gpu.memory_bandwidth = 3350_GBps;
  gpu.streaming_multiprocessors = 132;
  gpu.power = core::Watts(700);
  gpu.sustained.gemm_16bit = 0.82;
  return gpu;
}

inline GpuSpec h200() {
  using namespace core::literals;
  GpuSpec gpu = h100();
  gpu.name = "H200 SXM";
  gpu.memory = 141_GB;
  gpu.memory_bandwidth = 4800_GBps;
  return gpu;
}

inline GpuSpec b200() {
  using namespace core::literals;
  GpuSpec gpu;
  gpu.name = "B200";
  gpu.architecture = Architecture::blackwell;
  gpu.peak = {75_TFLOPs, 1125_TFLOPs, 2250_TFLOPs, 2250_TFLOPs, 4500_TFLOPs, 9000_TFLOPs};
  gpu.memory = 180_GB;
  gpu.memory_bandwidth = 8000_GBps;
  gpu.streaming_multiprocessors = 148;
  gpu.power = core::Watts(1000);
  gpu.sustained.gemm_16bit = 0.75;
  gpu.sustained.attention_forward = 0.4;  // kernels of the measured table; newer ones are faster
  return gpu;
}

}  // namespace headway::gpu::tests
