#include "sim/workload/mixer/mixer_blocks.h"

#include "sim/workload/attention/attention_blocks.h"
#include "sim/workload/mixer/mixer_kernels.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

/// One way of the trade of tokens for heads, `elements` a token.
void trade(BlockWriter& writer, const RankShape& shape, double elements, const char* name) {
  if (shape.context > 1) {
    writer.collective(CollectiveKind::all_to_all, Group::context, Activity::context,
                      Bytes(shape.element * static_cast<double>(shape.tokens) * elements), name);
  }
}

double output_elements(const RankShape& shape) {
  return static_cast<double>(shape.mixer->values());
}

/// Sum over tensor ranks of what each selected from its channels, or of its gradient.
void reduce_selection(BlockWriter& writer, const RankShape& shape, const char* name) {
  if (shape.tensor > 1) {
    const double elements = static_cast<double>(shape.tokens * shape.mixer->selection());
    writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor,
                      Bytes(shape.element * elements), name);
  }
}

/// From the convolution's output to steps, B and C.
void write_selection_forward(BlockWriter& writer, const RankShape& shape) {
  if (shape.mixer->selection() == 0) {
    return;
  }
  const MixerLinears linears = mixer_linears(shape);
  writer.compute(forward_product(linears.select));
  reduce_selection(writer, shape, "reduce mixer selection");
  writer.compute(selection_norms(shape, false));
  writer.compute(forward_product(linears.steps));
}

void write_selection_backward(BlockWriter& writer,
                              const RankShape& shape,
                              const BackwardMode& mode) {
  if (shape.mixer->selection() == 0) {
    return;
  }
  const MixerLinears linears = mixer_linears(shape);
  if (mode.passes()) {
    writer.compute(input_gradient(linears.steps));
    reduce_selection(writer, shape, "reduce mixer selection gradient");
    writer.compute(selection_norms(shape, true));
    writer.compute(input_gradient(linears.select));
  }
  if (mode.weights()) {
    writer.compute(weight_gradient(linears.steps, mode.gradients));
    writer.compute(weight_gradient(linears.select, mode.gradients));
  }
}

/// From the outputs of the first matrices to what the last multiplies.
void write_inside_forward(BlockWriter& writer, const RankShape& shape) {
  trade(writer, shape, exchanged_inputs(shape), "exchange mixer inputs");
  writer.compute(before_scan(shape, false));
  write_selection_forward(writer, shape);
  writer.compute(scan_kernel(shape, false));
  writer.compute(gated_norm(shape, false));
  trade(writer, shape, output_elements(shape), "exchange mixer output");
}

/// Of mamba1 without norms, whose fused pass keeps neither: the convolution's output and the steps.
void write_made_again(BlockWriter& writer, const RankShape& shape) {
  if (shape.mixer->selection() > 0 && !shape.mixer->norm) {
    writer.compute(before_scan(shape, false));
    writer.compute(forward_product(mixer_linears(shape).steps));
  }
}

/// What backward reads of the forward's arrays it has as they were exchanged.
void write_inside_backward(BlockWriter& writer, const RankShape& shape, const BackwardMode& mode) {
  if (mode.passes()) {
    trade(writer, shape, output_elements(shape), "exchange mixer output gradient");
    writer.compute(gated_norm(shape, true));
    write_made_again(writer, shape);
    writer.compute(scan_kernel(shape, true));
  }
  write_selection_backward(writer, shape, mode);
  if (mode.passes()) {
    writer.compute(before_scan(shape, true));
    trade(writer, shape, exchanged_inputs(shape), "exchange mixer input gradients");
  }
}

std::int64_t gate_width(const RankShape& shape) { return 2 * shape.mixer->low_rank(); }

/// Decay and gate in two steps.
void write_gates_forward(BlockWriter& writer,
                         const BlockInput& input,
                         const MixerLinears& linears) {
  if (gate_width(input.shape) == 0) {
    return;
  }
  writer.compute(forward_product(linears.down));
  tensor_region(writer, input).gather("gather mixer gates", gate_width(input.shape));
  writer.compute(forward_product(linears.up));
}

void write_gates_backward(BlockWriter& writer,
                          const BlockInput& input,
                          const MixerLinears& linears,
                          const BackwardMode& mode) {
  if (gate_width(input.shape) == 0) {
    return;
  }
  TensorRegion region = tensor_region(writer, input);
  if (mode.passes()) {
    writer.compute(input_gradient(linears.up));
    region.reduce("reduce mixer gates", gate_width(input.shape));
    writer.compute(input_gradient(linears.down));
  }
  if (mode.weights()) {
    region.gather("re-gather mixer gates", gate_width(input.shape));
    writer.compute(weight_gradient(linears.up, mode.gradients));
    writer.compute(weight_gradient(linears.down, mode.gradients));
  }
}

/// Sum of the whole arrays of attention and mixer: the later product adds to the result of the
/// earlier one, or a kernel of its own does.
core::Kernel add_mixings(const BlockInput& input) {
  const double arrays = input.training.framework.fuses_elementwise() ? 1.0 : 3.0;
  return memory_kernel("add mixer", arrays * input.shape.element * input.shape.stream());
}

}  // namespace

void write_mixer_forward(BlockWriter& writer, const BlockInput& input) {
  const MixerLinears linears = mixer_linears(input.shape);
  TensorRegion region = tensor_region(writer, input);
  write_gates_forward(writer, input, linears);
  region.forward_columns(linears.in);
  write_inside_forward(writer, input.shape);
  region.forward_rows(linears.out);
}

void write_mixer_backward(BlockWriter& writer, const BlockInput& input, const BackwardMode& mode) {
  const MixerLinears linears = mixer_linears(input.shape);
  TensorRegion region = tensor_region(writer, input);
  region.backward_rows(linears.out, mode);
  write_inside_backward(writer, input.shape, mode);
  write_gates_backward(writer, input, linears, mode);
  region.backward_columns(linears.in, mode);
}

void write_hybrid_forward(BlockWriter& writer, const BlockInput& input) {
  const RankShape& shape = input.shape;
  const FrameworkSpec& framework = input.training.framework;
  const MixerLinears mixer = mixer_linears(shape);
  const LayerLinears linears = layer_linears(input.model, shape);
  TensorRegion region = tensor_region(writer, input);
  write_gates_forward(writer, input, mixer);
  region.forward_columns(linears.qkv);
  writer.compute(query_key_norms(input.model, shape, framework, false));
  writer.compute(rotary(input.model, shape, framework, false));
  write_core_attention_forward(writer, shape, framework);
  writer.compute(attention_gate(shape, false));
  writer.compute(forward_product(linears.projection));
  writer.compute(forward_product(mixer.in));
  write_inside_forward(writer, shape);
  writer.compute(add_mixings(input));
  region.forward_rows(mixer.out);
}

void write_hybrid_backward(BlockWriter& writer,
                           const BlockInput& input,
                           bool again,
                           const BackwardMode& mode) {
  const RankShape& shape = input.shape;
  const FrameworkSpec& framework = input.training.framework;
  const MixerLinears mixer = mixer_linears(shape);
  const LayerLinears linears = layer_linears(input.model, shape);
  const bool chain = mode.passes();
  TensorRegion region = tensor_region(writer, input);
  region.backward_rows(mixer.out, mode);
  write_inside_backward(writer, shape, mode);
  if (chain) {
    writer.compute(input_gradient(mixer.in));
    writer.compute(add_mixings(input));
    writer.compute(input_gradient(linears.projection));
    writer.compute(attention_gate(shape, true));
    if (again) {
      write_core_attention_forward(writer, shape, framework);
    }
    write_core_attention_backward(writer, shape, framework);
    writer.compute(rotary(input.model, shape, framework, true));
    writer.compute(query_key_norms(input.model, shape, framework, true));
  }
  if (mode.weights()) {
    writer.compute(weight_gradient(linears.projection, mode.gradients));
  }
  write_gates_backward(writer, input, mixer, mode);
  region.backward_columns(linears.qkv, mode);
  if (mode.weights()) {
    writer.compute(weight_gradient(mixer.in, mode.gradients));
  }
}

}  // namespace headway::workload
