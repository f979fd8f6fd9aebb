// Models whose layers are written as single halves: attention, a mixer, an MLP or experts alone.
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

using workload::LayerContent;
using workload::MixerKind;
using workload::MixerSpec;
using workload::ModelSpec;

constexpr const char* kLayerLetters = "hybrid_override_pattern";
constexpr const char* kLayerWords = "layers_block_type";

/// Either letters or words say the layers; the newer files have words alone.
LetteredLayers read_half_layers(JsonObject& json, ModelSpec& model) {
  const bool letters = json.has(kLayerLetters);
  const char* key = letters ? kLayerLetters : kLayerWords;
  const LetteredLayers found = letters ? read_layer_letters(json.word(kLayerLetters))
                                       : read_half_words(json.words(kLayerWords));
  json.pass_over({kLayerWords});  // the same once more, beside letters
  const auto layers = static_cast<int>(std::min<std::size_t>(found.layers.size(), 1'000'000'000));
  if (!letters && !json.has(kLayerWords)) {
    json.complain(kLayerLetters, fmt::format("neither '{}' nor '{}' says what the layers are",
                                             kLayerLetters, kLayerWords));
  } else if (!found.problem.empty()) {
    json.complain(key, fmt::format("'{}': {}", key, found.problem));
  } else if (json.clean() && json.whole_or("num_hidden_layers", layers) != layers) {
    json.complain(key,
                  fmt::format("'{}' has {} {} for {} layers", key, layers,
                              letters ? "letters" : "entries", json.whole("num_hidden_layers")));
  }
  model.layers = std::max(1, layers);
  model.layer_pattern = shortest_pattern(found.layers);
  return found;
}

/// Prediction modules: how many, and that their layers are those that can be described.
void read_half_predictions(JsonObject& json, ModelSpec& model) {
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
  for (const char* key : {"mtp_hybrid_override_pattern", "mtp_layers_block_type"}) {
    if (!json.has_content(key) || model.multi_token_prediction == 0) {
      continue;
    }
    const LetteredLayers found =
        json.is_list(key) ? read_half_words(json.words(key)) : read_layer_letters(json.word(key));
    const std::string problem = found.problem.empty()
                                    ? prediction_problem(found.layers, model.moe.has_value())
                                    : found.problem;
    if (!problem.empty()) {
      json.complain(key, fmt::format("'{}': {}", key, problem));
    }
  }
}

/// Every layer is one half: Mamba-2, attention, MLP or experts.
void read_nemotron_h(JsonObject& json, ModelSpec& model) {
  const LetteredLayers half = read_half_layers(json, model);
  const auto has = [&half](LayerContent content) {
    return std::ranges::find(half.layers, content) != half.layers.end();
  };
  read_widths(json, model);
  model.head_dim = json.has("attention_head_dim") ? json.whole("attention_head_dim")
                                                  : json.whole_or("head_dim", 128);
  if (json.has("head_dim") && json.whole("head_dim") != model.head_dim) {
    json.complain("head_dim", fmt::format("'head_dim' {} is not 'attention_head_dim' {}",
                                          json.whole("head_dim"), model.head_dim));
  }
  set_attention_kind(model);
  model.gated_mlp = false;
  model.rotary = false;
  MixerSpec mixer;
  mixer.kind = MixerKind::mamba2;
  mixer.heads = json.whole("mamba_num_heads");
  mixer.key_heads = json.whole("n_groups");
  mixer.key_dim = json.whole("ssm_state_size");
  mixer.value_dim = json.whole("mamba_head_dim");
  mixer.convolution = json.whole_or("conv_kernel", 4);
  mixer.chunk = json.whole_or("chunk_size", 128);
  model.mixer = mixer;
  model.ffn = has(LayerContent::mlp_only) ? json.whole("intermediate_size") : 0;
  // Of layers that there are not, and what other keys say too.
  json.pass_over({"intermediate_size", "n_shared_experts", "expand"});
  if (has(LayerContent::experts_only)) {
    read_experts(json, model, {"n_routed_experts", "moe_intermediate_size"});
    read_shared_width(json, model, "moe_shared_expert_intermediate_size");
    read_routing_groups(json, model);
    model.moe->latent = json.whole_or("moe_latent_size", 0);
  }
  read_half_predictions(json, model);
}

/// Each layer of the file is as many of ours as its pattern has halves.
/// @param key  of the file that has its layers
void set_halves(JsonObject& json, const char* key, int layers, ModelSpec& model) {
  const auto halves = static_cast<int>(model.layer_pattern.size());
  if (layers > std::numeric_limits<int>::max() / halves) {
    json.complain(key, fmt::format("'{}' {} is too many", key, layers));
  } else {
    model.layers = layers * halves;
  }
}

/// Each layer of the file has two of attention and two dense MLPs in a row, and beside them, from
/// the first attention to the layer's end, a mixture whose null experts return a token as it is.
/// Source: transformers, modular_longcat_flash.py; LongCat-Flash Technical Report (arXiv
/// 2509.01322).
void read_longcat(JsonObject& json, ModelSpec& model) {
  const int layers = json.whole("num_layers");
  model.layer_pattern = {LayerContent::attention_only, LayerContent::experts_only,
                         LayerContent::mlp_only, LayerContent::attention_only,
                         LayerContent::mlp_only};
  set_halves(json, "num_layers", layers, model);
  read_widths(json, model);
  read_latent_attention(json, model);
  model.ffn = json.whole("ffn_hidden_size");
  read_experts(json, model, {"n_routed_experts", "expert_ffn_hidden_size", "moe_topk"});
  model.moe->null_experts = json.whole_or("zero_expert_num", 0, 0);
  const std::string type = json.word("zero_expert_type");
  if (!type.empty() && type != "identity") {
    json.complain("zero_expert_type",
                  fmt::format("experts without work of type '{}' are not modelled; those of type "
                              "identity are",
                              type));
  }
  if (json.whole_or("num_nextn_predict_layers", 0, 0) > 0) {
    json.complain("num_nextn_predict_layers",
                  "prediction layers with a dense MLP beside a mixture in the model's own are not "
                  "modelled; leave the key out");
  }
  // Twice num_layers, where transformers wrote the file; latent attention, as its ranks say.
  json.pass_over({"num_hidden_layers", "attention_method"});
  json.remark(
      "each layer is read as five halves one after another (attention, experts, MLP, attention, "
      "MLP): that its experts run beside the rest (the shortcut) is not modelled, so a step is "
      "predicted too long");
}

/// Each layer of the file has attention and then a dense MLP as wide as the model, each with a norm
/// of its own, and beside both a mixture that starts from the layer's input. Sources: ArcticConfig
/// and ArcticDecoderLayer of Snowflake-Labs/transformers; arctic.py of vllm-project/vllm.
void read_arctic(JsonObject& json, ModelSpec& model) {
  model.layer_pattern = {LayerContent::attention_only, LayerContent::mlp_only,
                         LayerContent::experts_only};
  read_shape(json, model);
  set_halves(json, "num_hidden_layers", model.layers, model);
  read_grouped_attention(json, model);
  model.ffn = model.hidden;
  read_experts(json, model, {"num_local_experts", "intermediate_size"});
  if (json.whole_or("moe_layer_frequency", 2) != 1) {
    json.complain("moe_layer_frequency",
                  "'moe_layer_frequency' must be 1: experts in every so many layers cannot be "
                  "described as halves");
  }
  const bool residual = json.flag_or("use_residual", false);
  if (!json.flag_or("parallel_attn_mlp_res", residual)) {
    json.complain("parallel_attn_mlp_res",
                  "'parallel_attn_mlp_res' must be true: layers of this family without a dense MLP "
                  "beside their experts are not modelled");
  }
  // Whether experts drop tokens is the run's: `moe.capacity_factor`.
  json.pass_over({"moe_token_dropping", "moe_train_capacity_factor", "moe_eval_capacity_factor",
                  "moe_min_capacity", "enable_expert_tensor_parallelism", "enc_index"});
  json.remark(
      "each layer is read as three halves one after another (attention, MLP, experts): that its "
      "experts run beside the rest is not modelled, so a step is predicted too long; tokens are "
      "not dropped unless 'moe.capacity_factor' says so");
}

constexpr std::array kHalfFamilies{Family{"nemotron_h", read_nemotron_h},
                                   Family{"longcat_flash", read_longcat},
                                   Family{"arctic", read_arctic}};

}  // namespace

std::span<const Family> half_families() { return kHalfFamilies; }

}  // namespace headway::import
