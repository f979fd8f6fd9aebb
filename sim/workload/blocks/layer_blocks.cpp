#include "sim/workload/blocks/layer_blocks.h"

#include "sim/workload/attention/attention_blocks.h"
#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/blocks/expert_blocks.h"
#include "sim/workload/blocks/kernels.h"
#include "sim/workload/blocks/parallel_block.h"
#include "sim/workload/latent/latent_blocks.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/mixer/mixer_blocks.h"
#include "sim/workload/native/native_blocks.h"
#include "sim/workload/teacher/distillation_loss.h"
#include "sim/workload/trained/adapter_blocks.h"
#include "sim/workload/vision/image_places.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

BackwardMode backward_mode(const BlockInput& input, BackwardPart part) {
  const bool sharded = reduces_every_micro_batch(input.training.framework, input.parallelism);
  return {part, gradient_traffic(input.training.framework, input.shape.element, sharded),
          input.learning == Learning::weights};
}

/// From the norm's output to queries, keys and values.
void write_attention_input_forward(BlockWriter& writer, const BlockInput& input) {
  if (input.shape.latent()) {
    write_latent_input_forward(writer, input);
    return;
  }
  tensor_region(writer, input).forward_columns(layer_linears(input.model, input.shape).qkv);
  write_adapters_forward(writer, input, AdapterPlace::attention_in);
  writer.compute(query_key_norms(input.model, input.shape, input.training.framework, false));
  writer.compute(rotary(input.model, input.shape, input.training.framework, false));
  write_compression_forward(writer, input);
}

void write_attention_input_backward(BlockWriter& writer,
                                    const BlockInput& input,
                                    const BackwardMode& mode) {
  if (input.shape.latent()) {
    write_latent_input_backward(writer, input, mode);
  } else {
    write_adapters_backward(writer, input, AdapterPlace::attention_in, mode);
    tensor_region(writer, input)
        .backward_columns(layer_linears(input.model, input.shape).qkv, mode);
  }
}

void write_mlp_forward(BlockWriter& writer, const BlockInput& input) {
  const LayerLinears linears = layer_linears(input.model, input.shape);
  TensorRegion region = tensor_region(writer, input);
  region.forward_columns(linears.mlp_in);
  write_adapters_forward(writer, input, AdapterPlace::mlp_in);
  writer.compute(
      activation_forward(input.model, mlp_output(input.shape), input.training.framework));
  region.forward_rows(linears.mlp_out);
  write_adapters_forward(writer, input, AdapterPlace::mlp_out);
}

void write_second_half_forward(BlockWriter& writer,
                               const BlockInput& input,
                               bool experts,
                               const std::vector<int>& dispatch) {
  if (experts) {
    write_experts_forward(writer, input, dispatch);
  } else {
    write_mlp_forward(writer, input);
  }
}

/// Whether each half's output passes a norm before it joins the residual stream.
bool norms_outputs(const ModelSpec& model) { return model.norms > 2; }

/// From a half's output, reduced, to the residual stream.
void write_half_end_forward(BlockWriter& writer, const BlockInput& input) {
  if (norms_outputs(input.model)) {
    writer.compute(norm_forward(input.model, input.shape, input.training.framework));
  }
  writer.compute(residual_forward(input.model, input.shape, input.training.framework));
}

void write_half_end_backward(BlockWriter& writer, const BlockInput& input) {
  writer.compute(residual_backward(input.shape));
  if (norms_outputs(input.model)) {
    writer.compute(output_norm_backward(input.model, input.shape, input.training.framework));
  }
}

/// From the norm's output to the first half's, reduced.
void write_mixing_forward(BlockWriter& writer, const BlockInput& input, Mixing mixing) {
  switch (mixing) {
    case Mixing::none:
      break;
    case Mixing::attention:
      write_attention_input_forward(writer, input);
      write_core_attention_forward(writer, input.shape, input.training.framework);
      write_latent_expand_forward(writer, input);
      writer.compute(attention_gate(input.shape, false));
      tensor_region(writer, input).forward_rows(layer_linears(input.model, input.shape).projection);
      write_adapters_forward(writer, input, AdapterPlace::attention_out);
      break;
    case Mixing::mixer:
      write_mixer_forward(writer, input);
      break;
    case Mixing::both:
      write_hybrid_forward(writer, input);
      break;
  }
}

void write_layer_forward(BlockWriter& writer, const BlockInput& input, const LayerKind& kind) {
  const ModelSpec& model = input.model;
  writer.pass_layer();
  if (model.parallel_block) {
    write_parallel_forward(writer, input);
    return;
  }
  const RankShape& shape = input.shape;
  const FrameworkSpec& framework = input.training.framework;
  const std::vector<int> dispatch =
      kind.experts ? start_dispatch(writer, input) : std::vector<int>{};
  writer.replay((kind.experts || !kind.mlp) && framework.attention_graphs);
  if (kind.mixing != Mixing::none) {
    writer.compute(norm_forward(input.model, shape, framework));
    write_mixing_forward(writer, input, kind.mixing);
    write_half_end_forward(writer, input);
  }
  if (kind.mlp) {
    writer.compute(norm_forward(input.model, shape, framework));
    write_second_half_forward(writer, input, kind.experts, dispatch);
    write_half_end_forward(writer, input);
  }
}

void write_mlp_backward(BlockWriter& writer, const BlockInput& input, const BackwardMode& mode) {
  const LayerLinears linears = layer_linears(input.model, input.shape);
  TensorRegion region = tensor_region(writer, input);
  region.backward_rows(linears.mlp_out, mode);
  write_adapters_backward(writer, input, AdapterPlace::mlp_out, mode);
  if (mode.part != BackwardPart::weight_gradient) {
    writer.compute(
        activation_backward(input.model, mlp_output(input.shape), input.training.framework));
  }
  write_adapters_backward(writer, input, AdapterPlace::mlp_in, mode);
  region.backward_columns(linears.mlp_in, mode);
}

/// Bytes of the activation's output that backward makes again.
double remade_output(const BlockInput& input, const LayerKind& kind) {
  if (!kind.experts) {
    return mlp_output(input.shape);
  }
  const ExpertShape& shape = *input.experts;
  return input.shape.element * (shape.rows() * static_cast<double>(shape.ffn) +
                                static_cast<double>(input.shape.tokens * shape.shared_ffn));
}

/// What the second half of a layer makes again before its gradients.
void write_second_half_again(BlockWriter& writer,
                             const BlockInput& input,
                             const LayerKind& kind,
                             const Remade& again) {
  if (again.norms || (again.operators && kind.experts)) {
    writer.compute(norm_forward(input.model, input.shape, input.training.framework));
  }
  if (again.mlp || again.experts) {
    write_second_half_forward(writer, input, kind.experts,
                              kind.experts ? start_dispatch(writer, input) : std::vector<int>{});
  } else if (again.activation) {
    const double output = remade_output(input, kind);
    writer.compute(kind.experts
                       ? expert_activation(input, output, false)
                       : activation_forward(input.model, output, input.training.framework));
  }
}

/// All of a layer that does not stay with every second product: keys, the projection (where its
/// reduction does not stay in its place), norms, the part of the MLP beside the gate.
void write_operators_again(BlockWriter& writer, const BlockInput& input, const LayerKind& kind) {
  const ModelSpec& model = input.model;
  const RankShape& shape = input.shape;
  const FrameworkSpec& framework = input.training.framework;
  LayerLinears linears = layer_linears(model, shape);
  TensorRegion region = tensor_region(writer, input);
  writer.compute(norm_forward(model, shape, framework));
  linears.qkv.outputs = shape.key_value_heads * shape.head_dim;
  linears.qkv.parts = {};
  region.forward_columns(linears.qkv);
  writer.compute(query_key_norms(model, shape, framework, false));
  writer.compute(rotary(model, shape, framework, false));
  if (shape.tensor == 1) {
    writer.compute(forward_product(linears.projection));
  }
  write_half_end_forward(writer, input);
  if (kind.experts) {
    return;
  }
  writer.compute(norm_forward(model, shape, framework));
  if (model.gated_mlp) {
    linears.mlp_in.outputs = shape.ffn;
    linears.mlp_in.parts = {};
    region.forward_columns(linears.mlp_in);
  }
  writer.compute(activation_forward(model, mlp_output(shape), framework));
}

/// Second half of a layer, from its output to the residual stream between the halves.
void write_second_half_backward(BlockWriter& writer,
                                const BlockInput& input,
                                const LayerKind& kind,
                                const Remade& again,
                                BackwardPart part) {
  const BackwardMode mode = backward_mode(input, part);
  const bool chain = part != BackwardPart::weight_gradient;
  if (chain) {
    write_half_end_backward(writer, input);
    write_second_half_again(writer, input, kind, again);
  }
  if (kind.experts) {
    write_experts_backward(writer, input, mode);
  } else {
    write_mlp_backward(writer, input, mode);
  }
  if (chain) {
    writer.compute(norm_backward(input.model, input.shape, input.training.framework));
  }
}

void write_attention_backward(BlockWriter& writer,
                              const BlockInput& input,
                              const Remade& again,
                              BackwardPart part) {
  const FrameworkSpec& framework = input.training.framework;
  const BackwardMode mode = backward_mode(input, part);
  const bool chain = part != BackwardPart::weight_gradient;
  tensor_region(writer, input)
      .backward_rows(layer_linears(input.model, input.shape).projection, mode);
  write_adapters_backward(writer, input, AdapterPlace::attention_out, mode);
  write_latent_expand_backward(writer, input, mode);
  if (chain) {
    writer.compute(attention_gate(input.shape, true));
    if (again.latent_up && input.shape.latent()) {
      write_latent_up_forward(writer, input);
    }
    write_native_gather(writer, input);
    if (again.core_attention) {
      write_core_attention_forward(writer, input.shape, framework);
    }
    write_core_attention_backward(writer, input.shape, framework);
    writer.compute(rotary(input.model, input.shape, input.training.framework, true));
    writer.compute(query_key_norms(input.model, input.shape, input.training.framework, true));
    if (!input.shape.latent()) {
      writer.compute(joined_head_gradients(input.shape, framework));
    }
  }
  write_indexer_backward(writer, input, mode);
  write_compression_backward(writer, input, mode);
  if (chain) {
    if (again.norms) {
      writer.compute(norm_forward(input.model, input.shape, input.training.framework));
    }
  }
  write_attention_input_backward(writer, input, mode);
}

/// First half of a layer, from the residual stream between the halves to the layer's input.
void write_first_half_backward(BlockWriter& writer,
                               const BlockInput& input,
                               const LayerKind& kind,
                               const Remade& again,
                               BackwardPart part) {
  const bool chain = part != BackwardPart::weight_gradient;
  const FrameworkSpec& framework = input.training.framework;
  if (chain) {
    write_half_end_backward(writer, input);
  }
  if (kind.mixing == Mixing::attention) {
    write_attention_backward(writer, input, again, part);
  } else {
    if (chain && again.norms) {
      writer.compute(norm_forward(input.model, input.shape, framework));
    }
    const BackwardMode mode = backward_mode(input, part);
    if (kind.mixing == Mixing::mixer) {
      write_mixer_backward(writer, input, mode);
    } else {
      write_hybrid_backward(writer, input, again.core_attention, mode);
    }
  }
  if (chain) {
    writer.compute(norm_backward(input.model, input.shape, framework));
  }
}

/// The input of a layer's blocks with the shape of its kind.
BlockInput of_kind(const BlockInput& input, const LayerKind& kind) {
  BlockInput own = input;
  own.shape = rank_shape(input.model, input.training, input.parallelism, kind);
  own.learning = kind.learning;
  return own;
}

/// One fp32 value a token, reduced over the vocabulary's parts.
void reduce_statistics(BlockWriter& writer, const RankShape& shape, bool fused) {
  if (shape.tensor == 1) {
    return;
  }
  const Bytes one(4.0 * static_cast<double>(shape.tokens));
  writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor, one,
                    "loss maximum");
  if (fused) {
    // Sum and target logit travel together.
    writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor, 2.0 * one,
                      "loss sum");
    return;
  }
  writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor, one,
                    "loss target");
  writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor, one, "loss sum");
}

}  // namespace

Block layer_forward(const BlockInput& input, const LayerKind& kind) {
  BlockWriter writer(kind_name(kind) + " forward");
  write_layer_forward(writer, of_kind(input, kind), kind);
  return writer.finish(Activity::tensor);
}

Block layer_backward(const BlockInput& input, const LayerKind& kind, BackwardPart part) {
  BlockWriter writer(kind_name(kind) + (part == BackwardPart::whole ? " backward"
                                        : part == BackwardPart::input_gradient
                                            ? " input gradient"
                                            : " weight gradient"));
  writer.replay(!kind.mlp && input.training.framework.attention_graphs);
  if (kind.learning == Learning::still) {
    return writer.finish();
  }
  const BlockInput own = of_kind(input, kind);
  const Remade again = remade(input.training.framework, input.parallelism, kind);
  if (again.all && part != BackwardPart::weight_gradient) {
    write_layer_forward(writer, own, kind);
  }
  if (again.operators && part != BackwardPart::weight_gradient) {
    write_operators_again(writer, own, kind);
  }
  if (part != BackwardPart::weight_gradient) {
    writer.pass_layer();
  }
  if (input.model.parallel_block) {
    write_parallel_backward(writer, own, again, backward_mode(own, part));
    return writer.finish(Activity::tensor);
  }
  if (kind.mlp) {
    write_second_half_backward(writer, own, kind, again, part);
  }
  if (kind.mixing != Mixing::none) {
    write_first_half_backward(writer, own, kind, again, part);
  }
  return writer.finish(Activity::tensor);
}

namespace {

/// Multi-token prediction joins the hidden state with the next token's embedding: 2h to h, columns
/// split.
Linear prediction_projection(const RankShape& shape) {
  return {"prediction projection", shape.tokens, shape.hidden / shape.tensor, 2 * shape.hidden,
          shape.linear};
}

}  // namespace

Block prediction_forward(const BlockInput& input) {
  BlockWriter writer("prediction forward");
  const RankShape& shape = input.shape;
  TensorRegion region(writer, shape, false);
  writer.compute(memory_kernel("embedding", 2.0 * shape.element * shape.stream()));
  region.reduce("embedding reduce");
  writer.compute(norm_forward(input.model, shape, input.training.framework));
  writer.compute(norm_forward(input.model, shape, input.training.framework));
  region.forward_columns(prediction_projection(shape));
  if (shape.tensor > 1) {
    writer.collective(CollectiveKind::all_gather, Group::tensor, Activity::tensor,
                      Bytes(shape.element * shape.stream()), "gather columns");
  }
  return writer.finish();
}

Block prediction_backward(const BlockInput& input) {
  BlockWriter writer("prediction backward");
  const RankShape& shape = input.shape;
  TensorRegion region(writer, shape, false);
  region.gather("gather gradient");
  region.backward_columns(prediction_projection(shape), backward_mode(input, BackwardPart::whole));
  writer.compute(norm_backward(input.model, shape, input.training.framework));
  writer.compute(norm_backward(input.model, shape, input.training.framework));
  region.gather("embedding gather");
  const double bytes = input.shape.element + 2.0 * input.training.framework.gradient_bytes;
  writer.compute(memory_kernel("embedding", bytes * shape.stream()));
  return writer.finish();
}

Block embedding_forward(const BlockInput& input) {
  BlockWriter writer("embedding forward");
  write_embedding_forward(writer, input);
  if (input.model.learned_positions > 0) {
    writer.compute(
        memory_kernel("positions", 3.0 * input.shape.element * input.shape.split_stream()));
  }
  if (input.shape.dropout) {
    writer.compute(
        memory_kernel("dropout", (2.0 * input.shape.element + 1.0) * input.shape.split_stream()));
  }
  return writer.finish();
}

Block embedding_backward(const BlockInput& input) {
  BlockWriter writer("embedding backward");
  const bool trained = embedding_trained(input.model);
  if (!trained && !encoder_trained(input.model)) {
    return writer.finish();
  }
  writer.compute(residual_backward(input.shape));
  write_embedding_input_backward(writer, input);
  if (!trained) {  // gradients of image tokens go on to their encoder
    return writer.finish();
  }
  // Each token's gradient is read and added to a row of the gradient buffer.
  const double bytes = input.shape.element + 2.0 * input.training.framework.gradient_bytes;
  const int parts =
      embeds_whole_sequences(input.model, input.parallelism) ? input.shape.context : 1;
  writer.compute(memory_kernel("embedding", bytes * parts * input.shape.stream()));
  return writer.finish();
}

namespace {

void write_head(BlockWriter& writer, const BlockInput& input) {
  TensorRegion region(writer, input.shape, false);
  writer.compute(norm_forward(input.model, input.shape, input.training.framework));
  region.forward_columns(layer_linears(input.model, input.shape).head);
}

}  // namespace

Block head_product(const BlockInput& input) {
  BlockWriter writer("head");
  write_head(writer, input);
  return writer.finish();
}

Block head_forward(const BlockInput& input) {
  BlockWriter writer("head forward");
  const FrameworkSpec& framework = input.training.framework;
  write_head(writer, input);
  if (compares_labels(input.training)) {
    writer.compute(cross_entropy_forward(input.shape, framework));
    reduce_statistics(writer, input.shape, framework.loss == Loss::fused);
  }
  write_distillation_forward(writer, input.shape, input.training);
  return writer.finish();
}

Block head_backward(const BlockInput& input) {
  BlockWriter writer("head backward");
  const FrameworkSpec& framework = input.training.framework;
  TensorRegion region(writer, input.shape, framework.tensor_overlap);
  write_distillation_backward(writer, input.shape, input.training);
  if (compares_labels(input.training)) {
    writer.compute(cross_entropy_backward(input.shape, framework));
  }
  BackwardMode mode = backward_mode(input, BackwardPart::whole);
  mode.trained = head_trained(input.model);
  region.backward_columns(layer_linears(input.model, input.shape).head, mode);
  writer.compute(norm_backward(input.model, input.shape, framework));
  return writer.finish(Activity::tensor);
}

}  // namespace headway::workload
