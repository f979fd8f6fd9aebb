// What the operators of a mixture beside its products and exchanges move.
#pragma once

namespace headway::workload {

/// Bytes a score of choosing experts: fp32 scores are read and written by softmax, read by top-k
/// and by the balance loss, and leave probabilities and a map.
inline constexpr double kRoutingBytes = 24;

/// Bytes an element of the experts' outputs that their biases cost. The product adds biases of
/// columns on its way, but the rows' are weighted by each token's probability p, in kernels of
/// their own, of w bytes each: b p (w), x + b p (e + w + w), all experts joined (w + w), rounded
/// (w + e); backward: the gradient g widened (e + w), that of x rounded (w + e), joined (e + e),
/// g p and its sum for b (w + w + w), g b and its sum for p (w + w + w). In fp32 28 and 40 B.
/// Source: Megatron-LM, megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias, 2026.
/// @param e  bytes of an element
/// @param w  of one that a probability weights
double bias_forward(double e, double w);
double bias_backward(double e, double w);

/// Bytes that they handle in a cycle on a multiprocessor: of 28 B 14 are of products with a row and
/// sums of 16 bits into fp32, of 40 B 24 of products with a row or column and sums over them, which
/// handle 13.5, the rest are plain streams: together 0.77 of the speed of plain streams on H200.
/// Source: composed norms, which are of such operators, and mixed sums (elementwise.cpp,
/// elementwise.h).
inline constexpr double kBiasIssue = 19.6;

/// Bytes an element of e bytes that the operators of an unfused permutation move, of rows and of
/// tokens; probabilities make it w wide. One kernel instead of them reads e of one side and writes
/// e of the other.
///     unpermute      rows times probabilities (e + w), added to scattered rows (w + 2 w); their
///                    zeros (w) and the cast of the sum (w + e)
///     its gradient   the cast of the gradient (e + w); gathered (w + w), times probabilities
///                    (w + e), times saved rows and summed for the probabilities' (w + e + w + w)
///     of permute     gradients of rows added to scattered rows (e + 2 e) on zeros (e)
/// Source: Megatron-LM, megatron/core/transformer/moe/moe_utils.py, permute and unpermute without
/// moe_permute_fusion, 2024; topk_softmax_with_capacity: probabilities are as wide as the router's
/// input unless moe_router_dtype is set.
struct MovedBytes {
  double a_row = 0, a_token = 0;
  int kernels = 1;
  double scattered = 0;  ///< of those a row: added to rows that others are added to as well
};
MovedBytes unpermute_bytes(double e, double w);
MovedBytes unpermute_gradient_bytes(double e, double w);
MovedBytes permute_gradient_bytes(double e);

/// The same of sums over scattered rows: index_add of a mixture's steps with PyTorch 2.11, 0.15 of
/// the peak bandwidth of H200 and as long on H100 (calibrate/validate, measured.json of both).
inline constexpr double kScatteredIssue = 2.86;

}  // namespace headway::workload
