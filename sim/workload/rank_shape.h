// Sizes of one rank's share of a layer: what a micro-batch looks like after all splitting.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/precision.h"
#include "sim/workload/attention/ring_blocks.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/mixer/mixer_shape.h"
#include "sim/workload/native/native_sparse.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// One attention kernel of a micro-batch: which queries meet which keys.
struct AttentionShape {
  std::int64_t sequence = 0;      ///< query tokens of a sequence
  std::int64_t key_sequence = 0;  ///< key tokens of a sequence
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;
  bool causal = true;   ///< keys behind the mask are skipped
  double keys = 0;      ///< keys that a query meets on average, skipped ones not counted
  bool packed = false;  ///< many short documents in one kernel
};

/// Sparse attention over chosen keys; its indexer, whole on each tensor rank.
struct SparseShape {
  std::int64_t heads = 0, dim = 0;
  std::int64_t top_k = 0;  ///< keys that a query attends to at most
  double all_keys = 0;     ///< keys that it scores, in the mean
  bool indexer = true;     ///< false: the keys are those that a layer before chose
};

/// One micro-batch on one rank.
struct RankShape {
  std::int64_t sequence = 0;     ///< tokens of a sequence on this rank's context shard
  std::int64_t micro_batch = 0;  ///< sequences
  std::int64_t tokens = 0;       ///< sequence x micro-batch
  std::int64_t split_tokens =
      0;  ///< tokens of norms and residuals: split over the tensor group with sequence parallelism
  std::int64_t hidden = 0;
  std::int64_t heads = 0;            ///< query heads of this rank
  std::int64_t key_value_heads = 0;  ///< at least one: shared heads are copied, not split
  std::int64_t head_dim = 0;         ///< of queries and keys
  std::int64_t value_dim = 0;        ///< of values and attention's output
  std::int64_t query_rank = 0;       ///< latent attention: compressed queries; 0: not compressed
  std::int64_t key_rank = 0;     ///< latent attention: compressed keys and values; 0: not latent
  std::int64_t rope_dim = 0;     ///< latent attention: part of a key that all heads share
  std::int64_t no_rope_dim = 0;  ///< latent attention: the rest of each head's query and key
  std::int64_t head_values =
      0;                 ///< latent attention: values of a head, as the projection reads them
  double mean_keys = 0;  ///< keys of a query under causal mask, window and documents, over the
                         ///< whole sequence
  std::int64_t ffn = 0;  ///< MLP columns of this rank
  std::int64_t vocabulary = 0;  ///< vocabulary rows of this rank, rounded up
  int tensor = 1;
  int context = 1;
  ContextKind context_kind = ContextKind::ring;
  std::vector<RingStep> ring;   ///< of a context ring: the steps that any rank needs
  bool bidirectional = false;   ///< a query meets all keys of its document
  bool packed = false;          ///< sequences hold documents that do not attend to each other
  bool gathers = false;         ///< sequence parallelism: gather and scatter instead of all-reduce
  bool keeps_gathered = false;  ///< what was gathered so is kept whole for the backward pass
  bool dropout = false;         ///< dropout after attention, projection and MLP
  core::Precision linear = core::Precision::bf16;  ///< operands of the four linear layers
  core::Precision wide = core::Precision::bf16;  ///< attention, logits: never narrower than 16 bits
  Scaling scaling = Scaling::delayed;            ///< of narrow operands
  std::optional<Nvfp4Spec> nvfp4;                ///< how four bits are made
  bool narrow_gathers = false;                   ///< sharded weights arrive in the narrow format
  bool separate_projections = false;  ///< queries, keys, values, gate: products of their own
  bool joined_sums = false;  ///< sums of gradients are part of the operator that comes next
  double element = 2;        ///< bytes of an activation between kernels
  double widening = 0;       ///< bytes a weight of layers of making it 16 bits wide for a product
  bool attention_gate = false;      ///< queries come with a gate of attention's output
  std::optional<MixerShape> mixer;  ///< where layers have one
  /// Attention to compressed keys that an indexer chooses: `head_dim` and `value_dim` are those of
  /// the compressed form.
  std::optional<SparseShape> sparse;
  std::optional<NativeShape> native;  ///< native sparse attention
  int key_projections = 2;    ///< products that make keys and values; 1: values are the keys
  std::int64_t key_sets = 1;  ///< keys and values of a head: native sparse attention has three

  [[nodiscard]] bool latent() const { return key_rank > 0; }
  [[nodiscard]] std::int64_t query_width() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t output_width() const { return heads * value_dim; }
  /// Inputs of the output projection.
  [[nodiscard]] std::int64_t projection_width() const {
    return latent() ? heads * head_values : output_width();
  }
  [[nodiscard]] std::int64_t qkv_width() const {
    if (native) {
      return native_columns(heads, key_value_heads, head_dim, value_dim);
    }
    return (attention_gate ? 2 : 1) * heads * head_dim +
           key_value_heads * (head_dim + (key_projections - 1) * value_dim);
  }
  /// Of it: queries (and their gate), keys, values, where these are products of their own; zeros
  /// where native sparse attention has more of them.
  [[nodiscard]] std::array<std::int64_t, 3> attention_parts() const {
    if (native || key_projections != 2) {
      return {};
    }
    return {(attention_gate ? 2 : 1) * heads * head_dim, key_value_heads * head_dim,
            key_value_heads * value_dim};
  }
  [[nodiscard]] std::int64_t mlp_in_width(bool gated) const { return gated ? 2 * ffn : ffn; }
  /// Attention of this rank's queries with this rank's keys.
  [[nodiscard]] AttentionShape own_attention() const {
    if (bidirectional) {
      return {sequence, sequence, heads, key_value_heads, false, mean_keys, true};
    }
    const double keys = context == 1 ? mean_keys : static_cast<double>(sequence) / 2.0;
    return {sequence, sequence, heads, key_value_heads, true, keys};
  }
  /// Elements of keys of this rank's tokens.
  [[nodiscard]] double key_elements() const {
    return static_cast<double>(tokens) * static_cast<double>(key_sets * key_value_heads * head_dim);
  }
  /// Elements of values of this rank's tokens.
  [[nodiscard]] double value_elements() const {
    return static_cast<double>(tokens) *
           static_cast<double>(key_sets * key_value_heads * value_dim);
  }
  /// Elements of queries of this rank's tokens.
  [[nodiscard]] double query_elements() const {
    return static_cast<double>(tokens) * static_cast<double>(query_width());
  }
  /// Elements of attention's output of this rank's tokens.
  [[nodiscard]] double output_elements() const {
    return static_cast<double>(tokens) * static_cast<double>(output_width());
  }
  /// Elements of the residual stream, whole.
  [[nodiscard]] double stream() const {
    return static_cast<double>(tokens) * static_cast<double>(hidden);
  }
  /// Elements of the residual stream on this rank between blocks.
  [[nodiscard]] double split_stream() const {
    return static_cast<double>(split_tokens) * static_cast<double>(hidden);
  }
  /// Elements of the input of products split by columns, as it is kept for the backward pass.
  [[nodiscard]] double column_input() const { return keeps_gathered ? stream() : split_stream(); }
  /// Attention scores of one layer, every query with every key.
  [[nodiscard]] double scores() const {
    return static_cast<double>(micro_batch * heads) * static_cast<double>(sequence) *
           static_cast<double>(sequence);
  }
};

/// Where the model does not say, dropout is assumed with biases (GPT-3 and its time): later models
/// train without.
/// @param kind  of the layer: whether its attention sees the model's window, has an indexer
RankShape rank_shape(const ModelSpec& model,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism,
                     const LayerKind& kind = {});

}  // namespace headway::workload
