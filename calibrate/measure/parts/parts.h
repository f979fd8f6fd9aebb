// The parts of a measurement; each adds its samples to the bench and stops when its time is up.
#pragma once

#include <cuda_runtime_api.h>

#include "calibrate/measure/cuda/cublas_lt.h"
#include "calibrate/measure/host/bench.h"

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

/// Launches on the CPU and on the GPU, plain and from a CUDA graph.
void measure_launch(const GpuBench& gpu);

/// Host to GPU and back, pinned and pageable, one way and both ways.
void measure_copies(const GpuBench& gpu);

/// Copy, triad, RMSNorm, SwiGLU and its gradient, softmax cross-entropy, fused AdamW.
void measure_memory(const GpuBench& gpu);

/// Attention forward and backward through cuDNN.
void measure_attention(const GpuBench& gpu);

/// Copies between the GPUs of this node.
void measure_peer(const GpuBench& gpu);

/// NCCL's collectives for every group size in the node and over the nodes of the run, and a product
/// beside an all-reduce.
void measure_collectives(const GpuBench& gpu);

/// A product beside copies to and from the host and beside a kernel that moves memory.
void measure_interference(const GpuBench& gpu);

/// Products and the triad for seconds on end: clock and power over time.
void measure_sustained(const GpuBench& gpu);

}  // namespace headway::measure
