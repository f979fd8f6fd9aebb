#include "sim/workload/memory/owned_matrices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "sim/workload/attention/attention_heads.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/memory/optimizer_state.h"
#include "sim/workload/mixer/mixer_shape.h"
#include "sim/workload/native/native_sparse.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/preconditioner/preconditioner.h"

namespace headway::workload {

namespace {

/// Gathers matrices of one layer.
class MatrixList {
 public:
  explicit MatrixList(const ParallelismSpec& parallelism)
      : tensor_(parallelism.tensor), expert_tensor_(parallelism.expert_tensor) {}

  /// That each tensor rank holds whole.
  void add(std::int64_t rows, std::int64_t columns, std::int64_t count = 1) {
    add({rows, columns, count});
  }
  /// Whose rows, or whose columns, tensor ranks divide: sizes are those of a part.
  void add_rows(std::int64_t rows, std::int64_t columns, std::int64_t count = 1) {
    add({rows, columns, count, false, tensor_, 1});
  }
  void add_columns(std::int64_t rows, std::int64_t columns, std::int64_t count = 1) {
    add({rows, columns, count, false, 1, tensor_});
  }
  /// Likewise, by so many ranks alone, of which others hold copies.
  void add_rows_of(int parts, std::int64_t rows, std::int64_t columns, std::int64_t count) {
    add({rows, columns, count, false, parts, 1});
  }
  /// Of experts: into their width, and out of it.
  void add_experts(std::int64_t inputs, std::int64_t width, std::int64_t gates, std::int64_t held) {
    add({gates * width, inputs, held, true, expert_tensor_, 1});
    add({inputs, width, held, true, 1, expert_tensor_});
  }
  std::vector<OwnedMatrices> take() { return std::move(list_); }

 private:
  void add(const OwnedMatrices& one) {
    if (one.rows > 0 && one.columns > 0 && one.count > 0) {
      list_.push_back(one);
    }
  }
  int tensor_, expert_tensor_;
  std::vector<OwnedMatrices> list_;
};

void add_latent(MatrixList& list, const ModelSpec& model, int t, bool indexer) {
  const LatentAttentionSpec& latent = *model.latent;
  const std::int64_t h = model.hidden;
  const std::int64_t heads = model.heads / t;
  const std::int64_t query = heads * (latent.no_rope_dim + latent.rope_dim);
  list.add(latent.query_rank, h);
  list.add_rows(query, latent.query_rank > 0 ? latent.query_rank : h);
  list.add(latent.key_value_rank + latent.rope_dim, h);
  list.add_rows(heads * (latent.no_rope_dim + latent.value_dim), latent.key_value_rank);
  list.add_columns(h, heads * latent.value_dim);
  if (model.sparse && indexer) {
    list.add(std::int64_t{model.sparse->index_heads} * model.sparse->index_dim, latent.query_rank);
    list.add(model.sparse->index_dim, h);
    list.add(model.sparse->index_heads, h);
  }
}

void add_native(MatrixList& list, const ModelSpec& model, int t) {
  const NativeSparseSpec& native = *model.native_sparse;
  const std::int64_t h = model.hidden;
  const std::int64_t heads = model.heads / t;
  const std::int64_t groups = model.key_value_heads / t;
  const std::int64_t values = native_value_dim(native, model.head_dim);
  list.add_rows(heads * model.head_dim, h);
  list.add_rows(groups * model.head_dim, h, kNativeBranches);
  list.add_rows(groups * values, h, kNativeBranches);
  list.add_rows(kNativeBranches * heads, h);
  list.add_columns(h, heads * values);
  for (const std::int64_t width : {std::int64_t{model.head_dim}, values}) {
    list.add(width, native.compressed_block * width, groups);
    list.add(width, width, groups);
  }
}

void add_attention(MatrixList& list, const ModelSpec& model, int t, const LayerKind& kind) {
  if (model.latent) {
    add_latent(list, model, t, !kind.reuses);
    return;
  }
  if (model.native_sparse) {
    add_native(list, model, t);
    return;
  }
  const std::int64_t h = model.hidden;
  const AttentionHeads heads = attention_heads(model, kind);
  const std::int64_t query = std::int64_t{heads.query / t} * heads.dim;
  const std::int64_t groups = std::max(1, heads.key_value / t);
  list.add_rows(query, h, model.attention_gate ? 2 : 1);
  const int parts = std::min(t, heads.key_value);
  const bool alike = heads.value_dim == heads.dim;
  list.add_rows_of(parts, groups * heads.dim, h, alike ? heads.projections : 1);
  list.add_rows_of(parts, groups * heads.value_dim, h, alike ? 0 : heads.projections - 1);
  list.add_columns(h, std::int64_t{heads.query / t} * heads.value_dim);
}

void add_mixer(MatrixList& list, const ModelSpec& model, int t) {
  const MixerShape mixer = mixer_shape(*model.mixer, t, model.mixer->chunk);
  list.add_rows(mixer.inputs(), model.hidden);
  list.add_columns(model.hidden, mixer.values());
  if (mixer.low_rank() > 0) {
    list.add(mixer.low_rank(), model.hidden, 2);
    list.add_rows(mixer.keys(), mixer.low_rank());
    list.add_rows(mixer.values(), mixer.low_rank());
  }
  if (mixer.selection() > 0) {
    list.add_columns(mixer.selection(), mixer.values());
    list.add_rows(mixer.values(), mixer.step_rank);
  }
}

void add_mixture(MatrixList& list, const ModelSpec& model, const ParallelismSpec& parallelism) {
  const ExpertsSpec& moe = *model.moe;
  const std::int64_t h = model.hidden;
  const std::int64_t gates = model.gated_mlp ? 2 : 1;
  const std::int64_t width = moe.ffn / parallelism.expert_tensor;
  const std::int64_t held = moe.experts / parallelism.expert;
  const std::int64_t inputs = routed_width(model);
  list.add_experts(inputs, width, gates, held);
  list.add(scored_experts(moe), h);
  list.add(moe.latent, h);
  list.add(h, moe.latent);
  const std::int64_t shared = std::int64_t{moe.shared_experts} * moe.ffn / parallelism.tensor;
  list.add_rows(gates * shared, h);
  list.add_columns(h, shared);
}

}  // namespace

std::vector<OwnedMatrices> layer_matrices(const ModelSpec& model,
                                          const ParallelismSpec& parallelism,
                                          const LayerKind& kind) {
  const int t = parallelism.tensor;
  MatrixList list(parallelism);
  if (kind.attends()) {
    add_attention(list, model, t, kind);
  }
  if (kind.mixes() && model.mixer) {
    add_mixer(list, model, t);
  }
  if (kind.experts && model.moe) {
    add_mixture(list, model, parallelism);
  } else if (kind.mlp) {
    list.add_rows((model.gated_mlp ? 2 : 1) * std::int64_t{model.ffn / t}, model.hidden);
    list.add_columns(model.hidden, model.ffn / t);
  }
  return list.take();
}

std::vector<OwnedMatrices> stage_matrices(const ModelSpec& model,
                                          const ParallelismSpec& parallelism,
                                          const StageLayout& layout,
                                          int stage) {
  // Experts, rows, columns, who divides rows, who divides columns.
  std::map<std::tuple<bool, std::int64_t, std::int64_t, int, int>, std::int64_t> found;
  const int t = parallelism.tensor;
  const auto add = [&](const LayerKind& kind, int layers) {
    for (const OwnedMatrices& one : layer_matrices(model, parallelism, kind)) {
      found[{one.experts, one.rows, one.columns, one.row_parts, one.column_parts}] +=
          layers * one.count;
    }
  };
  for (int c = 0; c < layout.chunks(); ++c) {
    const ChunkLayout& chunk = layout.at(stage, c);
    for (const LayerRun& run : layer_runs(model, parallelism, chunk.first_layer, chunk.layers)) {
      add(run.kind, run.layers);
    }
    if (chunk.head && model.multi_token_prediction > 0) {
      add(prediction_kind(model, parallelism), model.multi_token_prediction);
      found[{false, model.hidden / t, 2 * std::int64_t{model.hidden}, t, 1}] +=
          model.multi_token_prediction;
    }
  }
  std::vector<OwnedMatrices> matrices;
  for (const auto& [shape, count] : found) {
    const auto& [experts, rows, columns, row_parts, column_parts] = shape;
    matrices.push_back({rows, columns, count, experts, row_parts, column_parts});
  }
  return matrices;
}

std::int64_t stage_weights(const ModelSpec& model,
                           const ParallelismSpec& parallelism,
                           const StageLayout& layout,
                           int stage) {
  std::int64_t weights = 0;
  for (const OwnedMatrices& one : stage_matrices(model, parallelism, layout, stage)) {
    weights += one.count;
  }
  for (int c = 0; c < layout.chunks(); ++c) {
    const ChunkLayout& chunk = layout.at(stage, c);
    weights += 2 * chunk.layers + (chunk.embedding ? 1 : 0) + (chunk.head ? 2 : 0);
  }
  return weights;
}

double matrix_elements(const std::vector<OwnedMatrices>& matrices) {
  double sum = 0;
  for (const OwnedMatrices& one : matrices) {
    sum += one.elements();
  }
  return sum;
}

double matrix_share(const std::vector<OwnedMatrices>& matrices, double parameters) {
  return parameters > 0 ? std::min(1.0, matrix_elements(matrices) / parameters) : 0;
}

double matrix_share(const ModelSpec& model) {
  const ParallelismSpec whole;
  if (model.layers == 0 || model.hidden == 0 || model.vision) {
    return 0;  // of a launch file that says no more; beside an encoder, which is refused
  }
  const ParameterCount count = count_parameters(model);
  return matrix_share(stage_matrices(model, whole, StageLayout(model, whole), 0),
                      count.total() + count.prediction);
}

double mean_optimizer_bytes(const ModelSpec& model, const TrainingSpec& training) {
  const OptimizerState state = training.optimizer_state;
  double others = 0;
  if (state == OptimizerState::muon) {
    others =
        (1 - matrix_share(model)) * (moment_bytes(OptimizerState::adam_fp32) - moment_bytes(state));
  } else if (preconditions(state)) {
    others = mean_factor_bytes(model, preconditioner_of(training));
  }
  return optimizer_bytes(state, full_precision(training.precision)) +
         std::round(100 * others) / 100;
}

std::vector<OwnedMatrices> busiest_share(const std::vector<OwnedMatrices>& matrices,
                                         int ranks,
                                         int expert_ranks) {
  std::vector<OwnedMatrices> owned;
  std::array<std::int64_t, 2> left{};  // matrices beside whole shares: of all, of experts
  std::array<bool, 2> placed{};
  for (const OwnedMatrices& one : matrices) {
    left[one.experts ? 1 : 0] += one.count % (one.experts ? expert_ranks : ranks);
  }
  for (OwnedMatrices one : matrices) {
    const int by = one.experts ? expert_ranks : ranks;
    const std::size_t kind = one.experts ? 1 : 0;
    const bool remains = one.count % by > 0 && !placed[kind];
    one.count /= by;
    if (remains) {  // the costliest shape with a rest stands for all rests
      one.count += (left[kind] + by - 1) / by;
      placed[kind] = true;
    }
    if (one.count > 0) {
      owned.push_back(one);
    }
  }
  return owned;
}

std::vector<OwnedMatrices> busiest_share(const std::vector<OwnedMatrices>& matrices,
                                         const ParallelismSpec& parallelism,
                                         const DataRanks& ranks) {
  const bool owned = parallelism.sharding != Sharding::zero0;
  return busiest_share(matrices, owned ? ranks.shards : 1, owned ? ranks.expert_shards : 1);
}

}  // namespace headway::workload
