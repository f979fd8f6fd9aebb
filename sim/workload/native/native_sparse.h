// Native sparse attention in numbers: which keys a query meets, and what its own matrices hold.
#pragma once

#include <cstdint>

#include "sim/workload/native_sparse_spec.h"

namespace headway::workload {

/// Compressed blocks, chosen blocks, window: each has keys, values and a gate a head.
constexpr int kNativeBranches = 3;

/// Keys that a query meets in each branch, in the mean over a sequence.
struct NativeKeys {
  double compressed = 0, selected = 0, window = 0;
  [[nodiscard]] double total() const { return compressed + selected + window; }
};

/// Native sparse attention over sequences of one length.
struct NativeShape {
  std::int64_t compressed_block = 0;  ///< l: tokens that one compressed key stands for
  std::int64_t selected_block = 0;    ///< l'
  std::int64_t selected_blocks = 0;   ///< n
  std::int64_t window = 0;            ///< w
  std::int64_t blocks = 0;            ///< M: compressed keys of a sequence
  double choices = 0;                 ///< blocks of l' tokens in a sequence
  NativeKeys keys;
};

/// With blocks of l tokens that begin every d, of s tokens M = (s - l) / d + 1, rounded down, are
/// compressed; the i-th (from 0 on) is met by the queries from its last token on. Of n blocks of l'
/// tokens a query takes those that there are before it, whole: kernels multiply all of the block
/// that it stands in.
///     compressed  (M (s - l + 1) - d M (M - 1) / 2) / s
///     selected    K (1 - (K - l') / 2s), K = min(n l', s)
///     window      w (1 - w / 2s)
NativeShape native_shape(const NativeSparseSpec& spec, int sequence_length);

/// Width of a head's values beside keys of `head_dim`.
int native_value_dim(const NativeSparseSpec& spec, int head_dim);

/// Weights that compress the blocks of one key-value head: of keys and of values an MLP of two
/// matrices, from a block's l tokens to one as wide as a token and from that to the result.
///     l (dk^2 + dv^2) + dk^2 + dv^2
double compression_weights(const NativeSparseSpec& spec, int head_dim);
/// The same with the positions in a block, which are added to its keys and values: l (dk + dv).
double compression_parameters(const NativeSparseSpec& spec, int head_dim);

/// Forward FLOPs of compression for one token and one key-value head: 2 M / s of the weights.
double compression_flops(const NativeSparseSpec& spec, int head_dim, int sequence_length);

/// Elements of a token that queries, keys, values and gates have, of `heads` queries and
/// `key_value_heads` keys: what the first matrix makes.
std::int64_t native_columns(std::int64_t heads,
                            std::int64_t key_value_heads,
                            std::int64_t head_dim,
                            std::int64_t value_dim);

}  // namespace headway::workload
