// Parameters and floating-point operations of a model, by the formulas everyone counts with.
#pragma once

#include <vector>

#include "sim/core/units.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Which layers a model has: a layer's MLP is dense or a mixture of experts, or there is none
/// (layer_pattern).
struct LayerCount {
  int dense = 0;
  int experts = 0;
  int without = 0;
  [[nodiscard]] int total() const { return dense + experts + without; }
  bool operator==(const LayerCount&) const = default;
};

/// Parameters of one normalization: a gain per channel, and a bias where the model has biases.
double norm_parameters(const ModelSpec& model);

/// Layers by kind; multi-token prediction layers are not counted.
LayerCount layer_count(const ModelSpec& model);

/// Parameters of one layer, by part; `experts` are the routed ones of a mixture.
struct LayerParameters {
  double attention = 0;
  double mixer = 0;           ///< linear attention or state space
  double mlp = 0;             ///< dense MLP, or the shared experts
  double routed_experts = 0;  ///< all routed experts together
  double router = 0;
  double latent = 0;  ///< tokens' way to the width of latent experts and back
  double norms = 0;
  [[nodiscard]] double total() const {
    return attention + mixer + mlp + routed_experts + router + latent + norms;
  }
};

/// Parameters of a layer of any kind.
LayerParameters layer_parameters(const ModelSpec& model, const LayerKind& kind);

/// Parameters of a model.
struct ParameterCount {
  double layers = 0;     ///< all decoder layers
  double embedding = 0;  ///< token table and learned positions
  double head = 0;       ///< output matrix; 0 if tied to the embedding
  double final_norm = 0;
  double prediction =
      0;              ///< multi-token prediction layers; not part of `total`, as model cards count
  double vision = 0;  ///< encoder of images and projectors
  double active = 0;  ///< parameters one token meets, embedding and head included
  [[nodiscard]] double total() const { return layers + embedding + head + final_norm + vision; }
};

ParameterCount count_parameters(const ModelSpec& model);

/// Forward floating-point operations of one token, by part; one multiply-add is two.
struct ForwardFlops {
  core::Flops projections;  ///< query, key, value and output matrices, and those of mixers
  core::Flops scan;         ///< chunked scans of mixers (scan_flops)
  core::Flops
      attention_core;      ///< scores and weighted values, every query with every key (not halved)
  core::Flops mlp;         ///< dense MLPs, shared and routed experts, routers
  core::Flops head;        ///< logits
  core::Flops prediction;  ///< multi-token prediction, all of its parts but core attention
  core::Flops prediction_core;  ///< core attention of multi-token prediction layers
  [[nodiscard]] core::Flops linear() const { return projections + mlp + head + prediction + scan; }
  [[nodiscard]] core::Flops core() const { return attention_core + prediction_core; }
};

/// @param sequence_length  tokens of one sequence; a sliding window caps the keys, edges corrected
/// Source: formulas of FIELD notes 3.1 = megatron/training/training.py
/// num_floating_point_operations.
ForwardFlops forward_flops_per_token(const ModelSpec& model, int sequence_length);

/// Mean number of keys a query of a layer of a kind attends to if the causal half is kept:
/// s/2 in full attention, w (1 - w/2s) with a window of w tokens, w/2 in pieces of w tokens that
/// divide s.
double causal_keys(const ModelSpec& model, const LayerKind& kind, int sequence_length);

/// Which keys a query sees of those before it: the last `tokens` (0: all), or those of its own
/// piece of a sequence cut into pieces of `tokens`.
struct AttentionWindow {
  AttentionWindow(int seen = 0, bool in_pieces = false)  // NOLINT(google-explicit-constructor)
      : tokens(seen), chunked(in_pieces) {}
  int tokens;
  bool chunked;
};
inline AttentionWindow window_of(const ModelSpec& model) {
  return {model.window, model.chunked_window};
}

/// The same for a sequence of packed documents of these lengths, with no attention between them,
/// and a window: the mean over tokens, so that a document counts with
/// its length. Without a window sum_i p_i s_i^2 / (2 sum_i p_i s_i). Sequences shorter than a
/// document cut it.
double mean_causal_keys(const TrainingSpec& training, AttentionWindow window);
/// The same of documents that nothing cuts; there must be one.
double mean_document_keys(const std::vector<DocumentLength>& documents, AttentionWindow window);
/// Of one document of `length` tokens.
double document_keys(double length, AttentionWindow window);

/// Model FLOPs of one trained token: forward and backward, three times the forward where all is
/// trained. Frozen matrices have no weight gradient, layers below all that is trained no backward;
/// adapters add three times their forward.
struct TrainingFlops {
  core::Flops mfu;         ///< attention in full (PaLM)
  core::Flops mfu_causal;  ///< attention halved (today's Megatron)
  core::Flops hfu;         ///< mfu plus recomputed forwards
};

/// hfu adds one forward of the decoder layers (full) or of core attention (selective).
TrainingFlops training_flops_per_token(const ModelSpec& model,
                                       int sequence_length,
                                       Recompute recompute);

/// With packed documents and selective recomputation by parts and by every so many layers, as a
/// step really has them.
TrainingFlops training_flops_per_token(const ModelSpec& model,
                                       const TrainingSpec& training,
                                       const ParallelismSpec& parallelism);

/// Forward of one token through a teacher, over its packed document; a run counts it among its
/// model FLOPs. Nothing without a teacher that runs.
ForwardFlops teacher_flops_per_token(const TrainingSpec& training);

/// What one rank sends to its context group for one layer and micro-batch.
struct ContextBytes {
  core::Bytes forward, backward;
};

/// With KV = q (s/c) b (d + d_v) g/t, Q = q (s/c) b (d + d_v) a/t, q = 2 bytes (FIELD notes 3.5):
///     ring: (c-1) KV forward, 2 (c-1) KV backward (blocks and their gradients); all-gather: the
///     same bytes, as (c-1)/c of whole arrays; all-to-all: (c-1)/c (Q + KV) each way, queries and
///     outputs beside keys and values, these of c heads where a tensor rank has fewer
/// Recomputed forwards send again and are not counted here.
/// @param windowed  of a layer whose attention sees the model's window: of a ring with n steps that
///                  any rank needs, n - 1 in place of c - 1
ContextBytes context_bytes_per_layer(const ModelSpec& model,
                                     const TrainingSpec& training,
                                     const ParallelismSpec& parallelism,
                                     bool windowed = false);

/// Core attention really executed by one rank for one layer and micro-batch, forward and (fused)
/// backward: k s b a (8 d + 6 d_v) / (t c) with k keys a query, d wide keys and d_v wide values;
/// 7 s^2 b d a / (t c) where nothing but the causal half is skipped and d = d_v.
core::Flops executed_attention_per_layer(const ModelSpec& model,
                                         const TrainingSpec& training,
                                         const ParallelismSpec& parallelism);

/// Share of attention in the forward FLOPs of the `mfu` convention; above a third, report
/// mfu_causal.
double attention_share(const ModelSpec& model, int sequence_length);

/// Times of one micro-batch on one stage, all its chunks together [s]; `backward` includes weight
/// gradients.
struct StageTimes {
  core::Seconds forward;
  core::Seconds backward;
  core::Seconds weight_gradient;  ///< the part of `backward` that nobody waits for
};

/// Idle time of a stage in a pipeline of equal stages and free transfers.
///     gpipe, 1f1b: (p-1)(F+B); interleaved: (p-1)(F+B)/v; zb-h1: (p-1)(F+B-2W); zb-h2, zb-v: 0,
///     which holds for F = B-W = W only (elsewhere the order is simulated, not this form);
///     dualpipe: (p/2-1)(F + 2B - 3W), dualpipe-v: (p-1)(F + 2B - 3W)/2, where a forward and a
///     backward that run side by side take F+B; each of the two chunks of a stage has half of F, B
///     and W
/// Source: FIELD notes 3.4 (zero-bubble and DualPipe papers).
core::Seconds pipeline_bubble(ScheduleKind schedule,
                              int stages,
                              int virtual_stages,
                              StageTimes times);

/// 1f1b with unequal stages and free transfers: sum_i (f_i+b_i) + (m-1) max_i (f_i+b_i). Exact
/// where the last stage is the slowest; an upper bound where it is an earlier one, whose warm-up
/// forwards fill part of the waits: less than a third above for m = p.
core::Seconds unequal_pipeline_time(const std::vector<StageTimes>& stages, int micro_batches);

/// What transfers of length `delay` that nothing hides add to 1f1b: 2 delay ((p-1) m/p + p - 2);
/// exact if p divides m.
core::Seconds exposed_transfer_time(int stages, int micro_batches, core::Seconds delay);

/// Chunk activations stage `stage` holds at most, in units of one chunk of one micro-batch.
///     gpipe: m v; 1f1b: min(m, p-i); interleaved: min(m v, 2(p-i-1) + (v-1) p + 1) if p divides m;
///     upper bounds of the others: zb-h1 p, zb-h2 2p-1, zb-v 2p, dualpipe and dualpipe-v as FIELD
///     notes 3.4
int chunks_in_flight(
    ScheduleKind schedule, int stages, int virtual_stages, int micro_batches, int stage);

}  // namespace headway::workload
