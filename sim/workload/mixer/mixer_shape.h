// Sizes of a mixer on one rank, and what one token is multiplied with there.
#pragma once

#include <cstdint>

#include "sim/workload/mixer/mixer_spec.h"

namespace headway::workload {

/// A mixer on one rank: heads divided over the tensor group. With K = keys(), V = values():
///     mamba1       z V, x V; of the convolved x a matrix makes the step's rank R, B N, C N
///     mamba2       z V, x V, B K, C K, dt H
///     gated_delta  q K, k K, v V, z V, write strength H, decay H
///     kimi_delta   q K, k K, v V, write strength H; decay K and gate V in two steps over a rank
///                  as wide as a value
///     lightning    q V, k V, v V, gate V
struct MixerShape {
  MixerKind kind = MixerKind::mamba2;
  std::int64_t heads = 0;      ///< H
  std::int64_t key_heads = 0;  ///< of queries and keys (B and C)
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t convolution = 0;
  std::int64_t chunk = 0;
  std::int64_t step_rank = 0;  ///< R
  bool norm = true;

  [[nodiscard]] std::int64_t keys() const { return key_heads * key_dim; }
  [[nodiscard]] std::int64_t values() const { return heads * value_dim; }
  /// Keys of all heads, shared ones copied, as kernels of the delta rule take them.
  [[nodiscard]] std::int64_t spread_keys() const { return heads * key_dim; }
  /// Elements of all states.
  [[nodiscard]] std::int64_t states() const { return heads * key_dim * value_dim; }
  /// Columns of the first matrix, split over the tensor group.
  [[nodiscard]] std::int64_t inputs() const;
  /// Columns of each of the two matrices that every tensor rank holds whole; 0: there are none.
  [[nodiscard]] std::int64_t low_rank() const {
    return kind == MixerKind::kimi_delta ? value_dim : 0;
  }
  /// Columns of both matrices that follow those.
  [[nodiscard]] std::int64_t low_rank_outputs() const {
    return kind == MixerKind::kimi_delta ? keys() + values() : 0;
  }
  /// What is made of the convolution's output, whole on every tensor rank: R + 2 N; 0: nothing.
  [[nodiscard]] std::int64_t selection() const {
    return kind == MixerKind::mamba1 ? step_rank + 2 * keys() : 0;
  }
  /// Elements that are activated before the scan.
  [[nodiscard]] std::int64_t activated() const {
    return kind == MixerKind::mamba1 ? values() : 2 * keys() + values();
  }
  /// Channels of the convolution that does so; 0: there is none.
  [[nodiscard]] std::int64_t channels() const { return convolution > 0 ? activated() : 0; }
};

/// Heads of keys: as many as of values where the mixer does not say; mamba1 has one, which every
/// tensor rank holds.
int key_heads(const MixerSpec& mixer);

/// @param tensor    ranks that divide the heads
/// @param sequence  tokens; a chunk has no more
MixerShape mixer_shape(const MixerSpec& mixer, int tensor, int sequence);

/// Weights of the matrices that a token is multiplied with.
double mixer_matrices(const MixerShape& shape, int hidden);

/// Parameters that are divided over tensor ranks (here: this rank's), and those that each holds
/// whole. Counted as Hugging Face and the flash-linear-attention library hold them:
///     mamba1       convolution V channels with bias; selection V (R + 2 N), steps R V with bias V;
///                  A V N, D V; norms R + 2 N
///     mamba2       convolution V + 2K channels with bias; A, D and dt bias H each; norm V
///     gated_delta  convolution 2K + V; A and dt bias H each; norm of one head
///     kimi_delta   convolutions 2K + V; A of H, dt bias K; norm of one head
///     lightning    norm V
double split_mixer_parameters(const MixerShape& shape, int hidden);
double whole_mixer_parameters(const MixerShape& shape, int hidden);

/// Floating-point operations of one token's scan, forward, with chunks of Q tokens, in which every
/// token meets every other (as attention is counted in full); G key heads, states H N P.
///     mamba1       9 V N: step and A, its exponential, step and x, that and B, the state's decay
///     and
///                  its sum, C and its sum
///     mamba2       2 Q (G N + H P) + 4 H N P
///     lightning    2 Q H (N + P) + 4 H N P
///     delta rules  H (Q (6 N + 4 P) + 6 N P + Q^2 / 3): k k', its triangular inverse, the two
///                  products of that with keys and values, the states' correction and update,
///                  q k' and what it weighs, the states' output
/// Sources: the papers of MixerSpec; state-spaces/mamba, issue 110 (its author's 9 V N);
/// flash-linear-attention, fla/ops/gated_delta_rule/chunk.py and
/// fla/ops/kda/chunk.py, 2025; state-spaces/mamba, mamba_ssm/ops/triton/ssd_combined.py, 2024.
double scan_flops(const MixerShape& shape);

/// The part of them that backward makes again, from what is kept: all but the products of the
/// output and the triangular inverse.
double remade_scan_flops(const MixerShape& shape);

}  // namespace headway::workload
