// Fused (flash) attention as it is measured: shapes, the interface to a library that computes it,
// and the CPU reference.
#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/measure/host/attention_reference.h"
#include "calibrate/measure/parts/parts.h"

namespace headway::measure {

/// Device arrays of one call, bf16 with [batch, sequence, heads, head_dim] row-major, statistics
/// fp32 [batch, query_heads, sequence]. The gradients are written by the backward only.
struct AttentionArrays {
  void *q = nullptr, *k = nullptr, *v = nullptr, *out = nullptr;
  void* statistics = nullptr;  ///< log of the softmax's denominator, from the forward
  void *out_gradient = nullptr, *q_gradient = nullptr, *k_gradient = nullptr, *v_gradient = nullptr;
};

/// One attention of one shape, ready to be launched.
class AttentionCall {
 public:
  virtual ~AttentionCall() = default;
  virtual void launch(const AttentionArrays& arrays) = 0;
};

/// A library of attention kernels bound to a stream.
class AttentionLibrary {
 public:
  virtual ~AttentionLibrary() = default;
  /// @throws std::runtime_error with the library's reason if it does not support the shape
  virtual std::unique_ptr<AttentionCall> prepare(const AttentionShape& shape, bool backward) = 0;
  [[nodiscard]] virtual std::string version() const = 0;
};

/// cuDNN through its C++ front end, opened at run time.
/// @throws std::runtime_error with the reason if cuDNN is not there
std::unique_ptr<AttentionLibrary> open_cudnn_attention(cudaStream_t stream);

/// Checks and measures attention with `library`.
void measure_attention_with(const GpuBench& gpu, AttentionLibrary& library);

}  // namespace headway::measure
