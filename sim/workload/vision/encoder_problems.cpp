#include "sim/workload/vision/encoder_problems.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "sim/workload/number_formats.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/vision/encoder.h"

namespace headway::workload {

namespace {

/// Gathers sentences about one run.
class EncoderComplaints {
 public:
  EncoderComplaints(const ModelSpec& model,
                    const TrainingSpec& training,
                    const ParallelismSpec& parallelism)
      : model_(model), training_(training), parallelism_(parallelism) {}

  Violations take() {
    check_images();
    if (model_.vision) {
      check_encoder(*model_.vision);
      check_layout();
      check_recipe();
    }
    if (runs_teacher(training_) && training_.distillation->teacher->vision) {
      add("training.distillation.teacher.vision",
          "a teacher with an encoder of images is not simulated; leave its 'vision' out");
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(std::string path, fmt::format_string<Args...> text, Args&&... args) {
    out_.push_back({std::move(path), fmt::format(text, std::forward<Args>(args)...)});
  }

  void check_images() {
    if (model_.vision && !training_.images) {
      add("model.vision",
          "model '{}' has an encoder of images: write how many a sequence has in "
          "training.images, or leave 'vision' out",
          model_.name);
    }
    if (!training_.images) {
      return;
    }
    if (!model_.vision) {
      add("training.images",
          "model '{}' has no encoder that sees images: leave 'images' out, or describe one in "
          "model.vision",
          model_.name);
    }
    const ImagesSpec& images = *training_.images;
    if (images.sizes.empty()) {
      add("training.images.sizes", "images need at least one size");
      return;
    }
    if (const double tokens = image_tokens(images); tokens > training_.sequence_length) {
      add("training.images.per_sequence",
          "{:g} images of a sequence have {:.0f} tokens in the mean, more than the {} of the "
          "sequence",
          images.per_sequence, tokens, training_.sequence_length);
    } else {
      check_deviation(images);
    }
    if (model_.vision) {
      check_patches(*model_.vision, images);
    }
  }

  /// Counts from 0 to N with mean m vary by sqrt(m (N - m)) at most: where all are 0 or N.
  void check_deviation(const ImagesSpec& images) {
    const auto smallest = std::ranges::min_element(images.sizes, {}, &ImageSize::tokens);
    const double most =
        std::max(images.per_sequence,
                 static_cast<double>(training_.sequence_length) / std::max(1, smallest->tokens));
    const double widest = std::sqrt(images.per_sequence * (most - images.per_sequence));
    constexpr double kRounding = 1e-9;  // Source: sums of doubles
    if (images.deviation > (1 + kRounding) * widest) {
      add("training.images.deviation",
          "counts of {:g} images in the mean and at most {:.4g}, as {} tokens have room for, "
          "deviate by {:.3g} at most, not {:g}",
          images.per_sequence, most, training_.sequence_length, widest, images.deviation);
    }
  }

  /// Patches of a micro-batch, and of its largest image, are counted in `int`.
  void check_patches(const VisionSpec& vision, const ImagesSpec& images) {
    double tokens = parallelism_.micro_batch * image_tokens(images);
    for (const ImageSize& size : images.sizes) {
      tokens = std::max<double>(tokens, size.tokens);
      if (const auto most = most_image_tokens(vision); most && size.tokens > *most) {
        add("training.images.sizes",
            "an image of {} tokens has more patches than the encoder has positions ({}, without a "
            "rotary embedding): {} tokens at most; of larger pictures write more images",
            size.tokens, vision.positions, *most);
      }
    }
    const double patches = patches_of_token(vision) * tokens;
    if (constexpr int most = std::numeric_limits<int>::max(); patches > most) {
      add("model.vision.merge",
          "{:.0f} tokens of the images of a micro-batch stand for {:.4g} patches at merge {} "
          "(its square each), and at most {} are simulated; merge fewer, or take fewer or smaller "
          "images",
          tokens, patches, vision.merge, most);
    }
  }

  void check_encoder(const VisionSpec& vision) {
    if (vision.hidden % vision.heads != 0) {
      add("model.vision.heads", "width {} of the encoder does not divide over its {} heads",
          vision.hidden, vision.heads);
    }
    const int t = parallelism_.tensor;
    const auto divides = [&](int value, const char* what) {
      if (vision.tensor == EncoderTensor::split && value % t != 0) {
        add("model.vision.tensor",
            "{} {} of the encoder do not divide over {} tensor-parallel ranks; choose tensor: "
            "whole, a copy on each",
            value, what, t);
      }
    };
    divides(vision.heads, "heads");
    divides(vision.ffn, "MLP columns");
    divides(vision.projector_ffn, "columns of the projector");
  }

  /// What a stage of its own does not go with.
  void check_own_stage() {
    if (parallelism_.pipeline < 2) {
      add("model.vision.stage",
          "an encoder on a stage of its own needs parallelism.pipeline of 2 or more, which counts "
          "that stage, and there is {}; choose stage: first, or more stages",
          parallelism_.pipeline);
    }
    const ScheduleKind schedule = effective_schedule(parallelism_);
    if (schedule != ScheduleKind::one_f_one_b && schedule != ScheduleKind::gpipe) {
      add(parallelism_.virtual_stages > 1 ? "parallelism.virtual" : "parallelism.schedule",
          "schedule {} with an encoder on a stage of its own is not simulated: no framework says "
          "where its chunks would lie; choose 1f1b or gpipe with virtual: 1, or "
          "model.vision.stage: first",
          core::to_word(schedule));
    }
  }

  void check_layout() {
    if (encoder_stages(model_) > 0) {
      check_own_stage();
    }
    const ScheduleKind schedule = effective_schedule(parallelism_);
    if (schedule == ScheduleKind::dual_pipe || schedule == ScheduleKind::dual_pipe_v) {
      add("parallelism.schedule",
          "schedule {} with an encoder of images is not simulated; choose 1f1b, interleaved or a "
          "zero-bubble schedule",
          core::to_word(schedule));
    }
    if (offloads_activations(parallelism_.offload)) {
      add("parallelism.offload",
          "activations that go to the host beside an encoder of images are not simulated; choose "
          "none or optimizer");
    }
  }

  void check_recipe() {
    if (!fuses_attention(training_)) {
      add(full_precision(training_.precision) ? "training.precision" : "model.vision",
          "an encoder of images needs fused attention, which keeps images of one sequence apart; "
          "choose bf16 or fp16 and a fused kind of framework.attention_kernels");
    }
    if (owns_matrices(training_.optimizer_state)) {
      add("training.optimizer_state", "optimizer_state {} of an encoder of images is not simulated",
          core::to_word(training_.optimizer_state));
    }
    if (training_.local_steps) {
      add("training.local_steps",
          "sites that train a model with an encoder of images apart are not simulated");
    }
    if (training_.distillation) {
      add("training.distillation",
          "distillation of a model with an encoder of images is not simulated");
    }
    if (training_.framework.host.piece > core::Seconds(0)) {
      add("model.vision",
          "framework '{}' copies weights piece by piece; with an encoder of images that is not "
          "simulated",
          training_.framework.name);
    }
  }

  const ModelSpec& model_;
  const TrainingSpec& training_;
  const ParallelismSpec& parallelism_;
  Violations out_;
};

}  // namespace

Violations encoder_problems(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism) {
  return EncoderComplaints(model, training, parallelism).take();
}

}  // namespace headway::workload
