// The matrices that an optimizer updates whole, and which of them a rank owns.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Matrices of one shape on a rank, which may have a part of each.
struct OwnedMatrices {
  std::int64_t rows = 0, columns = 0;  ///< of the rank's part
  std::int64_t count = 0;
  bool experts = false;                 ///< of routed experts, which fewer ranks share
  int row_parts = 1, column_parts = 1;  ///< tensor ranks that divide the rows, or the columns
  [[nodiscard]] int parts() const { return row_parts * column_parts; }
  [[nodiscard]] double elements() const {
    return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(count);
  }
  [[nodiscard]] bool same_shape(const OwnedMatrices& other) const {
    return rows == other.rows && columns == other.columns && experts == other.experts &&
           row_parts == other.row_parts && column_parts == other.column_parts;
  }
  bool operator==(const OwnedMatrices&) const = default;
};

/// Matrices of one layer as a rank holds them. Queries, their gates, keys and values are apart,
/// gate and up are one. Embeddings, output matrix, norms, biases and convolutions are none: Adam in
/// fp32 updates them. Source: NVIDIA/Megatron-LM, commit d98e8a64, layer_wise_optimizer.py
/// (is_managed_by_layer_wise_optimizer) and emerging_optimizers.py (muon_split_qkv,
/// _get_qkv_split_shapes), 2026.
std::vector<OwnedMatrices> layer_matrices(const ModelSpec& model,
                                          const ParallelismSpec& parallelism,
                                          const LayerKind& kind);

/// Of all layers of a stage, equal shapes together.
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

/// Share of so many parameters that are in these matrices; 0 of none.
double matrix_share(const std::vector<OwnedMatrices>& matrices, double parameters);
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

}  // namespace headway::workload
