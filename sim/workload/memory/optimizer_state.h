// Bytes that an optimizer keeps and moves for one parameter.
#pragma once

#include "sim/workload/spec.h"

namespace headway::workload {

/// fp32 copy of a weight that the optimizer updates [B].
inline constexpr double kMasterBytes = 4;

/// Moments of one parameter [B]: two in fp32 8, two in bf16 4, two in 8 bits with an fp32 scale for
/// each block of 256 values 2 + 8/256 (Dettmers et al., 8-bit Optimizers via Block-wise
/// Quantization, arXiv 2110.02861), one in fp32 4 (Muon: of its matrices, see owned_matrices.h).
/// Shampoo's are those of the Adam that it is grafted to, SOAP's lie in the eigenbasis; the factors
/// of both come on top (preconditioner/preconditioner.h).
double moment_bytes(OptimizerState state);

/// What the optimizer keeps beside the weights that are multiplied [B]: master weight and moments,
/// 12 with Adam in fp32; moments alone in full precision, where the weight itself is updated.
inline double optimizer_bytes(OptimizerState state, bool full_precision = false) {
  return (full_precision ? 0 : kMasterBytes) + moment_bytes(state);
}

/// Memory traffic of one update beside the gradient [B]: master weight and moments read and
/// written, the 16-bit weight written: 26 with Adam in fp32; in full precision weight and moments
/// read and written: 24.
inline double update_bytes(OptimizerState state, bool full_precision = false) {
  return 2 * (kMasterBytes + moment_bytes(state)) + (full_precision ? 0 : 2);
}

}  // namespace headway::workload
