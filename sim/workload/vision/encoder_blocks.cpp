#include "sim/workload/vision/encoder_blocks.h"

#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/blocks/kernels.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/vision/image_places.h"

namespace headway::workload {

EncoderBlocks::EncoderBlocks(const BlockInput& language)
    : language_(language.model),
      model_(encoder_model(language.model)),
      training_(encoder_training(language.model, language.training, language.parallelism)),
      parallelism_(encoder_layout(language.model, language.parallelism)),
      input_(block_input(model_, training_, parallelism_, 1)),
      shape_(encoder_shape(language.model, language.training, language.parallelism)),
      widths_(encoder_widths(language.model, parallelism_.tensor)),
      inserts_(!placed_with_embedding(language.model, language.parallelism)) {}

Linear EncoderBlocks::product(const char* name,
                              const RankShape& shape,
                              std::int64_t outputs,
                              std::int64_t inputs) const {
  return {name, shape.tokens, outputs, inputs, shape.linear};
}

GradientTraffic EncoderBlocks::gradients() const {
  return gradient_traffic(training_.framework, shape_.layers.element,
                          reduces_every_micro_batch(training_.framework, parallelism_));
}

void EncoderBlocks::write_patches(BlockWriter& writer, bool backward) const {
  const RankShape& shape = shape_.layers;
  const Linear patches = product("patches", shape, shape.hidden, widths_.pixels);
  const bool positions = language_.vision->positions > 0;
  if (backward) {
    if (positions) {
      const double bytes = shape.element + 2.0 * training_.framework.gradient_bytes;
      writer.compute(memory_kernel("positions", bytes * shape.stream()));
    }
    writer.compute(weight_gradient(patches, gradients()));
    return;
  }
  writer.compute(forward_product(patches));
  if (positions) {
    writer.compute(memory_kernel("positions", 3.0 * shape.element * shape.stream()));
  }
}

void EncoderBlocks::write_projector_forward(BlockWriter& writer) const {
  const RankShape& shape = shape_.projector;
  if (language_.vision->pooled) {
    writer.compute(memory_kernel(
        "pool patches", shape.element * (shape_.layers.stream() +
                                         static_cast<double>(shape.tokens * widths_.joined))));
  }
  writer.compute(norm_forward(model_, shape_.layers, training_.framework));
  TensorRegion region(writer, shape, false);
  if (widths_.inner == 0) {
    writer.compute(forward_product(product("projector", shape, widths_.outputs, widths_.joined)));
  } else {
    region.forward_columns(product("projector in", shape, widths_.inner, widths_.joined));
    ModelSpec plain = model_;
    plain.gated_mlp = false;
    writer.compute(
        activation_forward(plain, shape.element * static_cast<double>(shape.tokens * widths_.inner),
                           training_.framework));
    region.forward_rows(product("projector out", shape, widths_.outputs, widths_.inner));
  }
  if (inserts_) {
    writer.compute(insert_images(shape));
  }
}

void EncoderBlocks::write_projector_backward(BlockWriter& writer) const {
  const RankShape& shape = shape_.projector;
  const bool passes = language_.vision->trained == EncoderTraining::all;
  if (inserts_) {
    writer.compute(take_images(shape));
  }
  const auto first = [&](const Linear& linear, bool split) {
    if (passes) {
      writer.compute(input_gradient(linear));
      if (split) {
        TensorRegion(writer, shape, false).reduce("tensor reduce", linear.inputs);
      }
    }
    writer.compute(weight_gradient(linear, gradients()));
  };
  if (widths_.inner == 0) {
    first(product("projector", shape, widths_.outputs, widths_.joined), false);
  } else {
    TensorRegion(writer, shape, false)
        .backward_rows(product("projector out", shape, widths_.outputs, widths_.inner),
                       {BackwardPart::whole, gradients(), true});
    ModelSpec plain = model_;
    plain.gated_mlp = false;
    writer.compute(activation_backward(
        plain, shape.element * static_cast<double>(shape.tokens * widths_.inner),
        training_.framework));
    first(product("projector in", shape, widths_.inner, widths_.joined), true);
  }
  writer.compute(norm_backward(model_, shape_.layers, training_.framework));
  if (passes && language_.vision->pooled) {
    writer.compute(memory_kernel(
        "spread patches", shape.element * (shape_.layers.stream() +
                                           static_cast<double>(shape.tokens * widths_.joined))));
  }
}

std::string part_name(const EncoderRun& run) {
  switch (run.part) {
    case EncoderPart::patches:
      return "encoder patches";
    case EncoderPart::projector:
      return "encoder projector";
    case EncoderPart::layer:
      break;
  }
  return "encoder " + kind_name(run.kind);
}

Block EncoderBlocks::forward(const EncoderRun& run) const {
  if (run.part == EncoderPart::layer) {
    return layer_forward(input_, run.kind);
  }
  BlockWriter writer(part_name(run));
  if (run.part == EncoderPart::patches) {
    write_patches(writer, false);
  } else {
    write_projector_forward(writer);
  }
  return writer.finish(core::Activity::tensor);
}

Block EncoderBlocks::backward(const EncoderRun& run) const {
  if (run.part == EncoderPart::layer) {
    return layer_backward(input_, run.kind, BackwardPart::whole);
  }
  BlockWriter writer(part_name(run));
  if (run.part == EncoderPart::patches) {
    write_patches(writer, true);
  } else {
    write_projector_backward(writer);
  }
  return writer.finish(core::Activity::tensor);
}

}  // namespace headway::workload
