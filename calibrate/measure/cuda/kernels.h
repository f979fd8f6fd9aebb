// The kernels of our own: what each computes and how many bytes it moves. Two bodies: kernels.cu
// on the GPU, reference.cpp on the CPU; both are made of the functions of elements.h.
#pragma once

#include <cstdint>

#include "calibrate/measure/host/elements.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headway::measure {

using StreamHandle = CUstream_st*;

/// Fills `count` elements with random_value(seed, 0...count - 1).
void launch_random_fill(
    void* array, Format format, std::uint64_t count, std::uint64_t seed, StreamHandle stream);

/// Fills a bf16 array with rank_value(rank, index).
void launch_rank_fill(std::uint16_t* array, std::uint64_t count, int rank, StreamHandle stream);
/// -1, 0 or 1, so that sums over 256 ranks are exact in bf16.
HEADWAY_BOTH constexpr int rank_value(int rank, std::uint64_t index) {
  return static_cast<int>((index + 7 * static_cast<std::uint64_t>(rank) + index / 5) % 3) - 1;
}

/// Counts bytes that differ between two arrays into `*differences` (device memory, set to 0 first).
void launch_compare(const void* a,
                    const void* b,
                    std::uint64_t bytes,
                    unsigned long long* differences,
                    StreamHandle stream);

/// to[i] = from[i]; bytes a multiple of 16.
void launch_copy(void* to, const void* from, std::uint64_t bytes, StreamHandle stream);

/// a = b + scale c in fp32; count a multiple of 4.
void launch_triad(float* a,
                  const float* b,
                  const float* c,
                  float scale,
                  std::uint64_t count,
                  StreamHandle stream);

/// RMSNorm of bf16 rows; width a multiple of 8.
struct RmsNormArrays {
  std::uint16_t* out;
  const std::uint16_t* in;
  const std::uint16_t* weight;
  int rows, width;
  float epsilon;
};
void launch_rms_norm(const RmsNormArrays& arrays, StreamHandle stream);

/// bf16; count a multiple of 8.
void launch_swiglu(std::uint16_t* out,
                   const std::uint16_t* gate,
                   const std::uint16_t* up,
                   std::uint64_t count,
                   StreamHandle stream);

/// Gradients of SwiGLU, bf16; count a multiple of 8.
struct SwigluGradientArrays {
  std::uint16_t* gate_gradient;
  std::uint16_t* up_gradient;
  const std::uint16_t* gate;
  const std::uint16_t* up;
  const std::uint16_t* gradient;
  std::uint64_t count;
};
void launch_swiglu_gradient(const SwigluGradientArrays& arrays, StreamHandle stream);

/// Softmax cross-entropy over bf16 rows, forward and backward in one kernel: fp32 loss per row and
/// bf16 gradient scaled by 1 / rows; vocabulary a multiple of 8. The target of row r is
/// cross_entropy_target(r, vocabulary).
struct CrossEntropyArrays {
  float* loss;
  std::uint16_t* gradient;
  const std::uint16_t* logits;
  int rows, vocabulary;
};
void launch_cross_entropy(const CrossEntropyArrays& arrays, StreamHandle stream);
HEADWAY_BOTH int cross_entropy_target(int row, int vocabulary) {
  return static_cast<int>(mixed_bits(17, static_cast<std::uint64_t>(row)) %
                          static_cast<std::uint64_t>(vocabulary));
}

/// One fused AdamW step: fp32 gradient, master weight and moments; writes the bf16 weight too.
struct AdamArrays {
  float* parameter;
  float* first_moment;
  float* second_moment;
  const float* gradient;
  std::uint16_t* weight;
  std::uint64_t count;  ///< a multiple of 4
};
void launch_adam(const AdamArrays& arrays, const AdamStep& step, StreamHandle stream);

/// Does nothing: what remains is the launch.
void launch_nothing(StreamHandle stream);

/// Keeps the stream busy for about `seconds`; the clock of the loop is the GPU's wall clock.
void launch_wait(double seconds, StreamHandle stream);

/// Threads that share a row in the row kernels; their partial results merge pairwise, distance
/// halving. Part of the arithmetic, so the CPU reference does the same.
constexpr int kRowThreads = 256;

}  // namespace headway::measure
