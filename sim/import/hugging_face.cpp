#include "sim/import/hugging_face.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/json_object.h"

namespace headway::import {

namespace {

using workload::AttentionKind;
using workload::ModelSpec;

enum class Family { dense, mixtral, qwen_experts, deepseek, gpt_oss };

struct FamilyName {
  const char* model_type;
  Family family;
};
constexpr std::array kFamilies{
    FamilyName{"llama", Family::dense},          FamilyName{"mistral", Family::dense},
    FamilyName{"qwen2", Family::dense},          FamilyName{"qwen3", Family::dense},
    FamilyName{"mixtral", Family::mixtral},      FamilyName{"qwen3_moe", Family::qwen_experts},
    FamilyName{"deepseek_v2", Family::deepseek}, FamilyName{"deepseek_v3", Family::deepseek},
    FamilyName{"kimi_k2", Family::deepseek},     FamilyName{"gpt_oss", Family::gpt_oss}};

/// The keys that only another kind of model has, and what that kind is.
struct ForeignKey {
  const char* key;
  const char* kind;
};
constexpr std::array kForeignKeys{
    ForeignKey{"vision_config", "a vision-language model"},
    ForeignKey{"audio_config", "an audio-language model"},
    ForeignKey{"text_config", "a composite of several models"},
    ForeignKey{"hybrid_override_pattern", "a hybrid of attention and state-space layers"},
    ForeignKey{"ssm_state_size", "a state-space model"},
    ForeignKey{"mamba_d_state", "a state-space model"},
    ForeignKey{"linear_num_key_heads", "a hybrid of full and linear attention"}};

/// @throws core::Error that names the model and why it cannot be described
void refuse_foreign(JsonObject& json, const std::string& model_type) {
  for (const auto& [key, kind] : kForeignKeys) {
    if (json.has(key)) {
      json.complain(
          key,
          fmt::format("model_type '{}' is {}; only decoder transformers of text can be described",
                      model_type, kind));
      json.throw_if_any();
    }
  }
  if (json.flag_or("is_encoder_decoder", false)) {
    json.complain(
        "is_encoder_decoder",
        fmt::format(
            "model_type '{}' has an encoder; only decoder transformers of text can be described",
            model_type));
    json.throw_if_any();
  }
}

/// @throws core::Error with the known families and a suggestion
Family family_of(JsonObject& json) {
  const std::string model_type = json.word("model_type");
  if (model_type.empty()) {
    json.complain("model_type", "'model_type' is missing; it says which family the keys belong to");
    json.throw_if_any();
  }
  refuse_foreign(json, model_type);
  std::vector<std::string> known;
  std::string list;
  for (const auto& [name, family] : kFamilies) {
    if (model_type == name) {
      return family;
    }
    known.emplace_back(name);
    list += (list.empty() ? "" : ", ") + known.back();
  }
  std::string message = fmt::format("model_type '{}' is not known", model_type);
  const auto near = core::did_you_mean(model_type, known);
  message += near ? fmt::format("; did you mean '{}'?", *near) : "; known are " + list;
  json.complain("model_type", std::move(message));
  json.throw_if_any();
  return Family::dense;
}

/// The name of a model from its file: "org--Model_config.json" gives "org--Model",
/// "Model/config.json" gives "Model".
std::string name_from_file(std::string file) {
  const auto last_part = [&file] { return file.substr(file.find_last_of('/') + 1); };
  std::string base = last_part();
  if (base == "config.json" && file.size() > base.size()) {
    file.resize(file.size() - base.size() - 1);
    return last_part().empty() ? base : last_part();
  }
  for (const std::string_view suffix : {".json", "_config"}) {
    if (base.ends_with(suffix) && base.size() > suffix.size()) {
      base.resize(base.size() - suffix.size());
    }
  }
  return base;
}

void read_shape(JsonObject& json, ModelSpec& model) {
  model.layers = json.whole("num_hidden_layers");
  model.hidden = json.whole("hidden_size");
  model.heads = json.whole("num_attention_heads");
  model.key_value_heads = json.whole_or("num_key_value_heads", model.heads);
  model.vocabulary = json.whole("vocab_size");
  model.tied_embeddings = json.flag_or("tie_word_embeddings", false);
  if (json.clean() && model.heads % model.key_value_heads != 0) {
    json.complain("num_key_value_heads",
                  fmt::format("'num_key_value_heads' {} does not divide 'num_attention_heads' {}",
                              model.key_value_heads, model.heads));
  }
}

void read_head_dim(JsonObject& json, ModelSpec& model) {
  if (json.has("head_dim")) {
    model.head_dim = json.whole("head_dim");
    return;
  }
  model.head_dim = std::max(1, model.hidden / model.heads);
  if (json.clean() && model.hidden % model.heads != 0) {
    json.complain("hidden_size",
                  fmt::format("'head_dim' is missing and 'hidden_size' {} is no multiple of "
                              "'num_attention_heads' {}",
                              model.hidden, model.heads));
  }
}

/// One layer in `period` attends to everything, and it is the last of each period; 1 if all do.
/// Nothing if the list shows no such pattern.
int window_period(JsonObject& json, const ModelSpec& model) {
  const std::vector<std::string> types = json.words("layer_types");
  const auto first_full = std::find(types.begin(), types.end(), "full_attention");
  const auto period = static_cast<std::size_t>(first_full - types.begin()) + 1;
  bool regular =
      types.size() == static_cast<std::size_t>(model.layers) && first_full != types.end();
  for (std::size_t i = 0; i < types.size() && regular; ++i) {
    regular = types[i] == (i % period == period - 1 ? "full_attention" : "sliding_attention");
  }
  if (!regular) {
    json.complain("layer_types",
                  fmt::format("'layer_types' must repeat some 'sliding_attention' and one "
                              "'full_attention' over all {} layers",
                              model.layers));
  }
  return static_cast<int>(period);
}

void read_window(JsonObject& json, ModelSpec& model) {
  // Qwen files state a window that is switched off by a flag of its own.
  if (!json.has("sliding_window") || !json.flag_or("use_sliding_window", true)) {
    return;
  }
  const int window = json.whole("sliding_window");
  if (json.has("use_sliding_window") && json.has("max_window_layers") && !json.has("layer_types")) {
    json.complain("use_sliding_window",
                  "a window on the upper layers only ('max_window_layers') cannot be described");
  }
  if (!json.has("layer_types")) {
    model.window = window;
  } else if (const int period = window_period(json, model); period > 1) {
    model.window = window;
    model.window_period = period;
  }
  if (model.window > 0) {
    model.attention = AttentionKind::sliding_window;
  }
}

void read_grouped_attention(JsonObject& json, ModelSpec& model) {
  read_head_dim(json, model);
  model.attention = model.key_value_heads == model.heads ? AttentionKind::multi_head
                                                         : AttentionKind::grouped_query;
  read_window(json, model);
}

void read_latent_attention(JsonObject& json, ModelSpec& model) {
  workload::LatentAttentionSpec latent;
  latent.query_rank = json.whole_or("q_lora_rank", 0);
  latent.key_value_rank = json.whole("kv_lora_rank");
  latent.no_rope_dim = json.whole("qk_nope_head_dim");
  latent.rope_dim = json.whole("qk_rope_head_dim");
  latent.value_dim = json.whole("v_head_dim");
  model.head_dim = latent.no_rope_dim + latent.rope_dim;
  model.latent = latent;
  model.attention = AttentionKind::multi_latent;
}

/// Experts in every layer: no dense layers, so no dense width.
void read_plain_experts(JsonObject& json,
                        ModelSpec& model,
                        const char* experts_key,
                        const char* width_key) {
  workload::ExpertsSpec moe;
  moe.experts = json.whole(experts_key);
  moe.top_k = json.whole("num_experts_per_tok");
  moe.ffn = json.whole(width_key);
  model.moe = moe;
}

/// Qwen lists the layers that keep a dense MLP; only leading ones can be described.
void read_qwen_experts(JsonObject& json, ModelSpec& model) {
  read_plain_experts(json, model, "num_experts", "moe_intermediate_size");
  if (json.whole_or("decoder_sparse_step", 1) != 1) {
    json.complain(
        "decoder_sparse_step",
        "'decoder_sparse_step' must be 1: experts in every so many layers cannot be described");
  }
  std::vector<int> dense = json.wholes("mlp_only_layers");
  std::sort(dense.begin(), dense.end());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (dense[i] != static_cast<int>(i)) {
      json.complain("mlp_only_layers", "'mlp_only_layers' must be the first layers: 0, 1, 2, ...");
      break;
    }
  }
  model.moe->leading_dense_layers = static_cast<int>(dense.size());
  model.ffn = dense.empty() ? 0 : json.whole("intermediate_size");
}

void read_deepseek_experts(JsonObject& json, ModelSpec& model) {
  read_plain_experts(json, model, "n_routed_experts", "moe_intermediate_size");
  model.moe->shared_experts = json.whole_or("n_shared_experts", 0, 0);
  model.moe->leading_dense_layers = json.whole_or("first_k_dense_replace", 0, 0);
  model.moe->routing_groups = json.whole_or("n_group", 1);
  const int limit = json.whole_or("topk_group", model.moe->routing_groups);
  model.moe->group_limit = limit < model.moe->routing_groups ? limit : 0;
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
  model.ffn = model.moe->leading_dense_layers > 0 ? json.whole("intermediate_size") : 0;
  if (json.whole_or("moe_layer_freq", 1) != 1) {
    json.complain(
        "moe_layer_freq",
        "'moe_layer_freq' must be 1: experts in every so many layers cannot be described");
  }
}

void read_family(JsonObject& json, Family family, ModelSpec& model) {
  if (family == Family::deepseek) {
    read_latent_attention(json, model);
    read_deepseek_experts(json, model);
    return;
  }
  read_grouped_attention(json, model);
  switch (family) {
    case Family::mixtral:
    case Family::gpt_oss:
      read_plain_experts(json, model, "num_local_experts", "intermediate_size");
      break;
    case Family::qwen_experts:
      read_qwen_experts(json, model);
      break;
    default:
      model.ffn = json.whole("intermediate_size");
  }
}

void check_experts(JsonObject& json, const ModelSpec& model) {
  if (!model.moe || !json.clean()) {
    return;
  }
  if (model.moe->top_k > model.moe->experts) {
    json.complain("num_experts_per_tok",
                  fmt::format("'num_experts_per_tok' {} is more than the {} experts",
                              model.moe->top_k, model.moe->experts));
  }
  if (model.moe->leading_dense_layers > model.layers) {
    json.complain("first_k_dense_replace",
                  fmt::format("{} dense layers are more than the {} layers",
                              model.moe->leading_dense_layers, model.layers));
  }
}

}  // namespace

ModelSpec read_hugging_face_config(std::string_view json_text, const std::string& file_name) {
  JsonObject json(json_text, file_name);
  const Family family = family_of(json);
  ModelSpec model;
  model.name = json.word("_name_or_path");
  if (model.name.empty()) {
    model.name = name_from_file(file_name);
  }
  read_shape(json, model);
  read_family(json, family, model);
  check_experts(json, model);
  json.throw_if_any();
  return model;
}

}  // namespace headway::import
