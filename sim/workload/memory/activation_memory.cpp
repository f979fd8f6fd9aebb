#include "sim/workload/memory/activation_memory.h"

#include <algorithm>
#include <optional>

#include "sim/workload/attention/attention_blocks.h"
#include "sim/workload/constants.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/latent/latent_blocks.h"
#include "sim/workload/mixer/mixer_kernels.h"
#include "sim/workload/native/native_blocks.h"
#include "sim/workload/number_formats.h"
#include "sim/workload/teacher/distillation_loss.h"
#include "sim/workload/trained/adapter_shape.h"

namespace headway::workload {

namespace {

using core::Bytes;

double tokens_times(const RankShape& shape, std::int64_t width) {
  return static_cast<double>(shape.tokens) * static_cast<double>(width);
}

/// Bytes of keys and values kept for the backward: as they were exchanged with all-to-all (shared
/// heads may be copied), else of this rank's tokens.
double kept_keys(const RankShape& shape) {
  const bool exchanged = shape.context > 1 && shape.context_kind == ContextKind::all_to_all;
  return exchanged ? (exchanged_keys(shape) + exchanged_values(shape)).si()
                   : key_value_block(shape).si();
}

/// Bytes of an element of attention's output where one narrow copy serves its own backward and the
/// projection's: E5M6. Source: DeepSeek-V3 Technical Report (arXiv 2412.19437), section 3.3.3.
constexpr double kNarrowOutput = 12.0 / 8.0;

/// Attention's output is kept by heads for its own backward and by tokens for the projection's.
double kept_outputs(const RankShape& shape, double element) {
  const bool exchanged = shape.context > 1 && shape.context_kind == ContextKind::all_to_all;
  return (exchanged ? 2.0 : 1.0) * element * shape.output_elements();
}

/// What the exchange of context ranks holds while a layer runs backward. Ring: the block that
/// arrives, and the gradient that arrives for the present one; all-gather: keys and values of whole
/// sequences and their gradients (of sparse attention, which keeps the keys, the gradients in the
/// order of tokens and in that of ranks, and the index keys'); all-to-all: the buffer of the
/// largest transfer.
double exchange_buffers(const RankShape& shape) {
  if (shape.context == 1) {
    return 0;
  }
  switch (shape.context_kind) {
    case ContextKind::ring:
      return 2.0 * key_value_block(shape).si();
    case ContextKind::all_gather:
      return shape.native
                 ? native_buffers(shape)
                 : 2.0 * shape.context * gathered_block(shape).si() +
                       (shape.sparse && shape.sparse->indexer ? gathered_index_keys(shape) : 0.0);
    case ContextKind::all_to_all:
      return std::max(shape.element * std::max(shape.query_elements(), shape.output_elements()),
                      exchanged_keys(shape).si());
  }
  return 0;
}

/// A layer whose activations are counted.
struct CountedLayer {
  const ModelSpec& model;
  FrameworkSpec framework;
  RankShape rank;
  std::optional<ExpertShape> experts;  ///< where the layer is a mixture
  Remade again;                        ///< what it does not keep
  LayerKind kind;
  KeptInputs inputs;
  double adapters = 0;  ///< kept by adapters beside
  /// Bytes of a kept input: of the product's operand, or 16 bits where an adapter reads it.
  [[nodiscard]] double operand() const {
    return kind.learning == Learning::adapters ? rank.element : operand_bytes(rank.linear);
  }
  /// Whether what only backward needs is kept in a narrow format.
  [[nodiscard]] bool keeps_narrow() const {
    return framework.narrow_activations && narrow(rank.linear);
  }
};

/// Whether softmax of unfused attention writes 32 bits, which eager operators cast again.
bool wide_softmax(const CountedLayer& layer) {
  return !layer.framework.fuses_elementwise() && layer.rank.element < 4;
}

/// Probabilities kept for the backward of unfused attention, and with dropout a mask of one byte
/// and the dropped copy; eager, softmax's output of 32 bits and what the product multiplies.
double score_bytes(const CountedLayer& layer) {
  const RankShape& shape = layer.rank;
  const double mask = shape.dropout ? 1.0 : 0.0;
  const double softmax = wide_softmax(layer) ? 4.0 : shape.dropout ? shape.element : 0.0;
  return (softmax + mask + shape.element) * shape.scores();
}

/// What sparse attention keeps beside the compressed form: each head's queries before they are
/// absorbed, its values as the projection's operand; of an indexer its queries, key and weights and
/// the chosen keys' numbers, which layers that share them read too; over context ranks keys and
/// index keys of whole sequences, as gathered.
double kept_by_sparse(const RankShape& shape, bool core_again) {
  if (!shape.sparse) {
    return 0;
  }
  const SparseShape& sparse = *shape.sparse;
  const bool gathers = shape.context > 1 && !core_again;
  const double indexer =
      sparse.indexer
          ? shape.element * tokens_times(shape, sparse.heads * sparse.dim +
                                                    shape.context * sparse.dim + sparse.heads) +
                4.0 * tokens_times(shape, sparse.top_k)
          : 0.0;
  return shape.element * tokens_times(shape, shape.heads * shape.no_rope_dim) +
         (gathers ? shape.context * gathered_block(shape).si() : 0.0) +
         operand_bytes(shape.linear) * tokens_times(shape, shape.projection_width()) + indexer;
}

/// Queries and keys before their rotary embedding, which stay with the values that lie beside them;
/// not where context ranks exchange heads or gather values, which makes copies. Where heads are
/// copied, all three are one array only if they are as many: then keys and values, which are copied
/// once more, stay with queries that are turned in place, as many bytes.
double kept_beside_values(const CountedLayer& layer) {
  const RankShape& shape = layer.rank;
  const ModelSpec& model = layer.model;
  const bool turned = model.rotary && model.learned_positions == 0 && !model.query_key_norm;
  const bool ring = shape.context == 1 || shape.context_kind == ContextKind::ring;
  const bool apart =
      layer.framework.copied_heads && (shape.query_elements() != shape.key_elements() ||
                                       shape.value_elements() != shape.key_elements());
  const bool whole = ring && !apart;
  return layer.framework.joined_heads && whole && turned && !shape.latent() && !shape.sparse &&
                 !shape.native
             ? shape.element * (shape.query_elements() + shape.key_elements())
             : 0.0;
}

/// Kept bytes of attention: input of the matrices, queries, keys, values, output, masks,
/// statistics; latent attention keeps the compressed forms before and after their norms as well.
double kept_by_attention(const CountedLayer& layer) {
  const RankShape& shape = layer.rank;
  const double operand = layer.operand();
  const double output = layer.keeps_narrow() ? kNarrowOutput : shape.element;
  double bytes =
      (layer.inputs.mixing ? operand * shape.column_input() : 0.0) + kept_outputs(shape, output);
  if (!layer.again.latent_up) {
    bytes += shape.element * shape.query_elements() + (shape.sparse ? 0.0 : kept_keys(shape));
  }
  bytes += kept_beside_values(layer) + kept_by_sparse(shape, layer.again.core_attention) +
           kept_by_native(shape, layer.again.core_attention);
  if (shape.latent()) {
    bytes += (shape.element + operand) * static_cast<double>(shape.split_tokens) *
                 static_cast<double>(shape.query_rank + shape.key_rank) +
             shape.element * static_cast<double>(shape.split_tokens * shape.rope_dim);
  }
  if (shape.attention_gate) {  // the gate, and the output that it multiplied
    bytes += 2.0 * shape.element * shape.output_elements();
  }
  if (layer.model.query_key_norm) {  // queries and keys before their norms
    bytes += shape.element * (shape.query_elements() + shape.key_elements());
  }
  // The narrow copy that the output projection multiplies.
  if (narrow(shape.linear) && !layer.keeps_narrow() && !shape.sparse && layer.inputs.all_weights) {
    bytes += operand * tokens_times(shape, shape.output_width());
  }
  if (shape.dropout) {
    bytes += shape.split_stream();
  }
  if (!layer.again.core_attention) {
    bytes += layer.framework.fuses_attention() ? 4.0 * tokens_times(shape, shape.heads)
                                               : score_bytes(layer);
  }
  return bytes;
}

/// Kept bytes of a layer's first half; beside attention a mixer reads the same input.
double kept_by_mixing(const CountedLayer& layer) {
  const RankShape& shape = layer.rank;
  double bytes = layer.kind.attends() ? kept_by_attention(layer) : 0.0;
  if (layer.kind.mixes()) {
    const double operand = operand_bytes(shape.linear);
    const double input =
        layer.kind.attends() || !layer.inputs.mixing ? 0.0 : operand * shape.column_input();
    bytes += input + static_cast<double>(shape.tokens) * kept_by_mixer(shape, operand);
  }
  return bytes;
}

double gates(const ModelSpec& model) { return model.gated_mlp ? 2.0 : 1.0; }

/// Elements of the output of the activation function.
double activation_elements(const CountedLayer& layer) {
  if (!layer.experts) {
    return tokens_times(layer.rank, layer.rank.ffn);
  }
  return layer.experts->rows() * static_cast<double>(layer.experts->ffn) +
         tokens_times(layer.rank, layer.experts->shared_ffn);
}

/// The norm's output before the MLP: the router reads it as it is, a dense MLP as its operand.
double mlp_input(const CountedLayer& layer) {
  const bool shared = layer.inputs.mlp_in && layer.experts && layer.experts->shared_ffn > 0;
  if (layer.experts ? !layer.inputs.router && !shared : !layer.inputs.mlp_in) {
    return 0;
  }
  const double element = layer.experts ? layer.rank.element : layer.operand();
  return element * (layer.experts ? layer.rank.split_stream() : layer.rank.column_input());
}

/// Tokens that arrived at the experts of this rank, the router's fp32 probabilities and map of
/// choices, and of latent experts the sum that is projected back.
double kept_by_routing(const CountedLayer& layer) {
  const ExpertShape& experts = *layer.experts;
  const double operand = layer.operand();
  double bytes = 5.0 * static_cast<double>(experts.tokens * experts.scored);
  if (layer.inputs.experts) {
    bytes += operand * experts.rows() * static_cast<double>(experts.width);
  }
  const bool reads = experts.shared_ffn > 0 || experts.latent > 0;
  if (layer.inputs.all_weights) {
    bytes += operand * static_cast<double>(experts.tokens * experts.latent);
  }
  if (reads && layer.inputs.all_weights && narrow(layer.rank.linear)) {
    bytes += operand * layer.rank.split_stream();
  }
  return bytes;
}

/// Output of the MLP's first matrices, inputs of the activation function.
double first_outputs(const CountedLayer& layer, double element) {
  return element * gates(layer.model) * activation_elements(layer);
}

/// Output of the activation function, as the operand of what follows.
double activation_output(const CountedLayer& layer) {
  const KeptInputs& inputs = layer.inputs;
  const double operand = layer.operand();
  if (!layer.experts || (inputs.mlp_out && inputs.experts)) {
    return inputs.mlp_out ? operand * activation_elements(layer) : 0.0;
  }
  return inputs.experts ? operand * layer.experts->rows() * static_cast<double>(layer.experts->ffn)
         : inputs.mlp_out ? operand * tokens_times(layer.rank, layer.experts->shared_ffn)
                          : 0.0;
}

/// Inputs of the experts' activation cut off at their bound, which its kernel keeps beside those
/// that it got where operators of their own draw the bound.
double limited_inputs(const CountedLayer& layer) {
  const bool limited = layer.experts && layer.model.moe->limited_activation &&
                       !layer.framework.fuses_expert_limits();
  return limited ? first_outputs(layer, layer.rank.element) : 0.0;
}

/// What is there once the activation has run, beside the output of the first matrices.
double activation_kept(const CountedLayer& layer) {
  return activation_output(layer) + limited_inputs(layer);
}

/// Kept bytes of the MLP: its input, the output of its first matrices and that of the activation.
double kept_by_mlp(const CountedLayer& layer) {
  if (!layer.kind.mlp) {
    return 0;
  }
  double bytes = mlp_input(layer);
  if (!layer.again.mlp && !layer.again.experts) {
    const double element =
        layer.keeps_narrow() ? operand_bytes(layer.rank.linear) : layer.rank.element;
    bytes += first_outputs(layer, element) + activation_kept(layer) +
             (layer.experts ? kept_by_routing(layer) : 0.0);
  }
  return bytes + (layer.rank.dropout ? layer.rank.split_stream() : 0.0);
}

/// Whether the activation's output alone is made again.
bool drops_activation(const CountedLayer& layer) {
  return layer.kind.mlp && layer.again.activation && !layer.again.mlp && !layer.again.experts;
}

/// Whether attention and MLP read the output of one norm.
bool one_norm(const CountedLayer& layer) { return layer.model.norms == 1; }

/// Outputs of the norms before the first half and the MLP.
double norm_outputs(const CountedLayer& layer) {
  const double own = one_norm(layer) || !layer.kind.mlp ? 0.0 : mlp_input(layer);
  const bool first = layer.kind.mixing != Mixing::none && layer.inputs.mixing;
  return (first ? layer.operand() * layer.rank.split_stream() : 0.0) + own;
}

/// Inputs of the norms: the residual stream before each half, once where both halves start
/// together; where norms stand after the halves too, the halves' outputs.
double norm_inputs(const CountedLayer& layer) {
  const double arrays =
      layer.model.parallel_block ? 1 : std::max(layer.model.norms, 2) * layer.kind.halves() / 2.0;
  return layer.rank.element * arrays * layer.rank.split_stream();
}

/// What eager operators keep beside: RMSNorm's input in fp32, and SiLU's output for the gate's
/// product.
double kept_by_eager(const CountedLayer& layer) {
  if (layer.framework.fuses_elementwise() || !layer.model.gated_mlp) {
    return 0;
  }
  const bool mlp = layer.kind.mlp && !layer.again.mlp && !layer.again.experts;
  const bool wide = layer.rank.element < 4 && !layer.framework.fuses_norms();
  const double wide_copy = wide ? 4.0 : 0.0;
  const double norms = std::max(layer.model.norms, 1) * layer.kind.halves() / 2.0;
  return wide_copy * norms * layer.rank.split_stream() +
         (mlp ? layer.rank.element * activation_elements(layer) : 0.0);
}

/// The layer's input; results of the products for queries and values, of attention (where that is
/// not made again), of the gate; with tensor parallelism those of reductions. That of the MLP's
/// last product nobody needs: a compiler lets it go, eager code keeps it.
double kept_by_operators(const CountedLayer& layer) {
  const RankShape& shape = layer.rank;
  const double attention = layer.again.core_attention ? 0 : 1;
  double elements = shape.split_stream() + shape.query_elements() + shape.value_elements() +
                    attention * shape.output_elements();
  elements += shape.gathers ? 2.0 * shape.split_stream() : 0.0;
  if (!layer.experts) {
    const bool last = layer.model.gated_mlp && !layer.framework.fuses_elementwise();
    elements += activation_elements(layer) + (last ? shape.stream() : 0.0);
  }
  return shape.element * elements + attention * 4.0 * tokens_times(shape, shape.heads);
}

double kept_by_layer(const CountedLayer& layer) {
  if (layer.kind.learning == Learning::still) {
    return 0;
  }
  if (layer.again.all) {
    return layer.rank.element * layer.rank.split_stream();
  }
  if (layer.again.operators) {
    return kept_by_operators(layer);
  }
  double bytes = norm_inputs(layer) + kept_by_mixing(layer) + kept_by_mlp(layer) + layer.adapters;
  bytes -= one_norm(layer) ? mlp_input(layer) : 0.0;
  bytes -= layer.again.norms ? norm_outputs(layer) : 0.0;
  bytes -= drops_activation(layer) ? activation_kept(layer) : 0.0;
  return bytes + kept_by_eager(layer);
}

/// What a layer has made again when its gradients run; core attention apart.
double made_again(CountedLayer layer) {
  const Remade again = layer.again;
  if (again.operators) {
    const double kept = kept_by_layer(layer);
    layer.again = {};
    return kept_by_layer(layer) - kept;
  }
  double bytes = again.norms ? norm_outputs(layer) : 0.0;
  bytes += drops_activation(layer) ? activation_kept(layer) : 0.0;
  if (again.latent_up) {
    bytes += layer.rank.element * layer.rank.query_elements() +
             (layer.rank.sparse ? 0.0 : kept_keys(layer.rank));
  }
  if (again.mlp || again.experts) {
    bytes += first_outputs(layer, layer.rank.element) + activation_kept(layer) +
             (layer.experts ? kept_by_routing(layer) : 0.0);
  }
  if (again.all) {
    layer.again = {};
    bytes += kept_by_layer(layer);
  }
  return bytes;
}

/// Gradients alive while the MLP runs backward; a mixture has those of its rows' outputs and what
/// the way to the experts holds too.
double mlp_gradients(const CountedLayer& layer) {
  if (!layer.kind.mlp) {
    return 0;
  }
  const double element = layer.rank.element;
  double bytes = element * (1.0 + gates(layer.model)) * activation_elements(layer);
  if (layer.experts) {
    const double rows = layer.experts->rows() + layer.experts->sent();
    bytes += element * rows * static_cast<double>(layer.experts->width);
  }
  return bytes;
}

/// Gradients of attention's output and of queries, keys and values, and what its exchange holds.
double attention_gradients(const CountedLayer& layer) {
  if (!layer.kind.attends()) {
    return 0;
  }
  const RankShape& shape = layer.rank;
  double bytes = shape.element * (shape.output_elements() + shape.query_elements()) +
                 key_value_block(shape).si();
  bytes += shape.attention_gate ? shape.element * shape.output_elements() : 0.0;
  if (shape.sparse && shape.sparse->indexer) {  // fp32 scores of the indexer, forward
    bytes += 4.0 * static_cast<double>(shape.tokens) * shape.sparse->all_keys;
  }
  bytes += native_gradients(shape);
  if (!layer.framework.fuses_attention()) {
    // Gradients of probabilities and of scores.
    bytes += (shape.element + (wide_softmax(layer) ? 4.0 : shape.element)) * shape.scores();
    bytes += layer.again.core_attention ? score_bytes(layer) : 0.0;
  }
  return bytes + exchange_buffers(shape);
}

CountedLayer counted_layer(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism,
                           const LayerKind& kind) {
  CountedLayer layer{model,
                     in_its_format(training).framework,
                     rank_shape(model, training, parallelism, kind),
                     {},
                     remade(training.framework, parallelism, kind),
                     kind,
                     kept_inputs(model, kind.learning)};
  if (kind.experts) {
    layer.experts = expert_shape(model, training, parallelism, layer.rank, 1);
  }
  layer.adapters = kept_by_adapters(model, parallelism, layer.rank,
                                    layer.experts ? &*layer.experts : nullptr, kind);
  return layer;
}

}  // namespace

double kept_by_head(const ModelSpec& model, const RankShape& shape) {
  return (head_trained(model) ? 2.0 : 1.0) * shape.element * shape.split_stream();
}

double kept_by_prediction(const RankShape& shape) {
  return (2.0 * shape.element + 2.0 * operand_bytes(shape.linear)) * shape.split_stream();
}

double kept_by_embedding(const RankShape& shape) {
  return shape.dropout ? shape.split_stream() : 0.0;
}

double logit_array(const RankShape& shape) {
  return shape.element * tokens_times(shape, shape.vocabulary);
}

Bytes saved_per_layer(const ModelSpec& model,
                      const TrainingSpec& training,
                      const ParallelismSpec& parallelism,
                      const LayerKind& kind) {
  return Bytes(kept_by_layer(counted_layer(model, training, parallelism, kind)));
}

Bytes backward_working_set(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism,
                           const LayerKind& kind) {
  if (kind.learning == Learning::still) {
    return Bytes(0);
  }
  const CountedLayer layer = counted_layer(model, training, parallelism, kind);
  const RankShape& shape = layer.rank;
  // Sequence parallelism: the gathered input and the not yet scattered gradient of a layer split by
  // columns.
  const double gathered = (shape.gathers ? 2.0 : 1.0) * shape.element * shape.stream();
  const double mixing =
      attention_gradients(layer) +
      (layer.kind.mixes() ? mixer_gradients(shape) * static_cast<double>(shape.tokens) : 0.0);
  return Bytes(gathered + std::max(mlp_gradients(layer), mixing) + made_again(layer));
}

namespace {

Bytes label_logits(const RankShape& shape, const TrainingSpec& training) {
  const double count = tokens_times(shape, shape.vocabulary);
  switch (training.framework.loss) {
    case Loss::fused:
      return Bytes(logit_array(shape));
    case Loss::in_place:  // the fp32 probabilities too
      return Bytes(logit_array(shape) + 4.0 * count);
    case Loss::copied:  // the probabilities alone
      return Bytes(4.0 * count);
    case Loss::separate:  // the model's output, which its caller has, and the logarithms
      return Bytes(logit_array(shape) + 4.0 * count);
  }
  return {};
}

Bytes label_logit_gradients(const RankShape& shape, const TrainingSpec& training) {
  const double count = tokens_times(shape, shape.vocabulary);
  switch (training.framework.loss) {
    case Loss::fused:
    case Loss::in_place:
      break;
    case Loss::copied:  // of the forward pass: logits, and in fp32 before they are copied
      return Bytes(logit_array(shape) + 4.0 * count);
    // The gradient of the logarithms and that of fp32 logits at a time; over tensor ranks the
    // probabilities too. Source: torch/distributed/tensor/parallel/loss.py, loss_parallel.
    case Loss::separate:
      return Bytes((shape.tensor > 1 ? 12.0 : 8.0) * count);
  }
  return Bytes(logit_array(shape));
}

}  // namespace

Bytes logits_bytes(const ModelSpec& model,
                   const TrainingSpec& training,
                   const ParallelismSpec& parallelism) {
  const RankShape shape = rank_shape(model, training, parallelism);
  const Bytes labels = compares_labels(training) ? label_logits(shape, training) : Bytes(0);
  return training.distillation ? labels + Bytes(kept_by_distillation(shape, training)) : labels;
}

Bytes logit_gradient_bytes(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism) {
  const RankShape shape = rank_shape(model, training, parallelism);
  const Bytes labels =
      compares_labels(training) ? label_logit_gradients(shape, training) : Bytes(0);
  return training.distillation ? std::max(labels, Bytes(passing_by_distillation(shape, training)))
                               : labels;
}

std::vector<core::ModelConstant> activation_constants() {
  return {{"workload.narrow_output_bytes", kNarrowOutput, "B", 0,
           "E5M6: DeepSeek-V3 Technical Report (arXiv 2412.19437), section 3.3.3"}};
}

}  // namespace headway::workload
