#include "sim/workload/vision/encoder.h"

#include <algorithm>
#include <cmath>

#include "sim/workload/closed_form.h"
#include "sim/workload/number_formats.h"

namespace headway::workload {

ModelSpec encoder_model(const ModelSpec& model) {
  const VisionSpec& vision = *model.vision;
  ModelSpec own;
  own.name = model.name;
  own.layers = vision.layers;
  own.hidden = vision.hidden;
  own.heads = own.key_value_heads = vision.heads;
  own.head_dim = std::max(1, vision.hidden / vision.heads);
  own.ffn = vision.ffn;
  own.gated_mlp = vision.gated_mlp;
  own.vocabulary = 1;
  own.biases = vision.biases;
  own.dropout = false;
  own.rotary = vision.rotary;
  own.window = vision.window;
  own.window_period = vision.window_period;
  own.chunked_window = vision.window > 0;
  own.bidirectional = true;
  if (vision.trained != EncoderTraining::all) {
    own.frozen = FrozenSpec{vision.layers, true, true};
  }
  return own;
}

bool deals_images(const ModelSpec& model, const ParallelismSpec& parallelism) {
  return model.vision && model.vision->context == EncoderContext::split && parallelism.context > 1;
}

double share_of_images(const ModelSpec& model,
                       const TrainingSpec& training,
                       const ParallelismSpec& parallelism) {
  if (!training.images || !deals_images(model, parallelism)) {
    return 1;
  }
  const double ranks = parallelism.context;
  const double images = parallelism.micro_batch * training.images->per_sequence;
  const double fewer = std::floor(images);
  const double more = images - fewer;
  return ((1 - more) * std::ceil(fewer / ranks) + more * std::ceil((fewer + 1) / ranks)) / images;
}

TrainingSpec encoder_training(const ModelSpec& model,
                              const TrainingSpec& training,
                              const ParallelismSpec& parallelism) {
  TrainingSpec own = training;
  own.distillation.reset();
  own.local_steps.reset();
  own.images.reset();
  const double merged = patches_of_token(*model.vision);
  const double tokens = parallelism.micro_batch * image_tokens(*training.images) *
                        share_of_images(model, training, parallelism);
  own.sequence_length =
      static_cast<int>(merged * std::max(1.0, std::round(tokens)));  // whole tokens of patches
  own.documents.clear();
  for (const ImageSize& size : training.images->sizes) {
    own.documents.push_back({static_cast<int>(merged * size.tokens), size.share});
  }
  own.precision = narrow(training.precision) ? core::Precision::bf16 : training.precision;
  own.framework.tensor_overlap = false;
  return own;
}

ParallelismSpec encoder_layout(const ModelSpec& model, const ParallelismSpec& parallelism) {
  ParallelismSpec own;
  own.tensor = model.vision->tensor == EncoderTensor::whole ? 1 : parallelism.tensor;
  own.sequence = false;
  own.pipeline = parallelism.pipeline;
  own.data = parallelism.data;
  own.sharding = parallelism.sharding;
  own.shard_group_size = parallelism.shard_group_size;
  own.reshard = parallelism.reshard;
  own.recompute = parallelism.recompute == Recompute::full ? Recompute::full : Recompute::none;
  return own;
}

std::optional<int> most_image_tokens(const VisionSpec& vision) {
  return vision.positions > 0 && !vision.rotary
             ? std::optional(
                   std::max(1, vision.positions / static_cast<int>(patches_of_token(vision))))
             : std::nullopt;
}

double image_tokens(const ImagesSpec& images) {
  double tokens = 0;
  double shares = 0;
  for (const ImageSize& size : images.sizes) {
    tokens += size.share * size.tokens;
    shares += size.share;
  }
  return shares > 0 ? images.per_sequence * tokens / shares : 0;
}

EncoderWidths encoder_widths(const ModelSpec& model, int tensor) {
  const VisionSpec& vision = *model.vision;
  EncoderWidths widths;
  widths.pixels = std::int64_t{3} * vision.frames * vision.patch * vision.patch;
  widths.joined = vision.pooled ? std::int64_t{vision.hidden}
                                : std::int64_t{vision.merge} * vision.merge * vision.hidden;
  widths.inner = vision.projector_ffn / tensor;
  widths.outputs = model.hidden;
  return widths;
}

EncoderShape encoder_shape(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism) {
  EncoderShape shape;
  shape.layers = rank_shape(encoder_model(model), encoder_training(model, training, parallelism),
                            encoder_layout(model, parallelism));
  shape.projector = shape.layers;
  shape.projector.tokens = shape.projector.split_tokens = shape.projector.sequence =
      shape.layers.tokens / (std::int64_t{model.vision->merge} * model.vision->merge);
  shape.projector.hidden = model.hidden;
  return shape;
}

RankShape all_images(const ModelSpec& model,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism) {
  ParallelismSpec alone = parallelism;
  alone.context = 1;
  return encoder_shape(model, training, alone).projector;
}

double image_elements(const ModelSpec& model,
                      const TrainingSpec& training,
                      const ParallelismSpec& parallelism) {
  if (!model.vision || !training.images) {
    return 0;
  }
  return model.vision->projectors * encoder_shape(model, training, parallelism).projector.stream();
}

std::vector<EncoderRun> encoder_runs(const ModelSpec& model, const ParallelismSpec& parallelism) {
  std::vector<EncoderRun> runs;
  if (!model.vision) {
    return runs;
  }
  runs.push_back({EncoderPart::patches, {}, 1});
  const ModelSpec encoder = encoder_model(model);
  for (const LayerRun& run :
       layer_runs(encoder, encoder_layout(model, parallelism), 0, encoder.layers)) {
    runs.push_back({EncoderPart::layer, run.kind, run.layers});
  }
  runs.push_back({EncoderPart::projector, {}, model.vision->projectors});
  return runs;
}

bool trains(const ModelSpec& model, const EncoderRun& run) {
  const EncoderTraining trained = model.vision->trained;
  return trained == EncoderTraining::all ||
         (trained == EncoderTraining::projector && run.part == EncoderPart::projector);
}

namespace {

/// The matrix of patches and learned positions, whole on every rank.
double patch_parameters(const VisionSpec& vision, const EncoderWidths& widths) {
  const double h = vision.hidden;
  // With positions of its own a convolution has a bias (CLIP has none, SigLIP and Qwen3-VL do).
  return h * (static_cast<double>(widths.pixels) + vision.positions +
              (vision.biases && vision.positions > 0 ? 1 : 0));
}

/// A norm and one or two matrices; rows' biases are whole.
double projector_parameters(const ModelSpec& model, const EncoderWidths& widths) {
  const VisionSpec& vision = *model.vision;
  const double norm = (vision.biases ? 2.0 : 1.0) * vision.hidden;
  const auto joined = static_cast<double>(widths.joined);
  const auto inner = static_cast<double>(widths.inner);
  const auto outputs = static_cast<double>(widths.outputs);
  if (widths.inner == 0) {
    return norm + joined * outputs;
  }
  return norm + inner * (joined + outputs) + (vision.biases ? inner + outputs : 0.0);
}

}  // namespace

HeldParameters held_by_part(const ModelSpec& model,
                            const ParallelismSpec& parallelism,
                            const EncoderRun& run) {
  const ParallelismSpec layout = encoder_layout(model, parallelism);
  if (run.part == EncoderPart::layer) {
    return held_by_layer(encoder_model(model), layout, run.kind);
  }
  const EncoderWidths widths = encoder_widths(model, layout.tensor);
  const double count = run.part == EncoderPart::patches ? patch_parameters(*model.vision, widths)
                                                        : projector_parameters(model, widths);
  return {{count, 0}, {trains(model, run) ? count : 0.0, 0}};
}

HeldParameters held_by_encoder(const ModelSpec& model, const ParallelismSpec& parallelism) {
  HeldParameters sum;
  for (const EncoderRun& run : encoder_runs(model, parallelism)) {
    sum += static_cast<double>(run.count) * held_by_part(model, parallelism, run);
  }
  return sum;
}

double averaged_parameters(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const bool whole = model.vision && model.vision->tensor == EncoderTensor::whole;
  return whole ? held_by_encoder(model, parallelism).trained.total() : 0.0;
}

EncoderFlops encoder_flops_per_token(const ModelSpec& model,
                                     const TrainingSpec& training,
                                     const ParallelismSpec& parallelism) {
  EncoderFlops flops;
  if (!model.vision || !training.images) {
    return flops;
  }
  const VisionSpec& vision = *model.vision;
  const EncoderWidths widths = encoder_widths(model, 1);
  const double tokens = image_tokens(*training.images) / training.sequence_length;
  const double patches = patches_of_token(vision) * tokens;
  const double h = vision.hidden;
  const double first = 2.0 * patches * h * static_cast<double>(widths.pixels);
  const double layer =
      2.0 * patches * (4.0 * h * h + (vision.gated_mlp ? 3.0 : 2.0) * h * vision.ffn);
  const auto joined = static_cast<double>(widths.joined);
  const auto outputs = static_cast<double>(widths.outputs);
  const auto inner = static_cast<double>(widths.inner);
  const double reads = 2.0 * tokens * vision.projectors * joined * (inner > 0 ? inner : outputs);
  const double writes = inner > 0 ? 2.0 * tokens * vision.projectors * inner * outputs : 0.0;
  const ModelSpec encoder = encoder_model(model);
  const TrainingSpec recipe = encoder_training(model, training, parallelism);
  double core = 0;
  for (const LayerRun& run : layer_runs(encoder, {}, 0, encoder.layers)) {
    const AttentionWindow window = run.kind.windowed ? window_of(encoder) : AttentionWindow{};
    core += 4.0 * patches * h * run.layers * 2.0 * mean_document_keys(recipe.documents, window);
  }
  const double layers = vision.layers * layer;
  flops.forward = core::Flops(first + layers + reads + writes);
  flops.core = core::Flops(core);
  const double all = first + layers + core + reads + writes;
  switch (vision.trained) {
    case EncoderTraining::all:
      flops.trained = core::Flops(3.0 * all - first);
      flops.again = core::Flops(parallelism.recompute == Recompute::full ? layers + core : 0.0);
      break;
    case EncoderTraining::projector:
      flops.trained = core::Flops(all + reads + 2.0 * writes);
      break;
    case EncoderTraining::none:
      flops.trained = core::Flops(all);
      break;
  }
  return flops;
}

}  // namespace headway::workload
