#include "sim/workload/vision/image_places.h"

#include "sim/workload/blocks/kernels.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/vision/encoder.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

/// For the tokens of each projector a kernel, with a collective of dealt images before or after it.
struct EachProjector {
  core::Kernel (*kernel)(const RankShape&);
  CollectiveKind kind;
  const char* name;
  bool collective_first;
};

void handle_images(BlockWriter& writer, const BlockInput& input, const EachProjector& each) {
  if (!placed_with_embedding(input.model, input.parallelism)) {
    return;
  }
  const RankShape tokens = all_images(input.model, input.training, input.parallelism);
  const Bytes bytes(tokens.element * tokens.stream());
  const auto exchange = [&](bool now) {
    if (now && deals_images(input.model, input.parallelism)) {
      writer.collective(each.kind, Group::context, Activity::context, bytes, each.name);
    }
  };
  for (int i = 0; i < input.model.vision->projectors; ++i) {
    exchange(each.collective_first);
    writer.compute(each.kernel(tokens));
    exchange(!each.collective_first);
  }
}

void insert_all(BlockWriter& writer, const BlockInput& input) {
  handle_images(writer, input, {insert_images, CollectiveKind::all_gather, "gather images", true});
}

/// Elements of whole sequences, of which this rank has one part of `context`.
double whole_stream(const RankShape& shape) { return shape.context * shape.stream(); }

}  // namespace

bool placed_with_embedding(const ModelSpec& model, const ParallelismSpec& parallelism) {
  return encoder_stages(model) > 0 || deals_images(model, parallelism);
}

bool embeds_whole_sequences(const ModelSpec& model, const ParallelismSpec& parallelism) {
  return model.vision && parallelism.context > 1;
}

core::Kernel insert_images(const RankShape& projector) {
  return memory_kernel("insert images", 2.0 * projector.element * projector.stream());
}

core::Kernel take_images(const RankShape& projector) {
  return memory_kernel("take images", 2.0 * projector.element * projector.stream());
}

void write_embedding_forward(BlockWriter& writer, const BlockInput& input) {
  const RankShape& shape = input.shape;
  if (!embeds_whole_sequences(input.model, input.parallelism)) {
    TensorRegion region(writer, shape, false);
    writer.compute(memory_kernel("embedding", 2.0 * shape.element * shape.stream()));
    region.reduce("embedding reduce");
    insert_all(writer, input);
    return;
  }
  const Bytes whole(shape.element * whole_stream(shape));
  writer.compute(memory_kernel("embedding", 2.0 * whole.si()));
  if (shape.tensor > 1) {
    writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor, whole,
                      "embedding reduce");
  }
  insert_all(writer, input);
  writer.compute(memory_kernel("split sequence", 2.0 * shape.element * shape.stream()));
}

void write_embedding_input_backward(BlockWriter& writer, const BlockInput& input) {
  const RankShape& shape = input.shape;
  TensorRegion region(writer, shape, false);
  region.gather("embedding gather");
  if (embeds_whole_sequences(input.model, input.parallelism)) {
    writer.compute(
        memory_kernel("spread sequence", shape.element * (shape.stream() + whole_stream(shape))));
  }
  if (encoder_trained(input.model) || deals_images(input.model, input.parallelism)) {
    handle_images(writer, input,
                  {take_images, CollectiveKind::all_reduce, "sum image gradients", false});
  }
}

double embedding_working_elements(const ModelSpec& model,
                                  const TrainingSpec& training,
                                  const ParallelismSpec& parallelism) {
  if (!embeds_whole_sequences(model, parallelism) || !training.images) {
    return 0;
  }
  const double images =
      deals_images(model, parallelism)
          ? model.vision->projectors * all_images(model, training, parallelism).stream()
          : 0.0;
  return 2.0 * whole_stream(rank_shape(model, training, parallelism)) + images;
}

}  // namespace headway::workload
