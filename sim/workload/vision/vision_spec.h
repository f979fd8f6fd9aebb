// An encoder of images before the language model, and the images of a step.
#pragma once

#include <array>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"

namespace headway::workload {

/// What of an encoder is trained. Source: NVIDIA-NeMo/Megatron-Bridge, models/qwen_vl
/// (freeze_vision_model, freeze_vision_projection), 2026.
enum class EncoderTraining { all, projector, none };
constexpr auto enum_words(EncoderTraining) {
  using E = core::EnumWord<EncoderTraining>;
  return std::array{E{EncoderTraining::all, "all"}, E{EncoderTraining::projector, "projector"},
                    E{EncoderTraining::none, "none"}};
}

/// How tensor ranks hold an encoder: its matrices divided, or whole on each, which all compute the
/// same. Source: there, modelling_qwen3_vl/vision_model.py (split) and modeling_qwen25_vl.py
/// (whole).
enum class EncoderTensor { split, whole };
constexpr auto enum_words(EncoderTensor) {
  using E = core::EnumWord<EncoderTensor>;
  return std::array{E{EncoderTensor::split, "split"}, E{EncoderTensor::whole, "whole"}};
}

/// Which images context ranks encode: all of a micro-batch on each, which all compute the same, or
/// each its own, whose tokens are gathered. Source: there, modelling_qwen3_vl/model.py
/// (vision_dp_when_cp, false unless asked for), 2026.
enum class EncoderContext { whole, split };
constexpr auto enum_words(EncoderContext) {
  using E = core::EnumWord<EncoderContext>;
  return std::array{E{EncoderContext::whole, "whole"}, E{EncoderContext::split, "split"}};
}

/// Which pipeline stage runs an encoder: the first, before the language model's own, or one in
/// front of it with nothing else. Source: NVIDIA/Megatron-LM core 0.12,
/// examples/multimodal/model.py (encoder_pipeline_model_parallel_size 0 or 1), 2025.
enum class EncoderStage { first, own };
constexpr auto enum_words(EncoderStage) {
  using E = core::EnumWord<EncoderStage>;
  return std::array{E{EncoderStage::first, "first"}, E{EncoderStage::own, "own"}};
}

/// A vision transformer and what joins it to the language model (ViT: Dosovitskiy et al. 2020,
/// arXiv 2010.11929; merged patches: Qwen2-VL, arXiv 2409.12191).
struct VisionSpec {
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int ffn = 0;
  bool gated_mlp = false;
  bool biases = true;
  bool rotary = false;
  int patch = 14;
  int frames = 1;
  int positions = 0;
  int window = 0;
  int window_period = 1;
  int merge = 1;
  bool pooled = false;
  int projector_ffn = 0;
  int projectors = 1;
  EncoderTraining trained = EncoderTraining::all;
  EncoderTensor tensor = EncoderTensor::split;
  EncoderContext context = EncoderContext::whole;
  EncoderStage stage = EncoderStage::first;
  template <class V>
  void fields(V& v) {
    v.required("layers", layers, "Layers of the encoder.", core::from_one_to_10k);
    v.required("hidden", hidden, "Its width.", core::from_one_to_16m);
    v.required("heads", heads, "Its heads, each with keys and values of its own.",
               core::from_one_to_64k);
    v.required("ffn", ffn, "Inner width of its MLP.", core::from_one_to_16m);
    v.optional("gated_mlp", gated_mlp, "Three matrices (SwiGLU) instead of two.");
    v.optional("biases", biases, "Its linear layers and norms have biases.");
    v.optional("rotary", rotary, "Rotary embedding of queries and keys.");
    v.optional("patch", patch, "Pixels of a side of a patch.", core::from_one_to_64k);
    v.optional("frames", frames,
               "Frames of a patch; an image is repeated (Qwen2-VL and its successors: 2).",
               core::from_one_to_64k);
    v.optional("positions", positions, "Rows of a learned position table; 0: none.",
               core::up_to_16m);
    v.optional("window", window,
               "Patches of a window that attend to each other; 0: all of an image.",
               core::window_tokens);
    v.optional("window_period", window_period,
               "One layer in this many, the last of each period, attends to the whole image; 1: "
               "all have the window.",
               core::from_one_to_10k);
    v.optional("merge", merge,
               "Side of the square of patches that become one token of the language model.",
               core::from_one_to_64k);
    v.optional("pooled", pooled,
               "The patches of a square are averaged; false: they are joined into a wider one.");
    v.optional("projector_ffn", projector_ffn,
               "Inner width of a projector of two matrices; 0: one matrix, without biases.",
               core::up_to_16m);
    v.optional("projectors", projectors,
               "Projectors: one after the last layer, and one for each layer in between whose "
               "output goes to the language model too (DeepStack).",
               core::from_one_to_64k);
    v.optional("trained", trained,
               "What of it is trained: all, the projectors alone, or none of it.");
    v.optional("tensor", tensor,
               "On tensor ranks: split: divided as the language model; whole: a copy on each, and "
               "all compute the same.");
    v.optional("context", context,
               "On context ranks: whole: all images of a sequence on each, and all compute the "
               "same; split: whole images are dealt, and their tokens gathered.");
    v.optional(
        "stage", stage,
        "first: on the pipeline's first stage, beside its layers; own: on GPUs of its own, a "
        "stage more in front, which 'pipeline' counts.");
  }
  bool operator==(const VisionSpec&) const = default;
};

/// Images of one size.
struct ImageSize {
  int tokens = 0;
  double share = 1;
  template <class V>
  void fields(V& v) {
    v.required("tokens", tokens, "Tokens of the language model that an image takes, merged.",
               core::sequence_tokens);
    v.optional("share", share, "Images of this size, relative to the others.",
               core::relative_share);
  }
  bool operator==(const ImageSize&) const = default;
};

/// The images of a step.
struct ImagesSpec {
  double per_sequence = 1;
  double deviation = 0;
  std::vector<ImageSize> sizes;
  template <class V>
  void fields(V& v) {
    v.required("per_sequence", per_sequence,
               "Images of a sequence, in the mean over sequences; their tokens are among those of "
               "the sequence.",
               core::Range{0, 1e6, true, false, "above 0 and at most 1,000,000"});
    v.optional("deviation", deviation,
               "Standard deviation of the images of a sequence; 0: all have the mean.",
               core::Range{0, 1e6, false, false, "from 0 to 1,000,000"});
    v.required("sizes", sizes, "How large images are, each size with its share.");
  }
  bool operator==(const ImagesSpec&) const = default;
};

}  // namespace headway::workload
