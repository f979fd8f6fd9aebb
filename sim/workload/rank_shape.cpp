#include "sim/workload/rank_shape.h"

#include <algorithm>

#include "sim/workload/attention/attention_heads.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/trained/trained_parameters.h"

namespace headway::workload {

namespace {

/// Attention and logits beside narrow linear layers run in bf16.
core::Precision wide_format(core::Precision precision) {
  return narrow(precision) ? core::Precision::bf16 : precision;
}

/// Formats with a scale a block have no other, but of software whose casts make both directions at
/// once.
Scaling scaling_of(const TrainingSpec& training) {
  const bool blocks =
      training.precision == core::Precision::mxfp8 || training.precision == core::Precision::nvfp4;
  const Scaling scaling = training.framework.scaling;
  return blocks && scaling != Scaling::delayed ? Scaling::block : scaling;
}

void set_latent(const LatentAttentionSpec& latent, RankShape& shape) {
  shape.head_dim = latent.no_rope_dim + latent.rope_dim;
  shape.value_dim = latent.value_dim;
  shape.query_rank = latent.query_rank;
  shape.key_rank = latent.key_value_rank;
  shape.rope_dim = latent.rope_dim;
  shape.no_rope_dim = latent.no_rope_dim;
  shape.head_values = latent.value_dim;
}

void set_formats(const TrainingSpec& training, bool sixteen_bit, RankShape& shape) {
  const core::Precision linear = sixteen_bit ? wide_format(training.precision) : training.precision;
  shape.linear = linear;
  shape.wide = wide_format(training.precision);
  shape.element = element_bytes(training.precision);
  shape.scaling = scaling_of(training);
  shape.nvfp4 = narrow(linear) ? training.nvfp4 : std::nullopt;
  // Only one scale for all is known before the rows and blocks of a weight have met.
  const bool single = shape.scaling == Scaling::tensor || shape.scaling == Scaling::delayed;
  shape.narrow_gathers = training.framework.narrow_gathers && single && narrow(linear);
}

}  // namespace

RankShape rank_shape(const ModelSpec& model,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism,
                     const LayerKind& kind) {
  RankShape shape;
  const int t = parallelism.tensor;
  shape.tensor = t;
  shape.gathers = parallelism.sequence && t > 1;
  shape.keeps_gathered = shape.gathers && training.framework.allocation.gathered_inputs;
  shape.sequence = training.sequence_length / parallelism.context;
  shape.context = parallelism.context;
  shape.context_kind = parallelism.context_kind;
  shape.micro_batch = parallelism.micro_batch;
  shape.tokens = shape.sequence * shape.micro_batch;
  shape.split_tokens = shape.gathers ? shape.tokens / t : shape.tokens;
  shape.hidden = model.hidden;
  const AttentionHeads heads = attention_heads(model, kind);
  shape.heads = heads.query / t;
  shape.key_value_heads = std::max(1, heads.key_value / t);
  shape.key_projections = heads.projections;
  shape.head_dim = heads.dim;
  shape.value_dim = heads.value_dim;
  if (model.latent) {
    set_latent(*model.latent, shape);
  }
  AttentionWindow window = kind.windowed ? window_of(model) : AttentionWindow{};
  if (model.sparse && model.latent) {
    window = model.sparse->top_k;
    shape.sparse = {model.sparse->index_heads, model.sparse->index_dim, model.sparse->top_k,
                    mean_causal_keys(training, AttentionWindow{}), !kind.reuses};
    shape.key_value_heads = 1;
    shape.head_dim = shape.key_rank + shape.rope_dim;
    shape.value_dim = shape.key_rank;
  }
  if (model.native_sparse) {
    shape.value_dim = native_value_dim(*model.native_sparse, model.head_dim);
    shape.native = native_shape(*model.native_sparse, training.sequence_length);
    shape.key_sets = kNativeBranches;
  }
  shape.bidirectional = model.bidirectional;
  shape.mean_keys = model.bidirectional ? 2.0 * mean_document_keys(training.documents, window)
                                        : mean_causal_keys(training, window);
  shape.packed = !training.documents.empty();
  if (shape.context > 1 && shape.context_kind == ContextKind::ring) {
    shape.ring = ring_steps(training, shape.context, window);
  }
  shape.ffn = model.ffn / t;
  shape.vocabulary = (model.vocabulary + t - 1) / t;
  shape.dropout = model.dropout.value_or(model.biases);
  set_formats(training, kind.sixteen_bit, shape);
  shape.separate_projections = training.framework.separate_projections;
  shape.joined_sums = training.framework.elementwise == Elementwise::compiled;
  shape.attention_gate = model.attention_gate;
  if (model.adapters && model.adapters->base == BaseWeights::nf4) {
    shape.widening = kDequantiseBytes;
  }
  if (model.mixer) {
    shape.mixer = mixer_shape(*model.mixer, t, training.sequence_length);
  }
  return shape;
}

}  // namespace headway::workload
