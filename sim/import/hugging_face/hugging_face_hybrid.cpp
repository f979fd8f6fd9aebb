// Hybrids of attention with linear attention or state spaces.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/import/hugging_face/hugging_face_parts.h"
#include "sim/import/layer_letters.h"

namespace headway::import {

namespace {

using workload::AttentionKind;
using workload::LayerContent;
using workload::MixerKind;
using workload::MixerSpec;
using workload::ModelSpec;

/// A list with a word for each layer.
/// @param mixer  the word of a layer with a mixer
/// @param full   that of one with attention
void read_layer_words(
    JsonObject& json, ModelSpec& model, const char* key, const char* mixer, const char* full) {
  const std::vector<std::string> words = json.words(key);
  if (json.clean() && words.size() != static_cast<std::size_t>(model.layers)) {
    json.complain(
        key, fmt::format("'{}' has {} entries for {} layers", key, words.size(), model.layers));
  }
  std::vector<LayerContent> layers;
  for (const std::string& word : words) {
    if (word != mixer && word != full) {
      json.complain(key, fmt::format("layers of type '{}' are not modelled", word));
      return;
    }
    layers.push_back(word == mixer ? LayerContent::mixer : LayerContent::attention);
  }
  model.layer_pattern = shortest_pattern(layers);
}

/// A layer of `period` from `offset` on.
struct EveryLayers {
  int period = 1;
  int offset = 0;
};

/// Mixers, but for one layer with attention in each period.
/// @param key  of the period, which is no longer than the model
void set_period(JsonObject& json, ModelSpec& model, const char* key, const EveryLayers& attention) {
  if (json.clean() && attention.period > model.layers) {
    json.complain(key, fmt::format("'{}' {} of {} layers", key, attention.period, model.layers));
  }
  if (!json.clean()) {
    return;
  }
  model.layer_pattern.assign(static_cast<std::size_t>(attention.period), LayerContent::mixer);
  model.layer_pattern[static_cast<std::size_t>(attention.offset)] = LayerContent::attention;
}

/// One layer in so many has attention, the last of each period.
void read_interval(JsonObject& json, ModelSpec& model) {
  if (json.has("layer_types")) {
    read_layer_words(json, model, "layer_types", "linear_attention", "full_attention");
    json.pass_over({"full_attention_interval"});
    return;
  }
  const int interval = json.whole_or("full_attention_interval", 4);
  set_period(json, model, "full_attention_interval", {interval, interval - 1});
}

/// Gated delta networks beside attention with a gate, in Qwen3-Next and Qwen3.5.
void read_gated_delta(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  model.query_key_norm = true;
  model.attention_gate = json.flag_or("attn_output_gate", true);
  MixerSpec mixer;
  mixer.kind = MixerKind::gated_delta;
  mixer.heads = json.whole("linear_num_value_heads");
  mixer.key_heads = json.whole("linear_num_key_heads");
  mixer.key_dim = json.whole("linear_key_head_dim");
  mixer.value_dim = json.whole("linear_value_head_dim");
  mixer.convolution = json.whole("linear_conv_kernel_dim");
  model.mixer = mixer;
  read_interval(json, model);
  model.multi_token_prediction = json.whole_or("mtp_num_hidden_layers", 0, 0);
}

void read_qwen3_5_dense(JsonObject& json, ModelSpec& model) {
  read_gated_delta(json, model);
  model.ffn = json.whole("intermediate_size");
}

void read_qwen3_next(JsonObject& json, ModelSpec& model) {
  read_gated_delta(json, model);
  read_qwen_mixture(json, model);
}

/// Two lists of layers, counted from one, that have each layer once between them.
void read_kimi_layers(JsonObject& json, ModelSpec& model) {
  constexpr const char* kFull = "linear_attn_config.full_attn_layers";
  constexpr const char* kLinear = "linear_attn_config.kda_layers";
  const std::vector<int> full = json.wholes(kFull);
  const std::vector<int> linear = json.wholes(kLinear);
  std::vector<LayerContent> layers(static_cast<std::size_t>(model.layers), LayerContent::mixer);
  for (const int layer : full) {
    if (layer < 1 || layer > model.layers) {
      json.complain(kFull,
                    fmt::format("'full_attn_layers' names layer {} of {}", layer, model.layers));
      return;
    }
    layers[static_cast<std::size_t>(layer) - 1] = LayerContent::attention;
  }
  std::vector<int> once;
  for (int layer = 1; json.has(kLinear) && layer <= model.layers; ++layer) {
    const bool in_full = layers[static_cast<std::size_t>(layer) - 1] == LayerContent::attention;
    if (in_full == (std::ranges::find(linear, layer) != linear.end())) {
      once.push_back(layer);
    }
  }
  if (!once.empty()) {
    json.complain(kFull, fmt::format("layers {} are in neither or both of 'full_attn_layers' and "
                                     "'kda_layers'; each must be in one",
                                     fmt::join(once, ", ")));
  }
  model.layer_pattern = shortest_pattern(layers);
}

/// Kimi delta attention beside latent attention.
void read_kimi_linear(JsonObject& json, ModelSpec& model) {
  if (json.has("attn_res_block_size")) {
    json.complain("attn_res_block_size",
                  "'attn_res_block_size': residuals over blocks of layers (Kimi K3) are not "
                  "modelled");
  }
  if (json.flag_or("mla_use_output_gate", false)) {
    json.complain("mla_use_output_gate",
                  "a gate of latent attention's output (Kimi K3) is not modelled");
  }
  if (json.flag_or("linear_attn_config.use_full_rank_gate", false)) {
    json.complain("linear_attn_config.use_full_rank_gate",
                  "a gate of full rank in Kimi delta attention is not modelled");
  }
  read_shape(json, model);
  read_latent_attention(json, model);
  model.rotary = !json.flag_or("mla_use_nope", false);
  read_experts(json, model, {"num_experts", "moe_intermediate_size", "num_experts_per_token"});
  model.moe->shared_experts = json.whole_or("num_shared_experts", 0, 0);
  model.moe->latent = json.whole_or("routed_expert_hidden_size", 0);
  read_leading_dense(json, model, "first_k_dense_replace");
  require_every_layer(json, "moe_layer_freq");
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
  MixerSpec mixer;
  mixer.kind = MixerKind::kimi_delta;
  mixer.heads = json.whole("linear_attn_config.num_heads");
  mixer.key_dim = mixer.value_dim = json.whole("linear_attn_config.head_dim");
  mixer.convolution = json.whole_or("linear_attn_config.short_conv_kernel_size", 4);
  model.mixer = mixer;
  json.pass_over({"topk_group"});  // of one group of experts
  read_kimi_layers(json, model);
}

/// Lightning attention; the first files say 0 and 1 for linear and softmax attention.
void read_minimax(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_experts(json, model, {"num_local_experts", "intermediate_size"});
  const char* key = "shared_intermediate_size";
  const std::vector<int> shared =
      json.is_list(key) ? json.wholes(key) : std::vector<int>{json.whole_or(key, 0, 0)};
  if (std::any_of(shared.begin(), shared.end(), [](int width) { return width > 0; })) {
    json.complain(key, "shared experts of 'minimax' models are not modelled");
  }
  MixerSpec mixer;
  mixer.kind = MixerKind::lightning;
  mixer.heads = model.heads;
  mixer.key_dim = mixer.value_dim = model.head_dim;
  mixer.convolution = 0;
  mixer.chunk = json.whole_or("block_size", 256);
  model.mixer = mixer;
  if (!json.has("attn_type_list")) {
    read_layer_words(json, model, "layer_types", "linear_attention", "full_attention");
    return;
  }
  std::vector<LayerContent> layers;
  for (const int type : json.wholes("attn_type_list")) {
    if (json.clean() && type != 0 && type != 1) {
      json.complain(
          "attn_type_list",
          fmt::format("'attn_type_list' has a {}; 0 is linear attention, 1 softmax", type));
    }
    layers.push_back(type == 0 ? LayerContent::mixer : LayerContent::attention);
  }
  if (layers.size() != static_cast<std::size_t>(model.layers)) {
    json.complain("attn_type_list", fmt::format("'attn_type_list' has {} entries for {} layers",
                                                layers.size(), model.layers));
  }
  model.layer_pattern = shortest_pattern(layers);
}

/// So many times the width of the model; twice where the file does not say.
int expanded_width(JsonObject& json, const ModelSpec& model, const char* key) {
  const std::int64_t width = std::int64_t{json.whole_or(key, 2)} * model.hidden;
  if (width > std::numeric_limits<int>::max()) {
    json.complain(key, fmt::format("'{}' makes {} channels", key, width));
    return 1;
  }
  return static_cast<int>(width);
}

/// How the keys of Mamba-1 are written.
struct SelectiveKeys {
  const char* states;
  const char* convolution;
  const char* step_rank;  ///< a number, or "auto"
};
MixerSpec read_mamba1(JsonObject& json,
                      const ModelSpec& model,
                      int channels,
                      const SelectiveKeys& keys) {
  MixerSpec mixer;
  mixer.kind = MixerKind::mamba1;
  mixer.heads = channels;
  mixer.key_dim = json.whole_or(keys.states, 16);
  mixer.value_dim = 1;
  mixer.convolution = json.whole_or(keys.convolution, 4);
  const bool automatic = !json.has(keys.step_rank) || json.is_word(keys.step_rank);
  const int sixteenth = model.hidden / 16 + (model.hidden % 16 > 0 ? 1 : 0);
  mixer.step_rank = automatic ? sixteenth : json.whole(keys.step_rank);
  return mixer;
}

/// Mamba-2 as Falcon-H1, Bamba and Granite 4 write it.
void read_mamba2(JsonObject& json, ModelSpec& model) {
  const int width = json.whole_or("mamba_d_ssm", expanded_width(json, model, "mamba_expand"));
  MixerSpec mixer;
  mixer.kind = MixerKind::mamba2;
  mixer.heads = json.whole("mamba_n_heads");
  mixer.key_heads = json.whole_or("mamba_n_groups", 1);
  mixer.key_dim = json.whole("mamba_d_state");
  mixer.value_dim = std::max(1, width / mixer.heads);
  mixer.convolution = json.whole_or("mamba_d_conv", 4);
  mixer.chunk = json.whole_or("mamba_chunk_size", 256);
  if (json.clean() && width % mixer.heads != 0) {
    json.complain("mamba_n_heads", fmt::format("'mamba_n_heads' {} does not divide the {} channels",
                                               mixer.heads, width));
  }
  model.mixer = mixer;
}

EveryLayers read_every(JsonObject& json, const char* period, const char* offset) {
  const EveryLayers every{json.whole(period), json.whole(offset, 0)};
  if (json.clean() && every.offset >= every.period) {
    json.complain(offset, fmt::format("'{}' {} is not below '{}' {}", offset, every.offset, period,
                                      every.period));
  }
  return every;
}

/// Mamba-1 with norms of its steps, B and C; one layer of a period has attention, one of another
/// experts.
void read_jamba(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  model.rotary = false;
  model.ffn = json.whole("intermediate_size");
  model.mixer = read_mamba1(json, model, expanded_width(json, model, "mamba_expand"),
                            {"mamba_d_state", "mamba_d_conv", "mamba_dt_rank"});
  const EveryLayers attention = read_every(json, "attn_layer_period", "attn_layer_offset");
  if (json.whole("num_experts") > 1) {
    const EveryLayers experts = read_every(json, "expert_layer_period", "expert_layer_offset");
    read_experts(json, model, {"num_experts", "intermediate_size"});
    if (experts.offset != experts.period - 1) {
      json.complain("expert_layer_offset",
                    fmt::format("'expert_layer_offset' {}: only the last layer of each "
                                "'expert_layer_period' {} can have experts",
                                experts.offset, experts.period));
    }
    model.moe->period = experts.period;
  }
  set_period(json, model, "attn_layer_period", attention);
}

/// Every layer is one mixer, so there are no heads of attention to speak of.
void read_state_space(JsonObject& json, ModelSpec& model, bool tied) {
  model.layers = json.whole("num_hidden_layers");
  model.hidden = json.whole("hidden_size");
  model.vocabulary = json.whole("vocab_size");
  model.tied_embeddings = json.flag_or("tie_word_embeddings", tied);
  model.heads = model.key_value_heads = model.head_dim = 1;
  model.attention = AttentionKind::multi_head;
  model.gated_mlp = false;
  model.rotary = false;
  model.layer_pattern = {LayerContent::mixer_only};
  if (json.flag_or("use_bias", false)) {
    json.complain("use_bias", "biases of the mixers' projections are not modelled");
  }
}

/// Channels of its mixers.
int state_space_width(JsonObject& json, const ModelSpec& model) {
  return json.whole_or("intermediate_size", expanded_width(json, model, "expand"));
}

void read_mamba(JsonObject& json, ModelSpec& model) {
  read_state_space(json, model, true);
  model.mixer = read_mamba1(json, model, state_space_width(json, model),
                            {"state_size", "conv_kernel", "time_step_rank"});
  model.mixer->norm = false;
}

/// With norms of steps, B and C, which have no weights of their own.
void read_falcon_mamba(JsonObject& json, ModelSpec& model) {
  read_mamba(json, model);
  model.mixer->norm = true;
}

void read_pure_mamba2(JsonObject& json, ModelSpec& model) {
  read_state_space(json, model, false);
  MixerSpec mixer;
  mixer.kind = MixerKind::mamba2;
  mixer.heads = json.whole_or("num_heads", 128);
  mixer.value_dim = json.whole_or("head_dim", 64);
  mixer.key_heads = json.whole_or("n_groups", 8);
  mixer.key_dim = json.whole_or("state_size", 128);
  mixer.convolution = json.whole_or("conv_kernel", 4);
  mixer.chunk = json.whole_or("chunk_size", 256);
  const int width = state_space_width(json, model);
  if (json.clean() && std::int64_t{mixer.heads} * mixer.value_dim != width) {
    json.complain("num_heads", fmt::format("'num_heads' {} x 'head_dim' {} are not the {} channels",
                                           mixer.heads, mixer.value_dim, width));
  }
  model.mixer = mixer;
}

/// Attention and Mamba-2 side by side in every layer.
void read_falcon_h1(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  model.ffn = json.whole("intermediate_size");
  // Of MLPs without 'intermediate_size', and of a class that later ones read no more.
  json.pass_over({"mlp_expansion_factor", "mamba_use_mlp"});
  read_mamba2(json, model);
  model.mixer->norm = json.flag_or("mamba_rms_norm", false);
  model.layer_pattern = {LayerContent::both};
}

void read_bamba(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  model.ffn = json.whole("intermediate_size");
  read_mamba2(json, model);
  std::vector<LayerContent> layers(static_cast<std::size_t>(model.layers), LayerContent::mixer);
  for (const int layer : json.wholes("attn_layer_indices")) {
    if (layer < 0 || layer >= model.layers) {
      json.complain("attn_layer_indices",
                    fmt::format("'attn_layer_indices' names layer {} of {}", layer, model.layers));
      return;
    }
    layers[static_cast<std::size_t>(layer)] = LayerContent::attention;
  }
  model.layer_pattern = shortest_pattern(layers);
}

/// Experts and a shared MLP after each mixer; without experts that MLP alone.
void read_granite_hybrid(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true);
  read_head_dim(json, model);
  set_attention_kind(model);
  model.rotary = json.word("position_embedding_type") == "rope";
  if (json.whole_or("num_local_experts", 0, 0) > 0) {
    read_experts(json, model, {"num_local_experts", "intermediate_size"});
    read_shared_width(json, model, "shared_intermediate_size");
  } else {
    model.ffn = json.whole("shared_intermediate_size");
  }
  read_mamba2(json, model);
  read_layer_words(json, model, "layer_types", "mamba", "attention");
}

constexpr std::array kHybridFamilies{Family{"qwen3_next", read_qwen3_next},
                                     Family{"qwen3_5_text", read_qwen3_5_dense},
                                     Family{"qwen3_5_moe_text", read_qwen3_next},
                                     Family{"kimi_linear", read_kimi_linear},
                                     Family{"minimax", read_minimax},
                                     Family{"minimax_text_01", read_minimax},
                                     Family{"minimax_m1", read_minimax},
                                     Family{"falcon_h1", read_falcon_h1},
                                     Family{"mamba", read_mamba},
                                     Family{"mamba2", read_pure_mamba2},
                                     Family{"falcon_mamba", read_falcon_mamba},
                                     Family{"jamba", read_jamba},
                                     Family{"bamba", read_bamba},
                                     Family{"granitemoehybrid", read_granite_hybrid}};

}  // namespace

std::span<const Family> hybrid_families() { return kHybridFamilies; }

}  // namespace headway::import
