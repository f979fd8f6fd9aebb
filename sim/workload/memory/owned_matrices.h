// The matrices that an optimizer updates whole, which of them a rank owns, and the products that
// make Muon's updates orthogonal.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/kernel.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Matrices of one shape on a rank.
struct OwnedMatrices {
  std::int64_t rows = 0, columns = 0;
  std::int64_t count = 0;
  bool experts = false;  ///< of routed experts, which fewer ranks share
  [[nodiscard]] double elements() const {
    return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(count);
  }
  bool operator==(const OwnedMatrices&) const = default;
};

/// Matrices of one layer as a rank holds them: a tensor rank's part of a matrix is a matrix of its
/// own. Queries, keys and values are apart, gate and up are one. Embeddings, output matrix, norms,
/// biases and convolutions are none: Adam in fp32 updates them. Source: Megatron-Core,
/// layer_wise_optimizer.py (is_managed_by_layer_wise_optimizer) and the defaults of its options
/// muon_tp_mode (blockwise) and muon_split_qkv, 2026.
std::vector<OwnedMatrices> layer_matrices(const ModelSpec& model,
                                          const ParallelismSpec& parallelism,
                                          const LayerKind& kind);

/// Of all layers of a stage, equal shapes together, the costliest first.
std::vector<OwnedMatrices> stage_matrices(const ModelSpec& model,
                                          const ParallelismSpec& parallelism,
                                          const StageLayout& layout,
                                          int stage);

/// Tensors of weights that a rank of a stage holds: its matrices, two norms a layer, the embedding,
/// the output matrix and the last norm.
std::int64_t stage_weights(const ModelSpec& model,
                           const ParallelismSpec& parallelism,
                           const StageLayout& layout,
                           int stage);

/// Elements of all of them.
double matrix_elements(const std::vector<OwnedMatrices>& matrices);

/// Share of a model's parameters that are in matrices.
double matrix_share(const ModelSpec& model);

/// What a checkpoint holds of a parameter beside its weight [B]: optimizer_bytes, with Muon the
/// mean over matrices and what Adam updates, with Shampoo and SOAP the factors too, to a hundredth.
double mean_optimizer_bytes(const ModelSpec& model, const TrainingSpec& training);

/// What the busiest rank updates where `ranks` share the matrices and `expert_ranks` those of
/// experts, each matrix whole on one of them: of each shape the whole part of its share; and of
/// what is left over, one matrix a rank, the costliest first.
std::vector<OwnedMatrices> busiest_share(const std::vector<OwnedMatrices>& matrices,
                                         int ranks,
                                         int expert_ranks);
/// The same of the data ranks of a stage; without sharding every rank updates all.
std::vector<OwnedMatrices> busiest_share(const std::vector<OwnedMatrices>& matrices,
                                         const ParallelismSpec& parallelism,
                                         const DataRanks& ranks);

/// Newton-Schulz iterations of m x n matrices (m the shorter side), in 16 bits:
///     A = X X', B = b A + c A A, X = a X + B X, five times: 5 (4 m^2 n + 2 m^3) FLOP each
/// and a pass that reads fp32 momentum and writes the normed start, and one that reads the result.
/// Source: K. Jordan et al., "Muon", 2024; Liu et al., "Muon is Scalable for LLM Training" (arXiv
/// 2502.16982), 2025.
std::vector<core::Kernel> newton_schulz(const std::vector<OwnedMatrices>& matrices);
double newton_schulz_flops(const OwnedMatrices& matrices);

}  // namespace headway::workload
