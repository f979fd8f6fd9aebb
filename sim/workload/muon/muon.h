// The products that make Muon's updates orthogonal, and what tensor ranks exchange for them.
#pragma once

#include <vector>

#include "sim/core/kernel.h"
#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// The mode of a recipe's Muon, its default where nothing is said.
MuonTensorMode muon_mode(const TrainingSpec& training);

/// Matrices of a stage as Muon takes them, the costliest first; blockwise each part of one is a
/// matrix that nobody else has a part of.
std::vector<OwnedMatrices> muon_matrices(const std::vector<OwnedMatrices>& matrices,
                                         MuonTensorMode mode);

/// Newton-Schulz iterations of what a rank multiplies, g x n with a Gram matrix of g x g, in 16
/// bits:
///     A = X X', B = b A + c A A, X = a X + B X, five times: 5 (4 g^2 n + 2 g^3) FLOP each
/// g is the shorter side. Of a matrix that t tensor ranks divide, R x C in all, a rank multiplies
///     blockwise    its part
///     duplicated   R x C
///     distributed  g the side that is whole, which may be the longer one, n the divided side / t
/// Sources: K. Jordan et al., "Muon", 2024; Liu et al., "Muon is Scalable for LLM Training" (arXiv
/// 2502.16982), 2025; NVIDIA-NeMo/Emerging-Optimizers, newton_schulz_tp in
/// emerging_optimizers/orthogonalized_optimizers/muon_utils.py, commit a045ea1a, 2026.
double newton_schulz_flops(const OwnedMatrices& matrices, MuonTensorMode mode);

/// The kernels of all of them, beside the products a pass that reads fp32 momentum and writes the
/// normed start, and one that reads the result: 8 B an element; of gathered momentum (duplicated)
/// one more that joins the parts, 8 B an element of the whole matrix.
std::vector<core::Kernel> newton_schulz(const std::vector<OwnedMatrices>& matrices,
                                        MuonTensorMode mode);

/// Work space while the largest matrix is made orthogonal, one at a time after the last backward
/// [B]: at first its normed copy in fp32 and in 16 bits, 6 g n, in an iteration the old and the new
/// X, A and B in 16 bits, 4 (g n + g^2); of gathered momentum also the parts as they came and
/// joined, 8 an element.
double newton_schulz_bytes(const std::vector<OwnedMatrices>& matrices, MuonTensorMode mode);

/// The updates of the matrices that a rank owns, all products, and before them, with nothing beside
/// them, what tensor ranks send for each matrix that they divide: duplicated an all-gather of 4 R C
/// B (fp32 momentum), distributed all-reduces of 4 B (its norm) and five times of 2 g^2 (Gram
/// matrices in 16 bits).
void write_newton_schulz(BlockWriter& writer,
                         const std::vector<OwnedMatrices>& owned,
                         MuonTensorMode mode);

}  // namespace headway::workload
