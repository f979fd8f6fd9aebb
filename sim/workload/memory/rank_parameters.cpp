#include "sim/workload/memory/rank_parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/workload/attention/attention_heads.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/constants.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/mixer/mixer_shape.h"
#include "sim/workload/native/native_sparse.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/vision/encoder.h"

namespace headway::workload {

namespace {

/// Parameters of a bucket of gradients: the larger of the first and of the second x data-parallel
/// ranks. Source: Megatron-LM, megatron/core/distributed/distributed_data_parallel.py, default of
/// bucket_size.
constexpr double kSmallestBucket = 40e6;
constexpr double kBucketPerReplica = 1e6;

double table_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const int rows = (model.vocabulary + parallelism.tensor - 1) / parallelism.tensor;
  return static_cast<double>(rows) * model.hidden;
}

/// Matrices of attention that are split over the tensor group, and the biases of columns.
double attention_per_rank(const ModelSpec& model, const LayerKind& kind, int tensor) {
  const double h = model.hidden;
  if (model.latent) {
    const LatentAttentionSpec& latent = *model.latent;
    const double heads = static_cast<double>(model.heads) / tensor;
    const double query_inputs = latent.query_rank > 0 ? latent.query_rank : h;
    return heads *
           (query_inputs * (latent.no_rope_dim + latent.rope_dim) +
            static_cast<double>(latent.key_value_rank) * (latent.no_rope_dim + latent.value_dim) +
            latent.value_dim * h);
  }
  if (model.native_sparse) {
    const int values = native_value_dim(*model.native_sparse, model.head_dim);
    const double whole =
        h * (static_cast<double>(
                 native_columns(model.heads, model.key_value_heads, model.head_dim, values)) +
             static_cast<double>(model.heads) * values) +
        model.key_value_heads * compression_parameters(*model.native_sparse, model.head_dim);
    return whole / tensor;  // heads of keys divide
  }
  const AttentionHeads heads = attention_heads(model, kind);
  const double queries = static_cast<double>(heads.query) / tensor;
  // Key and value heads fewer than ranks are copied, not split.
  const double groups = std::max(1.0, static_cast<double>(heads.key_value) / tensor);
  const double columns =
      (model.attention_gate ? 2.0 : 1.0) * queries * heads.dim + groups * heads.pair_width();
  return h * (columns + queries * heads.value_dim) + (model.biases ? columns : 0.0);
}

/// An MLP of `width` columns between `inputs` wide rows on this rank, and the biases of its
/// columns.
double mlp_per_rank(const ModelSpec& model, double width, double inputs, bool biases) {
  const double columns = (model.gated_mlp ? 2.0 : 1.0) * width;
  return inputs * (columns + width) + (biases ? columns : 0.0);
}

RankParameters mixture_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const ExpertsSpec& moe = *model.moe;
  const double width = static_cast<double>(moe.ffn) / parallelism.expert_tensor;
  const double held = static_cast<double>(moe.experts) / parallelism.expert;
  const double shared = static_cast<double>(moe.shared_experts) * moe.ffn / parallelism.tensor;
  // Row biases of routed experts are whole on each of an expert's ranks.
  const bool biases = expert_biases(model);
  const double inputs = routed_width(model);
  const double row_bias = biases ? inputs : 0.0;
  return {shared > 0 ? mlp_per_rank(model, shared, model.hidden, biases) : 0.0,
          held * (mlp_per_rank(model, width, inputs, biases) + row_bias)};
}

}  // namespace

double replicated_parameters(const ModelSpec& model, const LayerKind& kind) {
  double whole = model.norms * norm_parameters(model) * kind.halves() / 2.0;
  if (model.biases) {
    whole += static_cast<double>((kind.attends() ? 1 : 0) + (kind.mlp && !kind.experts ? 1 : 0)) *
             model.hidden;
  }
  if (kind.mixes()) {
    whole += whole_mixer_parameters(mixer_shape(*model.mixer, 1, model.mixer->chunk), model.hidden);
  }
  if (kind.experts) {
    const int shared_rows = expert_biases(model) ? model.moe->shared_experts : 0;
    const int latent = model.moe->latent;
    whole += static_cast<double>(model.hidden) *
             (shared_rows + scored_experts(*model.moe) + 2.0 * latent);
    whole += model.biases && latent > 0 ? static_cast<double>(model.hidden) + latent : 0.0;
  }
  if (model.latent && kind.attends()) {
    const double ranks = model.latent->query_rank + model.latent->key_value_rank;
    whole += model.hidden * (ranks + model.latent->rope_dim) + ranks;  // matrices and norms
    if (model.sparse && !kind.reuses) {
      const SparseAttentionSpec& sparse = *model.sparse;
      whole +=
          static_cast<double>(model.latent->query_rank) * sparse.index_heads * sparse.index_dim +
          static_cast<double>(model.hidden) * (sparse.index_heads + sparse.index_dim) +
          2.0 * sparse.index_dim;
    }
  }
  return whole;
}

RankParameters layer_parameters_per_rank(const ModelSpec& model,
                                         const ParallelismSpec& parallelism,
                                         const LayerKind& kind) {
  const int t = parallelism.tensor;
  const double attention = kind.attends() ? attention_per_rank(model, kind, t) : 0.0;
  RankParameters layer{attention + replicated_parameters(model, kind), 0};
  if (kind.mixes()) {
    layer.shared +=
        split_mixer_parameters(mixer_shape(*model.mixer, t, model.mixer->chunk), model.hidden);
  }
  if (kind.experts) {
    layer += mixture_per_rank(model, parallelism);
  } else if (kind.mlp) {
    layer.shared +=
        mlp_per_rank(model, static_cast<double>(model.ffn) / t, model.hidden, model.biases);
  }
  return layer;
}

double embedding_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism) {
  return table_per_rank(model, parallelism) +
         static_cast<double>(model.learned_positions) * model.hidden;
}

double head_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const bool shared = model.tied_embeddings && ends_share_stage(model, parallelism);
  return norm_parameters(model) + (shared ? 0.0 : table_per_rank(model, parallelism));
}

RankParameters prediction_parameters_per_rank(const ModelSpec& model,
                                              const ParallelismSpec& parallelism) {
  if (model.multi_token_prediction == 0) {
    return {};
  }
  RankParameters module =
      layer_parameters_per_rank(model, parallelism, prediction_kind(model, parallelism));
  const double h = model.hidden;
  module.shared += 2.0 * h * h / parallelism.tensor + 3.0 * norm_parameters(model);
  RankParameters all = model.multi_token_prediction * module;
  all.shared += ends_share_stage(model, parallelism) ? 0.0 : table_per_rank(model, parallelism);
  return all;
}

RankParameters chunk_parameters_per_rank(const ModelSpec& model,
                                         const ParallelismSpec& parallelism,
                                         const ChunkLayout& chunk) {
  RankParameters sum;
  for (const LayerRun& run : layer_runs(model, parallelism, chunk.first_layer, chunk.layers)) {
    sum += run.layers * layer_parameters_per_rank(model, parallelism, run.kind);
  }
  if (chunk.embedding) {
    sum.shared += embedding_parameters_per_rank(model, parallelism);
  }
  if (chunk.encoder) {
    sum += held_by_encoder(model, parallelism).stored;
  }
  if (chunk.head) {
    sum.shared += head_parameters_per_rank(model, parallelism);
    sum += prediction_parameters_per_rank(model, parallelism);
  }
  return sum;
}

RankParameters stage_parameters_per_rank(const ModelSpec& model,
                                         const ParallelismSpec& parallelism,
                                         const StageLayout& layout,
                                         int stage) {
  RankParameters sum;
  for (int chunk = 0; chunk < layout.chunks(); ++chunk) {
    sum += chunk_parameters_per_rank(model, parallelism, layout.at(stage, chunk));
  }
  return sum;
}

int Bucket::layers() const {
  int sum = 0;
  for (const LayerRun& run : runs) {
    sum += run.layers;
  }
  return sum;
}

bool shards_gradients(Sharding sharding) {
  return sharding == Sharding::zero2 || shards_weights(sharding);
}

bool shards_weights(Sharding sharding) {
  return sharding == Sharding::zero3 || sharding == Sharding::hsdp;
}

bool gathers_once(const FrameworkSpec& framework, const ParallelismSpec& parallelism) {
  return framework.gather_once && parallelism.pipeline > 1 && shards_weights(parallelism.sharding);
}

bool reduces_beside_backward(const FrameworkSpec& framework, const ParallelismSpec& parallelism) {
  return framework.data_overlap &&
         (framework.scatter_overlap || parallelism.sharding != Sharding::zero1);
}

bool reduces_every_micro_batch(const FrameworkSpec& framework, const ParallelismSpec& parallelism) {
  return shards_gradients(parallelism.sharding) && !gathers_once(framework, parallelism);
}

double bucket_parameters(const TrainingSpec& training,
                         const ParallelismSpec& parallelism,
                         int data_parallel) {
  if (shards_weights(parallelism.sharding)) {
    return 0;
  }
  const auto& stated = training.framework.gradient_bucket;
  return stated ? stated->si() / element_bytes(training.precision)
                : std::max(kSmallestBucket, kBucketPerReplica * data_parallel);
}

namespace {

/// The parts of an encoder, the last first, as backward meets them.
void add_encoder(const ModelSpec& model,
                 const ParallelismSpec& parallelism,
                 double size,
                 std::vector<Bucket>& buckets) {
  const std::vector<EncoderRun> runs = encoder_runs(model, parallelism);
  bool open = false;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const HeldParameters held = held_by_part(model, parallelism, *run);
    const bool trains = held.trained.total() > 0;
    for (int i = 0; i < run->count; ++i) {
      if (!open || trains != (buckets.back().trained.total() > 0)) {
        buckets.emplace_back();
      }
      Bucket& bucket = buckets.back();
      EncoderRun one = *run;
      one.count = 1;
      const bool joins = !bucket.encoder.empty() && bucket.encoder.front().part == one.part &&
                         bucket.encoder.front().kind == one.kind;
      if (joins) {
        ++bucket.encoder.front().count;
      } else {
        bucket.encoder.insert(bucket.encoder.begin(), one);
      }
      bucket.parameters += held.stored;
      bucket.trained += held.trained;
      open = bucket.trained.total() < size;
    }
  }
}

}  // namespace

std::vector<Bucket> chunk_buckets(const ModelSpec& model,
                                  const TrainingSpec& training,
                                  const ParallelismSpec& parallelism,
                                  const ChunkLayout& chunk,
                                  int data_parallel) {
  const double size = bucket_parameters(training, parallelism, data_parallel);
  std::vector<Bucket> buckets;
  buckets.reserve(static_cast<std::size_t>(chunk.layers) + 2);
  if (chunk.head) {
    const HeldParameters held = held_by_head(model, parallelism);
    buckets.push_back({{}, {}, true, false, held.stored, held.trained});
  }
  bool open = false;
  std::optional<LayerKind> before;
  HeldParameters held;
  for (int layer = chunk.first_layer + chunk.layers - 1; layer >= chunk.first_layer; --layer) {
    const LayerKind kind = layer_kind(model, parallelism, layer);
    if (before != kind) {
      held = held_by_layer(model, parallelism, kind);
      before = kind;
    }
    const bool trains = held.trained.total() > 0;
    if (!open || trains != (buckets.back().trained.total() > 0)) {
      buckets.emplace_back();
    }
    Bucket& bucket = buckets.back();
    // Backward meets the layers from the last on.
    if (!bucket.runs.empty() && bucket.runs.front().kind == kind) {
      ++bucket.runs.front().layers;
    } else {
      bucket.runs.insert(bucket.runs.begin(), {kind, 1});
    }
    bucket.parameters += held.stored;
    bucket.trained += held.trained;
    open = bucket.trained.total() < size;
  }
  if (chunk.embedding) {
    const HeldParameters table = held_by_embedding(model, parallelism);
    buckets.push_back({{}, {}, false, true, table.stored, table.trained});
  }
  if (chunk.encoder) {
    add_encoder(model, parallelism, size, buckets);
  }
  return buckets;
}

DataRanks data_ranks(const ParallelismSpec& parallelism, int data_parallel) {
  const int shared = data_parallel * parallelism.context * copies_of_layers(parallelism);
  const int experts = expert_data_ranks(parallelism, data_parallel);
  const bool grouped = parallelism.sharding == Sharding::hsdp;
  return {shared, experts, grouped ? parallelism.shard_group_size : shared,
          grouped ? expert_shard_ranks(parallelism) : experts};
}

int expert_data_ranks(const ParallelismSpec& parallelism, int data_parallel) {
  return parallelism.tensor * parallelism.context * data_parallel /
         (parallelism.expert * parallelism.expert_tensor) * copies_of_layers(parallelism);
}

int expert_shard_ranks(const ParallelismSpec& parallelism) {
  return parallelism.tensor * parallelism.shard_group_size /
         (parallelism.expert * parallelism.expert_tensor);
}

std::vector<core::ModelConstant> bucket_constants() {
  constexpr const char* kSource =
      "Megatron-LM, megatron/core/distributed/distributed_data_parallel.py, default of bucket_size";
  return {{"workload.smallest_bucket", kSmallestBucket, "parameters", 0, kSource},
          {"workload.bucket_per_replica", kBucketPerReplica, "parameters", 0, kSource}};
}

}  // namespace headway::workload
