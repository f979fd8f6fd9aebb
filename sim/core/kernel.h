// What a GPU is asked to do, without saying how fast: the words between `workload`, which counts
// work, and `gpu`, which times it.
#pragma once

#include <cstdint>

#include "sim/core/precision.h"
#include "sim/core/units.h"

namespace headway::core {

enum class KernelKind : std::uint8_t {
  gemm,               ///< matrix product m x k by k x n, `batch` of them
  grouped_gemm,       ///< products of `batch` experts with their tokens, m, n, k of each, in one go
  attention_forward,  ///< fused (flash) attention, scores never leave the chip
  attention_backward,  ///< its backward, recomputing the scores
  memory_bound,        ///< timed by the bytes it moves
  host_copy,           ///< between GPU and host memory, one direction, by the bytes it moves
  host_update,         ///< on the CPUs, by the bytes it moves in host memory
  scan,         ///< one kernel of a chunked scan (linear attention, state space) or the convolution
                ///< before it, by its bytes or its products, at the lower speeds of such kernels
  vector_scan,  ///< a recurrence on the vector units, a state a channel (Mamba-1), by its bytes or
                ///< its operations, exponentials among them
  decomposition,  ///< QR of n x n matrices, `batch` of them: column after column, then by products
                  ///< and bytes
  eigenvalues,    ///< and vectors, of n x n matrices, in the same way
  score_rows,  ///< softmax or dropout over attention scores in memory: bytes, exponentials, random
               ///< numbers
};

/// Which product of a linear layer a GEMM is; the three have different operand layouts and speeds.
enum class GemmPass : std::uint8_t { forward, input_gradient, weight_gradient };

/// One kernel launch, or `count` equal ones in a row.
struct Kernel {
  KernelKind kind = KernelKind::memory_bound;
  const char* name = "";  ///< a literal such as "qkv", for timelines and explanations
  Precision precision = Precision::bf16;
  GemmPass pass = GemmPass::forward;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;  ///< gemm: tokens, outputs, inputs
  std::int64_t sequence = 0;                    ///< attention: tokens of one query sequence
  std::int64_t key_sequence = 0;                ///< attention: tokens of one key sequence
  std::int64_t query_heads = 0, key_value_heads = 0, head_dim = 0;
  bool causal = true;
  Flops work;      ///< floating-point operations really executed (causal attention counted half)
  Bytes traffic;   ///< bytes read and written in GPU memory; host_copy, host_update: as their kind
                   ///< says
  Bytes gathered;  ///< attention: bytes of blocks that each query fetches for itself, most of them
                   ///< from caches
  double issued = 0;  ///< memory_bound: bytes that the instructions of a multiprocessor handle in a
                      ///< cycle; 0: more than memory brings, a plain stream
  std::int64_t count = 1;
  std::int64_t every = 1;     ///< runs once in so many steps, which share its time
  std::int64_t launches = 1;  ///< by the CPU, each of `count`: one an expert where grouped products
                              ///< are loops, none in a replayed graph

  bool operator==(const Kernel&) const = default;
};

}  // namespace headway::core
