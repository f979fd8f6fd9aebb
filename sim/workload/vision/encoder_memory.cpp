#include "sim/workload/vision/encoder_memory.h"

#include <algorithm>

#include "sim/workload/memory/activation_memory.h"

namespace headway::workload {

namespace {

/// Inputs and outputs of a projector's products.
double kept_by_projector(const EncoderShape& shape, const EncoderWidths& widths) {
  const auto tokens = static_cast<double>(shape.projector.tokens);
  const auto joined = static_cast<double>(widths.joined);
  const auto inner = static_cast<double>(widths.inner);
  return shape.layers.element * (shape.layers.stream() + tokens * (joined + 2.0 * inner));
}

}  // namespace

EncoderMemory encoder_memory(const ModelSpec& model,
                             const TrainingSpec& training,
                             const ParallelismSpec& parallelism) {
  EncoderMemory memory;
  if (!model.vision || !training.images) {
    return memory;
  }
  const ModelSpec encoder = encoder_model(model);
  ModelSpec learning = encoder;  // what one of its layers would keep
  learning.frozen.reset();
  const TrainingSpec recipe = encoder_training(model, training, parallelism);
  const ParallelismSpec layout = encoder_layout(model, parallelism);
  const EncoderShape shape = encoder_shape(model, training, parallelism);
  const EncoderWidths widths = encoder_widths(model, layout.tensor);
  for (const EncoderRun& run : encoder_runs(model, parallelism)) {
    const bool trained = trains(model, run);
    switch (run.part) {
      case EncoderPart::patches:
        memory.kept += trained ? shape.layers.element * static_cast<double>(shape.layers.tokens) *
                                     static_cast<double>(widths.pixels)
                               : 0.0;
        break;
      case EncoderPart::layer: {
        memory.kept += run.count * saved_per_layer(encoder, recipe, layout, run.kind).si();
        LayerKind kind = run.kind;
        kind.learning = Learning::weights;
        memory.forward =
            std::max(memory.forward, saved_per_layer(learning, recipe, layout, kind).si());
        memory.backward =
            std::max(memory.backward, backward_working_set(encoder, recipe, layout, run.kind).si());
        break;
      }
      case EncoderPart::projector: {
        const double one = kept_by_projector(shape, widths);
        memory.kept += trained ? run.count * one : 0.0;
        memory.forward = std::max(memory.forward, one);
        memory.backward = std::max(memory.backward, trained ? one : 0.0);
        break;
      }
    }
  }
  return memory;
}

}  // namespace headway::workload
