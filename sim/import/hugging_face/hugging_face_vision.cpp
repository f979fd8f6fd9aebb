// Encoders of images beside a text decoder: `vision_config`.
#include <algorithm>
#include <array>
#include <cmath>

#include "sim/import/hugging_face/hugging_face_parts.h"

namespace headway::import {

namespace {

using workload::VisionSpec;

/// Keys that the encoders of Qwen share.
VisionSpec read_qwen(JsonObject& json) {
  VisionSpec vision;
  vision.layers = json.whole("vision_config.depth");
  vision.heads = json.whole("vision_config.num_heads");
  vision.patch = json.whole("vision_config.patch_size");
  vision.frames = json.whole_or("vision_config.temporal_patch_size", 2);
  vision.merge = json.whole_or("vision_config.spatial_merge_size", 2);
  vision.rotary = true;
  return vision;
}

/// A projector's inner width is that of the patches that it joins.
void join_patches(VisionSpec& vision) {
  vision.projector_ffn = vision.merge * vision.merge * vision.hidden;
}

void read_qwen2_vl(JsonObject& json, VisionSpec& vision) {
  vision = read_qwen(json);
  vision.hidden = json.whole("vision_config.embed_dim");
  vision.ffn = json.whole_or("vision_config.mlp_ratio", 4) * vision.hidden;
  join_patches(vision);
}

/// What the last projector gives is what the decoder of text is wide.
void check_output(JsonObject& json) {
  const bool apart = json.has("text_config.hidden_size");
  const int out = json.whole_or("vision_config.out_hidden_size", 0);
  const int text = apart ? json.whole("text_config.hidden_size") : json.whole_or("hidden_size", 0);
  if (out > 0 && text > 0 && out != text) {
    json.complain("vision_config.out_hidden_size",
                  fmt::format("'out_hidden_size' {} is not the {} of the text decoder's "
                              "'hidden_size', which takes it",
                              out, text));
  }
}

/// Windows of `window_size` pixels, but in the layers of `fullatt_block_indexes`.
void read_qwen2_5_windows(JsonObject& json, VisionSpec& vision) {
  const int side =
      json.whole_or("vision_config.window_size", 112) / vision.patch / vision.merge * vision.merge;
  vision.window = side * side;
  const std::vector<int> full = json.wholes("vision_config.fullatt_block_indexes");
  vision.window_period = full.empty() ? 1 : full.front() + 1;
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (full[i] != static_cast<int>(i + 1) * vision.window_period - 1) {
      json.complain("vision_config.fullatt_block_indexes",
                    "layers that attend to whole images must be the last of every period; others "
                    "cannot be described");
      return;
    }
  }
}

void read_qwen2_5_vl(JsonObject& json, VisionSpec& vision) {
  vision = read_qwen(json);
  vision.hidden = json.whole("vision_config.hidden_size");
  vision.ffn = json.whole("vision_config.intermediate_size");
  vision.gated_mlp = true;
  if (json.whole_or("vision_config.in_chans", 3) != 3) {
    json.complain("vision_config.in_chans", "'in_chans' must be 3: images of three colours");
  }
  json.pass_over({"vision_config.spatial_patch_size"});  // 'patch_size' once more
  check_output(json);
  read_qwen2_5_windows(json, vision);
  join_patches(vision);
}

/// Some layers' outputs go to the language model by projectors of their own.
void read_qwen3_vl(JsonObject& json, VisionSpec& vision) {
  vision = read_qwen(json);
  vision.hidden = json.whole("vision_config.hidden_size");
  vision.ffn = json.whole("vision_config.intermediate_size");
  vision.positions = json.whole_or("vision_config.num_position_embeddings", 2304);
  vision.projectors =
      1 + static_cast<int>(json.wholes("vision_config.deepstack_visual_indexes").size());
  check_output(json);
  join_patches(vision);
}

/// The same tower without projectors of layers in between, whose list is empty and not read.
void read_qwen3_5(JsonObject& json, VisionSpec& vision) {
  read_qwen3_vl(json, vision);
  vision.projectors = 1;
}

/// SigLIP; squares of its patches are averaged to `mm_tokens_per_image` tokens.
void read_gemma3_encoder(JsonObject& json, VisionSpec& vision) {
  vision.layers = json.whole("vision_config.num_hidden_layers");
  vision.hidden = json.whole("vision_config.hidden_size");
  vision.heads = json.whole("vision_config.num_attention_heads");
  vision.ffn = json.whole("vision_config.intermediate_size");
  vision.patch = json.whole("vision_config.patch_size");
  const int side = json.whole_or("vision_config.image_size", 896) / vision.patch;
  vision.positions = side * side;
  vision.pooled = true;
  const int tokens = json.whole_or("mm_tokens_per_image", 256);
  vision.merge = std::max(1, static_cast<int>(side / std::sqrt(static_cast<double>(tokens))));
  if (json.clean() && vision.merge * vision.merge * tokens != vision.positions) {
    json.complain("mm_tokens_per_image",
                  fmt::format("{} patches of an image do not divide into {} squares",
                              vision.positions, tokens));
  }
}

struct EncoderFamily {
  std::string_view model_type;
  void (*read)(JsonObject& json, VisionSpec& vision);
};
constexpr std::array kEncoders{
    EncoderFamily{"qwen2_vl", read_qwen2_vl},    EncoderFamily{"qwen2_5_vl", read_qwen2_5_vl},
    EncoderFamily{"qwen3_vl", read_qwen3_vl},    EncoderFamily{"qwen3_vl_moe", read_qwen3_vl},
    EncoderFamily{"qwen3_5", read_qwen3_5},      EncoderFamily{"qwen3_5_moe", read_qwen3_5},
    EncoderFamily{"gemma3", read_gemma3_encoder}};

const EncoderFamily* encoder_of(std::string_view model_type) {
  const auto* const found =
      std::find_if(kEncoders.begin(), kEncoders.end(),
                   [&](const EncoderFamily& one) { return one.model_type == model_type; });
  return found == kEncoders.end() ? nullptr : found;
}

}  // namespace

std::optional<VisionSpec> read_encoder(JsonObject& json) {
  const EncoderFamily* family = encoder_of(json.word("model_type"));
  if (family == nullptr || !json.has("vision_config")) {
    return std::nullopt;
  }
  VisionSpec vision;
  family->read(json, vision);
  return vision;
}

}  // namespace headway::import
