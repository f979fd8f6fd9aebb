#include "sim/workload/layer_blocks.h"

#include "sim/workload/attention_blocks.h"
#include "sim/workload/block_writer.h"
#include "sim/workload/kernels.h"
#include "sim/workload/rank_parameters.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

BackwardMode backward_mode(const BlockInput& input, BackwardPart part) {
  const bool sharded = shards_gradients(input.parallelism.sharding);
  return {part, gradient_traffic(input.training.framework, sharded)};
}

void write_layer_forward(BlockWriter& writer, const BlockInput& input) {
  const auto& [model, training, parallelism, shape] = input;
  const FrameworkSpec& framework = training.framework;
  const LayerLinears linears = layer_linears(model, shape);
  TensorRegion region(writer, shape, framework.tensor_overlap);
  writer.compute(norm_forward(shape));
  region.forward_columns(linears.qkv);
  writer.compute(rotary(model, shape));
  write_core_attention_forward(writer, shape, framework);
  region.forward_rows(linears.projection);
  writer.compute(residual_forward(model, shape, framework));
  writer.compute(norm_forward(shape));
  region.forward_columns(linears.mlp_in);
  writer.compute(activation_forward(model, shape, framework));
  region.forward_rows(linears.mlp_out);
  writer.compute(residual_forward(model, shape, framework));
}

/// Whether backward makes outputs of norms and activations again; with full recompute they are
/// there anyway.
bool remakes_elementwise(const BlockInput& input, BackwardPart part) {
  return input.training.framework.recompute_elementwise &&
         input.parallelism.recompute != Recompute::full && part != BackwardPart::weight_gradient;
}

void write_mlp_backward(BlockWriter& writer,
                        TensorRegion& region,
                        const BlockInput& input,
                        const LayerLinears& linears,
                        BackwardPart part) {
  const FrameworkSpec& framework = input.training.framework;
  const BackwardMode mode = backward_mode(input, part);
  const bool chain = part != BackwardPart::weight_gradient;
  if (chain) {
    writer.compute(residual_backward(input.shape));
  }
  if (remakes_elementwise(input, part)) {
    writer.compute(norm_forward(input.shape));
    writer.compute(activation_forward(input.model, input.shape, framework));
  }
  region.backward_rows(linears.mlp_out, mode);
  if (chain) {
    writer.compute(activation_backward(input.model, input.shape, framework));
  }
  region.backward_columns(linears.mlp_in, mode);
  if (chain) {
    writer.compute(norm_backward(input.shape, framework));
  }
}

void write_attention_backward(BlockWriter& writer,
                              TensorRegion& region,
                              const BlockInput& input,
                              const LayerLinears& linears,
                              BackwardPart part) {
  const FrameworkSpec& framework = input.training.framework;
  const BackwardMode mode = backward_mode(input, part);
  const bool chain = part != BackwardPart::weight_gradient;
  if (chain) {
    writer.compute(residual_backward(input.shape));
  }
  region.backward_rows(linears.projection, mode);
  if (chain) {
    if (input.parallelism.recompute == Recompute::selective) {
      write_core_attention_forward(writer, input.shape, framework);
    }
    write_core_attention_backward(writer, input.shape, framework);
    writer.compute(rotary(input.model, input.shape));
  }
  if (remakes_elementwise(input, part)) {
    writer.compute(norm_forward(input.shape));
  }
  region.backward_columns(linears.qkv, mode);
  if (chain) {
    writer.compute(norm_backward(input.shape, framework));
  }
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

Block layer_forward(const BlockInput& input) {
  BlockWriter writer("layer forward");
  write_layer_forward(writer, input);
  return writer.finish(Activity::tensor);
}

Block layer_backward(const BlockInput& input, BackwardPart part) {
  BlockWriter writer(part == BackwardPart::whole            ? "layer backward"
                     : part == BackwardPart::input_gradient ? "layer input gradient"
                                                            : "layer weight gradient");
  if (input.parallelism.recompute == Recompute::full && part != BackwardPart::weight_gradient) {
    write_layer_forward(writer, input);
  }
  const LayerLinears linears = layer_linears(input.model, input.shape);
  TensorRegion region(writer, input.shape, input.training.framework.tensor_overlap);
  write_mlp_backward(writer, region, input, linears, part);
  write_attention_backward(writer, region, input, linears, part);
  return writer.finish(Activity::tensor);
}

Block embedding_forward(const BlockInput& input) {
  BlockWriter writer("embedding forward");
  TensorRegion region(writer, input.shape, false);
  writer.compute(memory_kernel("embedding", 4.0 * input.shape.stream()));
  region.reduce("embedding reduce");
  if (input.model.learned_positions > 0) {
    writer.compute(memory_kernel("positions", 6.0 * input.shape.split_stream()));
  }
  if (input.shape.dropout) {
    writer.compute(memory_kernel("dropout", 5.0 * input.shape.split_stream()));
  }
  return writer.finish();
}

Block embedding_backward(const BlockInput& input) {
  BlockWriter writer("embedding backward");
  TensorRegion region(writer, input.shape, false);
  writer.compute(residual_backward(input.shape));
  region.gather("embedding gather");
  // Each token's gradient is read and added to a row of the gradient buffer.
  const double bytes = 2.0 + 2.0 * input.training.framework.gradient_bytes;
  writer.compute(memory_kernel("embedding", bytes * input.shape.stream()));
  return writer.finish();
}

Block head_forward(const BlockInput& input) {
  BlockWriter writer("head forward");
  const FrameworkSpec& framework = input.training.framework;
  TensorRegion region(writer, input.shape, false);
  writer.compute(norm_forward(input.shape));
  region.forward_columns(layer_linears(input.model, input.shape).head);
  writer.compute(cross_entropy_forward(input.shape, framework));
  reduce_statistics(writer, input.shape, framework.fused_cross_entropy);
  return writer.finish();
}

Block head_backward(const BlockInput& input) {
  BlockWriter writer("head backward");
  const FrameworkSpec& framework = input.training.framework;
  TensorRegion region(writer, input.shape, framework.tensor_overlap);
  writer.compute(cross_entropy_backward(input.shape, framework));
  region.backward_columns(layer_linears(input.model, input.shape).head,
                          backward_mode(input, BackwardPart::whole));
  writer.compute(norm_backward(input.shape, framework));
  return writer.finish(Activity::tensor);
}

}  // namespace headway::workload
