// The parts of a measurement; each adds its samples to the bench and stops when its time is up.
#pragma once

#include <cuda_runtime_api.h>

#include "calibrate/measure/bench.h"
#include "calibrate/measure/cublas_lt.h"

namespace headway::measure {

/// What the GPU parts share.
struct GpuBench {
  Bench& bench;
  cudaStream_t stream = nullptr;
  const CublasLt* cublas = nullptr;  ///< null: cuBLASLt is missing
};

/// Matrix products: every pass, precision and shape, by the library's first choice and by the best
/// of several.
void measure_gemm(const GpuBench& gpu);

}  // namespace headway::measure
