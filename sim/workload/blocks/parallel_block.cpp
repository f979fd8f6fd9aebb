#include "sim/workload/blocks/parallel_block.h"

#include "sim/workload/attention/attention_blocks.h"
#include "sim/workload/blocks/kernels.h"

namespace headway::workload {

namespace {

void write_norms(BlockWriter& writer, const BlockInput& input) {
  for (int i = 0; i < input.model.norms; ++i) {
    writer.compute(norm_forward(input.model, input.shape, input.training.framework));
  }
}

/// Sum of the halves' whole arrays: the later product adds to the result of the earlier one, or a
/// kernel of its own does.
core::Kernel add_halves(const BlockInput& input) {
  const double arrays = input.training.framework.fuses_elementwise() ? 1.0 : 3.0;
  return memory_kernel("add halves", arrays * input.shape.element * input.shape.stream());
}

/// What backward needs of the MLP and did not keep.
void write_again(BlockWriter& writer, const BlockInput& input, const Remade& again) {
  const LayerLinears linears = layer_linears(input.model, input.shape);
  if (again.norms) {
    write_norms(writer, input);
  }
  if (again.mlp) {
    tensor_region(writer, input).forward_columns(linears.mlp_in);
  }
  if (again.mlp || again.activation) {
    writer.compute(
        activation_forward(input.model, mlp_output(input.shape), input.training.framework));
  }
}

/// From the gradients of queries, keys, values and the MLP's first outputs to that of the input.
void write_columns_backward(BlockWriter& writer,
                            const BlockInput& input,
                            const LayerLinears& linears,
                            const BackwardMode& mode) {
  TensorRegion region = tensor_region(writer, input);
  if (input.model.norms > 1) {
    region.backward_columns(linears.mlp_in, mode);
    region.backward_columns(linears.qkv, mode);
    return;
  }
  if (mode.passes()) {
    writer.compute(input_gradient(linears.mlp_in));
    writer.compute(add_halves(input));
  }
  region.backward_columns(linears.qkv, mode);
  if (mode.weights()) {
    writer.compute(weight_gradient(linears.mlp_in, mode.gradients));
  }
}

}  // namespace

void write_parallel_forward(BlockWriter& writer, const BlockInput& input) {
  const LayerLinears linears = layer_linears(input.model, input.shape);
  const FrameworkSpec& framework = input.training.framework;
  TensorRegion region = tensor_region(writer, input);
  write_norms(writer, input);
  region.forward_columns(linears.qkv);
  writer.compute(query_key_norms(input.model, input.shape, input.training.framework, false));
  writer.compute(rotary(input.model, input.shape, input.training.framework, false));
  write_core_attention_forward(writer, input.shape, framework);
  if (input.model.norms > 1) {
    region.forward_columns(linears.mlp_in);
  } else {
    writer.compute(forward_product(linears.mlp_in));
  }
  writer.compute(activation_forward(input.model, mlp_output(input.shape), framework));
  writer.compute(forward_product(linears.projection));
  writer.compute(add_halves(input));
  region.forward_rows(linears.mlp_out);
  writer.compute(residual_forward(input.model, input.shape, framework));
}

void write_parallel_backward(BlockWriter& writer,
                             const BlockInput& input,
                             const Remade& again,
                             const BackwardMode& mode) {
  const LayerLinears linears = layer_linears(input.model, input.shape);
  const FrameworkSpec& framework = input.training.framework;
  const bool chain = mode.passes();
  if (chain) {
    writer.compute(residual_backward(input.shape));
    write_again(writer, input, again);
  }
  tensor_region(writer, input).backward_rows(linears.mlp_out, mode);
  if (chain) {
    writer.compute(activation_backward(input.model, mlp_output(input.shape), framework));
    writer.compute(input_gradient(linears.projection));
  }
  if (mode.weights()) {
    writer.compute(weight_gradient(linears.projection, mode.gradients));
  }
  if (chain) {
    if (again.core_attention) {
      write_core_attention_forward(writer, input.shape, framework);
    }
    write_core_attention_backward(writer, input.shape, framework);
    writer.compute(rotary(input.model, input.shape, input.training.framework, true));
    writer.compute(query_key_norms(input.model, input.shape, input.training.framework, true));
  }
  write_columns_backward(writer, input, linears, mode);
  for (int i = 0; chain && i < input.model.norms; ++i) {
    writer.compute(norm_backward(input.model, input.shape, framework));
  }
}

}  // namespace headway::workload
