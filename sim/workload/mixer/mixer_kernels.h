// The kernels of a mixer between its first matrix and its last.
#pragma once

#include <vector>

#include "sim/core/kernel.h"
#include "sim/workload/blocks/kernels.h"
#include "sim/workload/mixer/mixer_shape.h"
#include "sim/workload/rank_shape.h"

namespace headway::workload {

/// The matrices of a mixer on one rank: `in` and `out` are split over the tensor group by columns
/// and rows; `down` is whole on each rank, `up` (two matrices in one) is split by columns; of
/// mamba1 `select` reads the convolution's output and is split by rows, `steps` is split by
/// columns. They are empty where the mixer has none.
struct MixerLinears {
  Linear in, down, up, select, steps, out;
};
MixerLinears mixer_linears(const RankShape& shape);

/// What the kernels between the matrices work on where context ranks have traded tokens for heads:
/// shared keys are copied where there are fewer than ranks. As it is without context parallelism.
MixerShape exchanged_mixer(const RankShape& shape);

/// Elements of a token that a context rank sends before its scan, as a whole array.
double exchanged_inputs(const RankShape& shape);

/// Between selection and scan: the norms of what was selected, where there are any.
std::vector<core::Kernel> selection_norms(const RankShape& shape, bool backward);

/// Convolution, norms of queries and keys, copies of shared ones, decays: all timed by their bytes.
/// A backward reads an array and two gradients where a forward reads and writes one.
std::vector<core::Kernel> before_scan(const RankShape& shape, bool backward);

/// The scan itself: `count` kernels of equal size, by the bytes that pass between them and by their
/// products. With e bytes an element, K and V key and value elements of a token (of all heads, D),
/// H heads, chunks of Q tokens and S = H N P / Q elements of states a token, forward:
///     mamba2       e (3V + 4K) + 8 G Q + (8 + 2e) S        5 kernels
///     gated_delta  e (7D + 6V + 2 H Q + 2S) + 8 H Q        5
///     kimi_delta   e (9D + 6V + 5 H Q + 2S) + 16 D         5
///     lightning    e (4K + 2V) + 12 S                      3
///     mamba1       e (5V + 2K): x, steps, z, B and C read, the output written without its gate and
///                  with it; backward e (8V + 2K) + 16K, where the gated output is made again
///                  (without norms) e V more; one kernel each
/// Backward of the others three times as much: what forward made is made again, and each array and
/// its gradient pass once more; its products are twice the forward's and remade_scan_flops. Counted
/// in state-spaces/mamba (ssd_combined.py, 2024), flash-linear-attention
/// (gated_delta_rule/chunk.py, kda/chunk.py, 2025) and lightning-attention (2024).
core::Kernel scan_kernel(const RankShape& shape, bool backward);

/// The norm of the mixer's output and its gate: 3 arrays forward, 5 backward; mamba1's scan does
/// so.
std::vector<core::Kernel> gated_norm(const RankShape& shape, bool backward);

/// Bytes a token that a mixer keeps for its backward beside the input of its first matrix.
///     outputs of the first matrices, what the scan reads (mamba2 makes it again), its output, the
///     projection's operand, and of the delta rules the triangular inverse (H Q; kimi_delta twice).
///     mamba1 keeps z, x, what was selected, its output and a state of fp32 pairs every 2,048
///     tokens; with norms, which its fused pass does not know, also the convolution's output, the
///     steps, the normed selection and the projection's operand. Source: state-spaces/mamba,
///     ops/selective_scan_interface.py (MambaInnerFn), 2024; transformers, modeling_jamba.py.
double kept_by_mixer(const RankShape& shape, double operand);

/// Bytes a token of gradients and states alive while a mixer runs backward.
double mixer_gradients(const RankShape& shape);

}  // namespace headway::workload
