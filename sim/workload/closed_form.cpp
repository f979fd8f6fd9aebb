#include "sim/workload/closed_form.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/workload/attention/attention_heads.h"
#include "sim/workload/attention/ring_blocks.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/mixer/mixer_shape.h"
#include "sim/workload/native/native_sparse.h"
#include "sim/workload/trained/adapter_shape.h"
#include "sim/workload/vision/encoder.h"

namespace headway::workload {

namespace {

using core::Flops;

/// Matrices of an MLP of `ffn` columns between `inputs` wide rows, without biases.
double mlp_matrices(const ModelSpec& model, double ffn, double inputs) {
  return (model.gated_mlp ? 3.0 : 2.0) * inputs * ffn;
}

double mlp_parameters(const ModelSpec& model, double ffn, double inputs, bool biases) {
  const double rows = (model.gated_mlp ? 2.0 : 1.0) * ffn + inputs;
  return mlp_matrices(model, ffn, inputs) + (biases ? rows : 0.0);
}

/// Weights of the indexer of sparse attention, where a layer has one.
double index_matrices(const ModelSpec& model, const LayerKind& kind) {
  if (!model.sparse || !model.latent || kind.reuses) {
    return 0;
  }
  const SparseAttentionSpec& sparse = *model.sparse;
  const double queries = static_cast<double>(sparse.index_heads) * sparse.index_dim;
  return model.latent->query_rank * queries +
         static_cast<double>(model.hidden) * (sparse.index_dim + sparse.index_heads);
}

/// Weights of the attention matrices, without biases and without the norms of latent attention.
double attention_matrices(const ModelSpec& model, const LayerKind& kind) {
  const double h = model.hidden;
  const double a = model.heads;
  if (model.native_sparse) {
    const int values = native_value_dim(*model.native_sparse, model.head_dim);
    return h * static_cast<double>(
                   native_columns(model.heads, model.key_value_heads, model.head_dim, values)) +
           a * values * h;
  }
  if (!model.latent) {
    const AttentionHeads heads = attention_heads(model, kind);
    const double gate = model.attention_gate ? a : 0.0;
    return h *
           (heads.dim * (a + gate) + heads.key_value * heads.pair_width() + heads.value_dim * a);
  }
  const LatentAttentionSpec& latent = *model.latent;
  const double query_width = a * (latent.no_rope_dim + latent.rope_dim);
  const double query =
      latent.query_rank > 0 ? latent.query_rank * (h + query_width) : h * query_width;
  const double key_value = h * (latent.key_value_rank + latent.rope_dim) +
                           latent.key_value_rank * a * (latent.no_rope_dim + latent.value_dim);
  return query + key_value + a * latent.value_dim * h + index_matrices(model, kind);
}

double attention_parameters(const ModelSpec& model, const LayerKind& kind) {
  double total = attention_matrices(model, kind);
  if (model.biases) {
    const AttentionHeads heads = attention_heads(model, kind);
    const double gate = model.attention_gate ? model.heads : 0.0;
    total += (heads.query + gate) * heads.dim + heads.key_value * heads.pair_width() + model.hidden;
  }
  if (model.latent) {
    total += model.latent->query_rank + model.latent->key_value_rank;
  }
  if (model.sparse && !kind.reuses) {
    total += 2.0 * model.sparse->index_dim;  // the norm of its keys, with bias
  }
  if (model.native_sparse) {
    total += model.key_value_heads * compression_parameters(*model.native_sparse, model.head_dim);
  }
  return total;
}

/// A mixer, whole; of sequences as long as a chunk at least, where the length matters.
MixerShape whole_mixer(const ModelSpec& model, int sequence_length) {
  return mixer_shape(*model.mixer, 1, sequence_length);
}
MixerShape whole_mixer(const ModelSpec& model) { return whole_mixer(model, model.mixer->chunk); }

double mixer_parameters(const ModelSpec& model) {
  const MixerShape mixer = whole_mixer(model);
  return split_mixer_parameters(mixer, model.hidden) + whole_mixer_parameters(mixer, model.hidden);
}

/// Matrices of a layer's first half.
double mixing_matrices(const ModelSpec& model, const LayerKind& kind) {
  return (kind.attends() ? attention_matrices(model, kind) : 0.0) +
         (kind.mixes() ? mixer_matrices(whole_mixer(model), model.hidden) : 0.0);
}

/// FLOPs of a token in the compression of native sparse attention, whose matrices meet blocks and
/// not tokens.
double compression_work(const ModelSpec& model, const LayerKind& kind, int length) {
  return model.native_sparse && kind.attends()
             ? model.key_value_heads *
                   compression_flops(*model.native_sparse, model.head_dim, length)
             : 0.0;
}

/// Matrices that one token meets in the MLP of a layer.
double active_mlp_matrices(const ModelSpec& model, bool experts) {
  if (!experts) {
    return mlp_matrices(model, model.ffn, model.hidden);
  }
  const ExpertsSpec& moe = *model.moe;
  // What a capacity below the mean drops for certain is not computed.
  const double kept = moe.capacity_factor > 0 ? std::min(1.0, moe.capacity_factor) : 1.0;
  return visited_experts(moe) * kept * mlp_matrices(model, moe.ffn, routed_width(model)) +
         moe.shared_experts * mlp_matrices(model, moe.ffn, model.hidden) +
         static_cast<double>(model.hidden) * (scored_experts(moe) + 2.0 * moe.latent);
}

/// Width over which one key costs 2 FLOP for its score and 2 for its value, over all heads.
double core_width(const ModelSpec& model, const LayerKind& kind) {
  if (model.sparse && model.latent) {  // over the compressed form
    return model.heads * (2.0 * model.latent->key_value_rank + model.latent->rope_dim);
  }
  if (model.latent) {
    return model.heads *
           (model.latent->no_rope_dim + model.latent->rope_dim + model.latent->value_dim);
  }
  if (model.native_sparse) {
    return static_cast<double>(model.heads) *
           (model.head_dim + native_value_dim(*model.native_sparse, model.head_dim));
  }
  const AttentionHeads heads = attention_heads(model, kind);
  return static_cast<double>(heads.query) * (heads.dim + heads.value_dim);
}

/// The same of the indexer, which scores every key and weighs none.
double index_width(const ModelSpec& model, const LayerKind& kind) {
  return model.sparse && !kind.reuses
             ? static_cast<double>(model.sparse->index_heads) * model.sparse->index_dim
             : 0.0;
}

}  // namespace

double norm_parameters(const ModelSpec& model) { return (model.biases ? 2.0 : 1.0) * model.hidden; }

LayerCount layer_count(const ModelSpec& model) {
  LayerCount count;
  for (const LayerRun& run : layer_runs(model, {}, 0, model.layers)) {
    (!run.kind.mlp ? count.without : run.kind.experts ? count.experts : count.dense) += run.layers;
  }
  return count;
}

LayerParameters layer_parameters(const ModelSpec& model, const LayerKind& kind) {
  LayerParameters layer;
  layer.attention = kind.attends() ? attention_parameters(model, kind) : 0.0;
  layer.mixer = kind.mixes() ? mixer_parameters(model) : 0.0;
  layer.norms = model.norms * norm_parameters(model) * kind.halves() / 2.0;
  if (kind.experts) {
    HEADWAY_CHECK(model.moe.has_value(), "model {} has no experts", model.name);
    const ExpertsSpec& moe = *model.moe;
    const double h = model.hidden;
    const bool biases = expert_biases(model);
    layer.mlp = moe.shared_experts * mlp_parameters(model, moe.ffn, h, biases);
    layer.routed_experts =
        moe.experts * mlp_parameters(model, moe.ffn, routed_width(model), biases);
    layer.router = h * scored_experts(moe);
    layer.latent = 2.0 * h * moe.latent;
    layer.latent += model.biases && moe.latent > 0 ? h + moe.latent : 0.0;
  } else if (kind.mlp) {
    layer.mlp = mlp_parameters(model, model.ffn, model.hidden, model.biases);
  }
  return layer;
}

ParameterCount count_parameters(const ModelSpec& model) {
  ParameterCount count;
  double routed = 0;
  for (const LayerRun& run : layer_runs(model, {}, 0, model.layers)) {
    const LayerParameters layer = layer_parameters(model, run.kind);
    count.layers += run.layers * layer.total();
    routed += run.layers * layer.routed_experts;
  }
  const double inactive =
      routed > 0 ? routed * (1.0 - visited_experts(*model.moe) / model.moe->experts) : 0.0;
  const double table = static_cast<double>(model.vocabulary) * model.hidden;
  count.embedding = table + static_cast<double>(model.learned_positions) * model.hidden;
  count.head = model.tied_embeddings ? 0.0 : table;
  count.final_norm = norm_parameters(model);
  // Two norms and a projection of the joined inputs (2h to h) before the layer, one norm after it.
  const double h = model.hidden;
  count.prediction =
      model.multi_token_prediction * (layer_parameters(model, prediction_kind(model, {})).total() +
                                      2.0 * h * h + 3.0 * norm_parameters(model));
  count.vision = held_by_encoder(model, {}).stored.total();
  count.active = count.total() - inactive;
  return count;
}

double document_keys(double length, AttentionWindow window) {
  const double w = window.tokens;
  if (w <= 0 || w >= length) {
    return length / 2.0;
  }
  if (!window.chunked) {
    return w * (1.0 - w / (2.0 * length));
  }
  const double whole = std::floor(length / w);
  const double rest = length - whole * w;
  return (whole * w * w + rest * rest) / (2.0 * length);
}

namespace {

/// Which keys a query of a layer attends to.
AttentionWindow keys_seen(const ModelSpec& model, bool windowed) {
  if (model.sparse) {
    return model.sparse->top_k;
  }
  return windowed ? window_of(model) : AttentionWindow{};
}

/// Keys that a query of a layer attends to in the mean over its document.
double mean_keys(const ModelSpec& model, const TrainingSpec& training, bool windowed) {
  return model.native_sparse
             ? native_shape(*model.native_sparse, training.sequence_length).keys.total()
             : mean_causal_keys(training, keys_seen(model, windowed));
}

}  // namespace

double causal_keys(const ModelSpec& model, const LayerKind& kind, int sequence_length) {
  if (model.native_sparse) {
    return native_shape(*model.native_sparse, sequence_length).keys.total();
  }
  return document_keys(sequence_length, keys_seen(model, kind.windowed));
}

double mean_document_keys(const std::vector<DocumentLength>& documents, AttentionWindow window) {
  double tokens = 0;
  double keys = 0;
  for (const DocumentLength& document : documents) {
    const double length = document.tokens;
    tokens += document.share * length;
    keys += document.share * length * document_keys(length, window);
  }
  return keys / tokens;
}

double mean_causal_keys(const TrainingSpec& training, AttentionWindow window) {
  if (training.documents.empty()) {
    return document_keys(training.sequence_length, window);
  }
  std::vector<DocumentLength> documents = training.documents;
  for (DocumentLength& document : documents) {
    document.tokens = std::min(document.tokens, training.sequence_length);
  }
  return mean_document_keys(documents, window);
}

ForwardFlops forward_flops_per_token(const ModelSpec& model, int sequence_length) {
  ForwardFlops flops;
  for (const LayerRun& run : layer_runs(model, {}, 0, model.layers)) {
    flops.projections += Flops(2.0 * run.layers * mixing_matrices(model, run.kind));
    flops.projections += Flops(run.layers * compression_work(model, run.kind, sequence_length));
    if (run.kind.mixes()) {
      flops.scan += Flops(run.layers * scan_flops(whole_mixer(model, sequence_length)));
    }
    if (run.kind.mlp) {
      flops.mlp += Flops(2.0 * run.layers * active_mlp_matrices(model, run.kind.experts));
    }
  }
  for (int layer = 0; layer < model.layers; ++layer) {
    const LayerKind kind = layer_kind(model, {}, layer);
    if (kind.attends()) {
      flops.attention_core +=
          Flops(2.0 * 2.0 * causal_keys(model, kind, sequence_length) * core_width(model, kind));
      flops.attention_core += Flops(2.0 * sequence_length * index_width(model, kind));
    }
  }
  const double head = 2.0 * model.hidden * model.vocabulary;
  flops.head = Flops(head);
  const double h = model.hidden;
  const LayerKind last = prediction_kind(model, {});
  const double prediction =
      2.0 * (attention_matrices(model, last) + active_mlp_matrices(model, last.experts)) +
      4.0 * h * h + head + compression_work(model, last, sequence_length);
  flops.prediction = Flops(model.multi_token_prediction * prediction);
  flops.prediction_core =
      Flops(model.multi_token_prediction *
            (4.0 * causal_keys(model, last, sequence_length) * core_width(model, last) +
             2.0 * sequence_length * index_width(model, last)));
  return flops;
}

namespace {

/// FLOPs of a token that three times the forward counts too many where not all is trained: weight
/// gradients of frozen matrices, whole backwards below all that is trained, less three times those
/// of adapters.
struct NotDone {
  double linear = 0, core = 0;
};
void add_not_done(const ModelSpec& model,
                  const LayerKind& kind,
                  int layers,
                  double core,
                  int length,
                  NotDone& sum) {
  const double matrices = 2.0 * (mixing_matrices(model, kind) +
                                 (kind.mlp ? active_mlp_matrices(model, kind.experts) : 0.0)) +
                          compression_work(model, kind, length);
  switch (kind.learning) {
    case Learning::weights:
      break;
    case Learning::adapters:
      sum.linear += layers * (matrices - 6.0 * active_adapter_weights(model, kind));
      break;
    case Learning::passes:
      sum.linear += layers * matrices;
      break;
    case Learning::still: {
      const double scan = kind.mixes() ? scan_flops(whole_mixer(model, length)) : 0.0;
      sum.linear += layers * 2.0 * (matrices + scan);
      sum.core += layers * 2.0 * core;
      break;
    }
  }
}

double head_not_done(const ModelSpec& model) {
  return head_trained(model) ? 0.0 : 2.0 * model.hidden * model.vocabulary;
}

}  // namespace

TrainingFlops training_flops_per_token(const ModelSpec& model,
                                       int sequence_length,
                                       Recompute recompute) {
  const ForwardFlops forward = forward_flops_per_token(model, sequence_length);
  NotDone less{head_not_done(model), 0};
  for (int layer = 0; layer < model.layers; ++layer) {
    const LayerKind kind = layer_kind(model, {}, layer);
    const double keys = kind.attends() ? causal_keys(model, kind, sequence_length) : 0.0;
    const double core = kind.attends() ? 4.0 * keys * core_width(model, kind) +
                                             2.0 * sequence_length * index_width(model, kind)
                                       : 0.0;
    add_not_done(model, kind, 1, core, sequence_length, less);
  }
  TrainingFlops flops;
  flops.mfu = 3.0 * (forward.linear() + forward.core()) - Flops(less.linear + less.core);
  flops.mfu_causal =
      3.0 * (forward.linear() + 0.5 * forward.core()) - Flops(less.linear + 0.5 * less.core);
  flops.hfu = flops.mfu;
  if (recompute == Recompute::full) {
    flops.hfu += forward.projections + forward.attention_core + forward.mlp + forward.scan;
  } else if (recompute == Recompute::selective) {
    flops.hfu += forward.attention_core;
  }
  return flops;
}

namespace {

/// Forward FLOPs of what one layer makes again in backward, core attention in full.
double remade_flops(
    const ModelSpec& model, const Remade& parts, double core, const LayerKind& kind, int length) {
  const double mlp = kind.mlp ? 2.0 * active_mlp_matrices(model, kind.experts) : 0.0;
  double up = 0;
  if (model.latent && kind.attends()) {
    const LatentAttentionSpec& latent = *model.latent;
    const double key_value = static_cast<double>(latent.key_value_rank) * model.heads *
                             (latent.no_rope_dim + latent.value_dim);
    const double query = static_cast<double>(latent.query_rank) * model.heads *
                         (latent.no_rope_dim + latent.rope_dim);
    up = 2.0 * (key_value + query);
  }
  if (parts.all) {
    const double scan = kind.mixes() ? scan_flops(whole_mixer(model, length)) : 0.0;
    return 2.0 * mixing_matrices(model, kind) + core + mlp + scan +
           compression_work(model, kind, length);
  }
  return (parts.core_attention ? core : 0.0) + (parts.latent_up ? up : 0.0) +
         (parts.mlp || parts.experts ? mlp : 0.0);
}

/// Forward core attention of a token in a layer, in full, over its document.
double core_flops(const ModelSpec& model, const TrainingSpec& training, const LayerKind& kind) {
  const double keys = mean_keys(model, training, kind.windowed);
  const double all = mean_causal_keys(training, AttentionWindow{});
  return kind.attends() ? 4.0 * (keys * core_width(model, kind) + all * index_width(model, kind))
                        : 0.0;
}

}  // namespace

TrainingFlops training_flops_per_token(const ModelSpec& model,
                                       const TrainingSpec& training,
                                       const ParallelismSpec& parallelism) {
  const ForwardFlops forward = forward_flops_per_token(model, training.sequence_length);
  double core = 0;
  double again = 0;
  NotDone less{head_not_done(model), 0};
  const auto add = [&](const LayerKind& kind, int layers) {
    const double one = core_flops(model, training, kind);
    core += layers * one;
    add_not_done(model, kind, layers, one, training.sequence_length, less);
    const Remade parts = remade(training.framework, parallelism, kind);
    again += layers * remade_flops(model, parts, one, kind, training.sequence_length);
  };
  for (const LayerRun& run : layer_runs(model, parallelism, 0, model.layers)) {
    add(run.kind, run.layers);
  }
  add(prediction_kind(model, parallelism), model.multi_token_prediction);
  TrainingFlops flops;
  flops.mfu = 3.0 * (forward.linear() + Flops(core)) - Flops(less.linear + less.core);
  flops.mfu_causal =
      3.0 * (forward.linear() + Flops(0.5 * core)) - Flops(less.linear + 0.5 * less.core);
  const ForwardFlops taught = teacher_flops_per_token(training);
  flops.mfu += taught.linear() + taught.core();
  flops.mfu_causal += taught.linear() + 0.5 * taught.core();
  const EncoderFlops seen = encoder_flops_per_token(model, training, parallelism);
  flops.mfu += seen.trained;
  flops.mfu_causal += seen.trained;  // its attention is not causal
  flops.hfu = flops.mfu + Flops(again) + seen.again;
  return flops;
}

ForwardFlops teacher_flops_per_token(const TrainingSpec& training) {
  if (!runs_teacher(training)) {
    return {};
  }
  ModelSpec teacher = *training.distillation->teacher;
  teacher.multi_token_prediction = 0;
  ForwardFlops flops = forward_flops_per_token(teacher, training.sequence_length);
  double core = 0;
  for (const LayerRun& run : layer_runs(teacher, {}, 0, teacher.layers)) {
    core += run.layers * core_flops(teacher, training, run.kind);
  }
  flops.attention_core = Flops(core);
  return flops;
}

double attention_share(const ModelSpec& model, int sequence_length) {
  const ForwardFlops forward = forward_flops_per_token(model, sequence_length);
  return forward.core() / (forward.core() + forward.linear());
}

ContextBytes context_bytes_per_layer(const ModelSpec& model,
                                     const TrainingSpec& training,
                                     const ParallelismSpec& parallelism,
                                     bool windowed) {
  const double c = parallelism.context;
  const double t = parallelism.tensor;
  const double tokens = training.sequence_length / c * parallelism.micro_batch;
  // A key and a value of one head, 16-bit.
  LayerKind kind;
  kind.windowed = windowed;
  const double head = 2.0 * tokens * core_width(model, kind) / model.heads;
  const double key_heads = std::max(1.0, attention_heads(model, kind).key_value / t);
  if (parallelism.context_kind != ContextKind::all_to_all) {
    const bool skips = windowed && parallelism.context_kind == ContextKind::ring;
    const double blocks =
        skips ? static_cast<double>(
                    ring_steps(training, parallelism.context, window_of(model)).size())
              : c;
    const core::Bytes forward((blocks - 1.0) * key_heads * head);
    return {forward, 2.0 * forward};
  }
  const core::Bytes each_way((c - 1.0) / c * head * (model.heads / t + std::max(key_heads, c)));
  return c > 1 ? ContextBytes{each_way, each_way} : ContextBytes{};
}

core::Flops executed_attention_per_layer(const ModelSpec& model,
                                         const TrainingSpec& training,
                                         const ParallelismSpec& parallelism) {
  const double keys = mean_causal_keys(training, 0);
  const double query_tokens =
      static_cast<double>(training.sequence_length) * parallelism.micro_batch / parallelism.context;
  const double heads = static_cast<double>(model.heads) / parallelism.tensor;
  const AttentionHeads own = attention_heads(model, {});
  const double key_dim =
      model.latent ? model.latent->no_rope_dim + model.latent->rope_dim : own.dim;
  const double value_dim = model.latent ? model.latent->value_dim : own.value_dim;
  return core::Flops(keys * query_tokens * heads * (8.0 * key_dim + 6.0 * value_dim));
}

core::Seconds pipeline_bubble(ScheduleKind schedule,
                              int stages,
                              int virtual_stages,
                              StageTimes times) {
  const core::Seconds ramp = (stages - 1) * (times.forward + times.backward);
  const core::Seconds dual = times.forward + 2.0 * times.backward - 3.0 * times.weight_gradient;
  switch (schedule) {
    case ScheduleKind::gpipe:
    case ScheduleKind::one_f_one_b:
      return ramp;
    case ScheduleKind::interleaved:
      return ramp / virtual_stages;
    case ScheduleKind::zero_bubble_h1:
      return ramp - 2.0 * (stages - 1) * times.weight_gradient;
    case ScheduleKind::zero_bubble_h2:
    case ScheduleKind::zero_bubble_v:
      return core::Seconds(0);
    case ScheduleKind::dual_pipe:
      return (stages / 2.0 - 1.0) * dual;
    case ScheduleKind::dual_pipe_v:
      return (stages - 1.0) * dual / 2.0;
  }
  return ramp;
}

core::Seconds unequal_pipeline_time(const std::vector<StageTimes>& stages, int micro_batches) {
  core::Seconds sum;
  core::Seconds longest;
  for (const StageTimes& stage : stages) {
    const core::Seconds both = stage.forward + stage.backward;
    sum += both;
    longest = std::max(longest, both);
  }
  return sum + (micro_batches - 1) * longest;
}

core::Seconds exposed_transfer_time(int stages, int micro_batches, core::Seconds delay) {
  if (stages < 2) {
    return core::Seconds(0);
  }
  return 2.0 * delay * ((stages - 1.0) * micro_batches / stages + stages - 2.0);
}

int chunks_in_flight(
    ScheduleKind schedule, int stages, int virtual_stages, int micro_batches, int stage) {
  const int all = micro_batches * virtual_stages;
  switch (schedule) {
    case ScheduleKind::gpipe:
      return all;
    case ScheduleKind::one_f_one_b:
      return std::min(micro_batches, stages - stage);
    case ScheduleKind::interleaved:
      if (virtual_stages == 1) {
        return std::min(micro_batches, stages - stage);
      }
      return std::min(all, 2 * (stages - stage - 1) + (virtual_stages - 1) * stages + 1);
    case ScheduleKind::zero_bubble_h1:
      return std::min(micro_batches, stages);
    case ScheduleKind::zero_bubble_h2:
      return std::min(micro_batches, 2 * stages - 1);
    case ScheduleKind::zero_bubble_v:
      return std::min(2 * micro_batches, 2 * stages);
    case ScheduleKind::dual_pipe:
      return std::min(micro_batches, stages + 1);
    case ScheduleKind::dual_pipe_v:
      return std::min(2 * micro_batches, 2 * stages + 1);
  }
  return all;
}

}  // namespace headway::workload
