#include "sim/workload/rank_shape.h"

#include <algorithm>

#include "sim/workload/closed_form.h"

namespace headway::workload {

double operand_bytes(core::Precision precision) {
  switch (precision) {
    case core::Precision::fp32:
    case core::Precision::tf32:
      return 4;
    case core::Precision::bf16:
    case core::Precision::fp16:
      return 2;
    case core::Precision::fp8:
      return 1;
    case core::Precision::mxfp8:
      return 33.0 / 32.0;  // one scale byte in a block of 32
    case core::Precision::nvfp4:
      return 9.0 / 16.0;  // half a byte, one scale byte in a block of 16
  }
  return 2;
}

bool narrow(core::Precision precision) { return operand_bytes(precision) < 2; }

RankShape rank_shape(const ModelSpec& model,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism,
                     bool windowed) {
  RankShape shape;
  const int t = parallelism.tensor;
  shape.tensor = t;
  shape.gathers = parallelism.sequence && t > 1;
  shape.sequence = training.sequence_length / parallelism.context;
  shape.context = parallelism.context;
  shape.context_kind = parallelism.context_kind;
  shape.micro_batch = parallelism.micro_batch;
  shape.tokens = shape.sequence * shape.micro_batch;
  shape.split_tokens = shape.gathers ? shape.tokens / t : shape.tokens;
  shape.hidden = model.hidden;
  shape.heads = model.heads / t;
  shape.key_value_heads = std::max(1, model.key_value_heads / t);
  shape.head_dim = model.head_dim;
  shape.value_dim = model.head_dim;
  if (model.latent) {
    shape.head_dim = model.latent->no_rope_dim + model.latent->rope_dim;
    shape.value_dim = model.latent->value_dim;
    shape.query_rank = model.latent->query_rank;
    shape.key_rank = model.latent->key_value_rank;
    shape.rope_dim = model.latent->rope_dim;
  }
  const AttentionWindow window = windowed ? window_of(model) : AttentionWindow{};
  shape.mean_keys = mean_causal_keys(training, window);
  shape.packed = !training.documents.empty();
  if (shape.context > 1 && shape.context_kind == ContextKind::ring) {
    shape.ring = ring_steps(training, shape.context, window);
  }
  shape.ffn = model.ffn / t;
  shape.vocabulary = (model.vocabulary + t - 1) / t;
  shape.dropout = model.dropout.value_or(model.biases);
  shape.linear = training.precision;
  shape.wide =
      training.precision == core::Precision::fp16 ? core::Precision::fp16 : core::Precision::bf16;
  return shape;
}

}  // namespace headway::workload
