// Shampoo and SOAP: the blocks that matrices are cut into, the factors of each, and the kernels
// that precondition an update.
#pragma once

#include <vector>

#include "sim/core/kernel.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// What the recipe says of it, or its defaults.
PreconditionerSpec preconditioner_of(const TrainingSpec& training);

/// Steps from one decomposition to the next. Sources: PreconditionerSpec.
int steps_between_decompositions(const TrainingSpec& training);

/// Matrices cut into blocks of at most `block` rows and columns, the last of a side smaller; equal
/// shapes together, the costliest first. Source: arXiv 2309.06497, section 3.2.
std::vector<OwnedMatrices> preconditioned_blocks(const std::vector<OwnedMatrices>& matrices,
                                                 int block);

/// Blocks of a stage's matrices that the busiest rank updates, each whole: they are owned as Muon's
/// matrices are.
std::vector<OwnedMatrices> busiest_blocks(const std::vector<OwnedMatrices>& matrices,
                                          const TrainingSpec& training,
                                          const ParallelismSpec& parallelism,
                                          const DataRanks& ranks);

/// fp32 factors of m x n blocks [B]: L (m x m) and R (n x n), and as much again of their inverse
/// roots (Shampoo) or eigenvectors (SOAP): 8 (m^2 + n^2), 16 B an element of a square block.
double factor_bytes(const std::vector<OwnedMatrices>& blocks);

/// The same a parameter of the model [B].
double mean_factor_bytes(const ModelSpec& model, const PreconditionerSpec& preconditioner);

/// What a step does with its blocks in fp32, m x n each:
///     statistics      L += G G', R += G' G                      2 m n (m + n) FLOP
///     Shampoo         L^(-1/4) G R^(-1/4)                       2 m n (m + n)
///     SOAP            Q_L' G Q_R and Q_L U Q_R' around Adam     4 m n (m + n)
/// and once in `every` steps, of each factor of side s:
///     Shampoo         eigenvalues and vectors 9 s^3, Q D Q'     2 s^3
///     SOAP            L Q_L 2 s^3, its QR with the vectors      8/3 s^3
/// and SOAP takes the first moment out of the old basis and into the new one, 4 m n (m + n). Passes
/// beside them: 12 B an element of a factor (its running mean), 16 B an element of a block (the
/// gradient in fp32; Shampoo: norms and the grafted update; SOAP: Adam between the rotations).
/// Sources: arXiv 2002.09018, 2309.06497 and 2409.11321 (algorithm 3, with both moments in the
/// eigenbasis as in nikhilvyas/SOAP, soap.py); Golub and Van Loan, Matrix Computations, 8.3 (9 n^3)
/// and 5.2 (QR).
std::vector<core::Kernel> preconditioner_kernels(const TrainingSpec& training,
                                                 const std::vector<OwnedMatrices>& blocks);

}  // namespace headway::workload
