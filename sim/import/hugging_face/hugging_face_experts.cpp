// Mixtures of experts.
#include <algorithm>
#include <array>
#include <vector>

#include "sim/import/hugging_face/hugging_face_parts.h"

namespace headway::import {

using workload::AttentionKind;
using workload::ModelSpec;

void read_experts(JsonObject& json, ModelSpec& model, const ExpertKeys& keys) {
  workload::ExpertsSpec moe;
  moe.experts = json.whole(keys.experts);
  moe.top_k = json.whole(keys.top_k);
  moe.ffn = json.whole(keys.width);
  model.moe = moe;
}

void read_routing_groups(JsonObject& json, ModelSpec& model) {
  model.moe->routing_groups = json.whole_or("n_group", 1);
  const int limit = json.whole_or("topk_group", model.moe->routing_groups);
  model.moe->group_limit = limit < model.moe->routing_groups ? limit : 0;
  if (json.clean() && model.moe->experts % model.moe->routing_groups != 0) {
    json.complain("n_group", fmt::format("'n_group' {} does not divide the {} experts",
                                         model.moe->routing_groups, model.moe->experts));
  }
}

void read_leading_dense(JsonObject& json, ModelSpec& model, const char* key) {
  model.moe->leading_dense_layers = json.whole_or(key, 0, 0);
  model.ffn = model.moe->leading_dense_layers > 0 ? json.whole("intermediate_size") : 0;
  json.pass_over({"intermediate_size"});  // of dense layers, where there are none
}

void read_shared_width(JsonObject& json, ModelSpec& model, const char* key) {
  const int width = json.whole_or(key, 0, 0);
  if (json.clean() && width % model.moe->ffn != 0) {
    json.complain(key, fmt::format("'{}' {} is no multiple of the experts' width {}: a shared MLP "
                                   "of such a width cannot be described",
                                   key, width, model.moe->ffn));
    return;
  }
  model.moe->shared_experts = width / model.moe->ffn;
}

void require_every_layer(JsonObject& json, const char* key) {
  if (json.whole_or(key, 1) != 1) {
    json.complain(
        key,
        fmt::format("'{}' must be 1: experts in every so many layers cannot be described", key));
  }
}

void read_latent_attention(JsonObject& json, ModelSpec& model) {
  workload::LatentAttentionSpec latent;
  latent.query_rank = json.whole_or("q_lora_rank", 0);
  latent.key_value_rank = json.whole("kv_lora_rank");
  latent.no_rope_dim = json.whole("qk_nope_head_dim");
  latent.rope_dim = json.whole("qk_rope_head_dim");
  latent.value_dim = json.whole("v_head_dim");
  model.head_dim = latent.no_rope_dim + latent.rope_dim;
  json.pass_over({"head_dim", "qk_head_dim"});  // the rotary part, or the sum
  model.latent = latent;
  model.attention = AttentionKind::multi_latent;
}

void read_qwen_mixture(JsonObject& json, ModelSpec& model) {
  read_experts(json, model, {"num_experts", "moe_intermediate_size"});
  model.moe->period = json.whole_or("decoder_sparse_step", 1);
  std::vector<int> dense = json.wholes("mlp_only_layers");
  if (model.moe->period > 1 && !dense.empty()) {
    json.complain("mlp_only_layers",
                  "'mlp_only_layers' beside 'decoder_sparse_step' above 1 cannot be described");
  }
  std::sort(dense.begin(), dense.end());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (dense[i] != static_cast<int>(i)) {
      json.complain("mlp_only_layers", "'mlp_only_layers' must be the first layers: 0, 1, 2, ...");
      break;
    }
  }
  model.moe->leading_dense_layers = static_cast<int>(dense.size());
  const bool some_dense = model.moe->period > 1 || !dense.empty();
  model.ffn = some_dense ? json.whole("intermediate_size") : 0;
  json.pass_over({"intermediate_size"});
  read_shared_width(json, model, "shared_expert_intermediate_size");
}

namespace {

void read_mixtral(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  read_experts(json, model, {"num_local_experts", "intermediate_size"});
}

/// Experts have biases, which the configuration does not name. With YaRN the rotary embedding has a
/// factor, 0.1 ln(scale) + 1. Every second layer has no window where the file lists none.
/// Source: transformers, models/gpt_oss/configuration_gpt_oss.py, 2025.
void read_gpt_oss(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_periodic_window(json, model, 2);
  read_experts(json, model, {"num_local_experts", "intermediate_size"});
  model.moe->biases = true;
  model.moe->limited_activation = json.has("swiglu_limit");
  constexpr const char* kScaling = "rope_scaling.rope_type";
  model.scaled_rotary = json.is_word(kScaling) && json.word(kScaling) == "yarn";
}

/// An MLP for every token beside the experts, of so many times their width.
void read_gemma4(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_periodic_window(json, model, 6);
  read_full_attention(json, model);
  model.norms = 4;
  model.query_key_norm = true;
  if (json.whole_or("hidden_size_per_layer_input", 256, 0) > 0) {
    json.complain("hidden_size_per_layer_input",
                  "embeddings that every layer adds ('hidden_size_per_layer_input') are not "
                  "modelled");
  }
  if (json.flag_or("use_double_wide_mlp", false)) {
    json.complain("use_double_wide_mlp",
                  "layers with MLPs of twice the width ('use_double_wide_mlp') are not modelled");
  }
  if (!json.flag_or("enable_moe_block", false)) {
    model.ffn = json.whole("intermediate_size");
    return;
  }
  read_experts(json, model, {"num_experts", "moe_intermediate_size", "top_k_experts"});
  read_shared_width(json, model, "intermediate_size");
}

void read_olmoe(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  read_experts(json, model, {"num_experts", "intermediate_size"});
  model.query_key_norm = true;
}

void read_qwen2_experts(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  read_qwen_mixture(json, model);
}

void read_qwen3_experts(JsonObject& json, ModelSpec& model) {
  read_qwen2_experts(json, model);
  model.query_key_norm = json.flag_or("use_qk_norm", true);
}

/// Routing in groups, shared experts and leading dense layers, as DeepSeek and its heirs write
/// them.
void read_deepseek_experts(JsonObject& json, ModelSpec& model) {
  read_experts(json, model, {"n_routed_experts", "moe_intermediate_size"});
  model.moe->shared_experts = json.whole_or("n_shared_experts", 0, 0);
  read_leading_dense(json, model, "first_k_dense_replace");
  read_routing_groups(json, model);
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
  require_every_layer(json, "moe_layer_freq");
}

void read_deepseek(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_latent_attention(json, model);
  read_deepseek_experts(json, model);
}

/// Layers of which none but some have an indexer: the first ones, and from the last of those on one
/// in every so many. `indexer_types` lists them; without it `index_topk_freq` and
/// `index_skip_topk_offset` say them, layer l having one where max(l + 1 - offset, 0) is a
/// multiple. Source: transformers, configuration_glm_moe_dsa.py; Megatron-LM, dsa.py,
/// is_dsa_skip_topk_layer.
void read_shared_indexers(JsonObject& json, ModelSpec& model) {
  workload::SparseAttentionSpec& sparse = *model.sparse;
  if (json.has_content("index_topk_pattern")) {
    json.complain("index_topk_pattern",
                  "layers with indexers in an order of their own ('index_topk_pattern') cannot be "
                  "described");
  }
  sparse.period = json.whole_or("index_topk_freq", 1);
  const int offset = std::max(1, json.whole_or("index_skip_topk_offset", 0, 0));
  sparse.leading_layers = sparse.period > 1 ? offset - 1 : 0;
  const std::vector<std::string> types = json.words("indexer_types");
  if (types.empty()) {
    return;
  }
  const auto size = static_cast<int>(types.size());
  const auto first_shared = std::ranges::find(types, "shared");
  const auto next_full = std::find(first_shared, types.end(), "full");
  sparse.period = 1;
  sparse.leading_layers = 0;
  if (first_shared != types.end() && first_shared != types.begin()) {
    sparse.leading_layers = static_cast<int>(first_shared - types.begin()) - 1;
    sparse.period = static_cast<int>(next_full - first_shared) + 1;
  }
  bool regular = size == model.layers && types.front() == "full";
  for (int l = 0; l < size && regular; ++l) {
    const int behind = l - sparse.leading_layers;
    const bool full = behind <= 0 || behind % sparse.period == 0;
    regular = types[static_cast<std::size_t>(l)] == (full ? "full" : "shared");
  }
  if (json.clean() && !regular) {
    json.complain("indexer_types",
                  fmt::format("'indexer_types' must have {} entries: 'full' for the first layers, "
                              "then one 'full' and as many 'shared' again and again",
                              model.layers));
  }
}

/// Layers with a dense MLP by name; they must be those that 'first_k_dense_replace' counts.
void check_dense_layers(JsonObject& json, const ModelSpec& model) {
  const std::vector<std::string> types = json.words("mlp_layer_types");
  for (std::size_t l = 0; l < types.size() && json.clean(); ++l) {
    const bool dense = static_cast<int>(l) < model.moe->leading_dense_layers;
    if (types[l] != (dense ? "dense" : "sparse")) {
      json.complain("mlp_layer_types",
                    fmt::format("'mlp_layer_types' must be 'dense' in the first {} layers "
                                "('first_k_dense_replace') and 'sparse' in the others",
                                model.moe->leading_dense_layers));
    }
  }
}

/// The same, and what layers attend to, which is alike in all.
void check_layer_types(JsonObject& json, const ModelSpec& model) {
  json.pass_over({"num_experts"});  // 'n_routed_experts' once more
  for (const std::string& type : json.words("layer_types")) {
    if (json.clean() && type != "deepseek_sparse_attention") {
      json.complain("layer_types", fmt::format("layers of type '{}' are not modelled", type));
    }
  }
  check_dense_layers(json, model);
}

/// GLM-4.7-Flash: DeepSeek's latent attention and mixture under names of GLM.
void read_glm4_lite(JsonObject& json, ModelSpec& model) {
  read_deepseek(json, model);
  check_dense_layers(json, model);
}

/// DeepSeek-V3.2 and GLM-5: an indexer chooses keys of latent attention; that of GLM-5.2 for
/// several layers.
void read_sparse_deepseek(JsonObject& json, ModelSpec& model) {
  read_deepseek(json, model);
  check_layer_types(json, model);
  model.sparse = workload::SparseAttentionSpec{};
  model.sparse->index_heads = json.whole("index_n_heads");
  model.sparse->index_dim = json.whole("index_head_dim");
  model.sparse->top_k = json.whole("index_topk");
  read_shared_indexers(json, model);
}

/// The first DeepSeek models: plain attention, a mixture or none.
void read_deepseek_v1(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  if (json.has("n_routed_experts")) {
    read_deepseek_experts(json, model);
  } else {
    model.ffn = json.whole("intermediate_size");
  }
}

void read_glm4_moe(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  read_deepseek_experts(json, model);
  model.query_key_norm = json.flag_or("use_qk_norm", false);
}

/// K-EXAONE: windows as EXAONE 4 has them, and behind the dense layers DeepSeek's mixture under
/// names of its own. Source: transformers, configuration_exaone_moe.py.
void read_exaone_experts(JsonObject& json, ModelSpec& model) {
  read_exaone4(json, model);
  read_experts(json, model, {"num_experts", "moe_intermediate_size"});
  model.moe->shared_experts = json.whole_or("num_shared_experts", 1, 0);
  read_leading_dense(json, model, "first_k_dense_replace");
  read_routing_groups(json, model);
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
  check_dense_layers(json, model);
}

/// dots.llm1: GLM's mixture with normed queries and keys in every model.
void read_dots(JsonObject& json, ModelSpec& model) {
  read_glm4_moe(json, model);
  model.query_key_norm = true;
}

/// Ling and Ring: dense layers first, shared experts in units of the routed ones.
void read_bailing(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  read_experts(json, model, {"num_experts", "moe_intermediate_size"});
  model.moe->shared_experts = json.whole_or("num_shared_experts", 0, 0);
  read_leading_dense(json, model, "first_k_dense_replace");
  read_routing_groups(json, model);
  model.query_key_norm = json.flag_or("use_qk_norm", false);
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
  const int shared = json.whole_or("moe_shared_expert_intermediate_size", model.moe->ffn);
  if (json.clean() && shared != model.moe->ffn) {
    json.complain("moe_shared_expert_intermediate_size",
                  fmt::format("shared experts of width {} beside routed ones of {} cannot be "
                              "described",
                              shared, model.moe->ffn));
  }
}

void read_granite_experts(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  read_experts(json, model, {"num_local_experts", "intermediate_size"});
  read_shared_width(json, model, "shared_intermediate_size");
}

void read_dbrx(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, false, {"n_layers", "d_model", "n_heads"});
  model.key_value_heads = json.whole_or("attn_config.kv_n_heads", model.heads);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_experts(
      json, model,
      {"ffn_config.moe_num_experts", "ffn_config.ffn_hidden_size", "ffn_config.moe_top_k"});
}

/// Dense layers first, then a mixture in each layer.
void read_ernie_experts(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true);
  read_grouped_attention(json, model);
  read_experts(json, model, {"moe_num_experts", "moe_intermediate_size", "moe_k"});
  model.moe->shared_experts = json.whole_or("moe_num_shared_experts", 0, 0);
  read_leading_dense(json, model, "moe_layer_start_index");
  require_every_layer(json, "moe_layer_interval");
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
  const int end = json.whole_or("moe_layer_end_index", -1, -1);
  if (end != -1 && end != model.layers - 1) {
    json.complain("moe_layer_end_index",
                  "'moe_layer_end_index' must be the last layer: dense layers behind the mixtures "
                  "cannot be described");
  }
}

/// Figures of each layer may be a list; all layers must be alike.
int same_in_all(JsonObject& json, const char* key, int fallback, int least) {
  if (!json.is_list(key)) {
    return fallback > 0 ? json.whole_or(key, fallback, least) : json.whole(key, least);
  }
  const std::vector<int> values = json.wholes(key);
  const bool alike =
      !values.empty() && std::equal(values.begin() + 1, values.end(), values.begin());
  if (!alike) {
    json.complain(key, fmt::format("'{}' must be alike in all layers", key));
    return 1;
  }
  return values.front();
}

void read_hunyuan_experts(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  workload::ExpertsSpec moe;
  moe.experts = same_in_all(json, "num_experts", 0, 1);
  moe.top_k = same_in_all(json, "moe_topk", 1, 1);
  moe.ffn = same_in_all(json, "moe_intermediate_size", json.whole_or("intermediate_size", 0), 1);
  moe.shared_experts = same_in_all(json, "num_shared_expert", 1, 0);
  model.moe = moe;
  model.query_key_norm = json.flag_or("use_qk_norm", true);
  json.pass_over({"attention_head_dim"});  // head_dim again
}

void read_minimax_m2(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  read_experts(json, model, {"num_local_experts", "intermediate_size"});
  model.query_key_norm = json.flag_or("use_qk_norm", true);
  const std::vector<int> types = json.wholes("attn_type_list");
  if (std::any_of(types.begin(), types.end(), [](int type) { return type != 1; })) {
    json.complain("attn_type_list",
                  "'attn_type_list' must be 1 in all layers: softmax attention; others are read of "
                  "'minimax' models alone");
  }
  if (json.flag_or("use_mtp", false)) {
    model.multi_token_prediction = json.whole_or("num_mtp_modules", 0, 0);
    if (json.whole_or("mtp_transformer_layers", 1) != 1) {
      json.complain("mtp_transformer_layers",
                    "prediction modules of several layers are not modelled");
    }
  }
}

/// Lists of Llama 4's layers say once more what its shorter keys do.
void check_llama4_layers(JsonObject& json, ModelSpec& model) {
  const std::vector<std::string> types = json.words("layer_types");
  const auto full = [](const std::string& type) { return type == "full_attention"; };
  if (!types.empty() && std::ranges::all_of(types, full)) {
    model.window = 0;
    model.window_period = 1;
    model.chunked_window = false;
    set_attention_kind(model);
  }
  for (std::size_t l = 0; l < types.size() && model.window > 0; ++l) {
    if (types[l] != (l % 4 == 3 ? "full_attention" : "chunked_attention")) {
      json.complain("layer_types",
                    "'layer_types' must be 'chunked_attention' three times, then "
                    "'full_attention', and so on, or 'full_attention' in all layers");
      break;
    }
  }
  const std::vector<int> rotary = json.wholes("no_rope_layers");
  for (std::size_t l = 0; l < rotary.size(); ++l) {
    if (rotary[l] != (l % 4 == 3 ? 0 : 1)) {
      json.complain("no_rope_layers",
                    "'no_rope_layers' must be 1, 1, 1, 0, ...: every fourth layer "
                    "attends to all tokens");
      break;
    }
  }
  const std::vector<int> experts = json.wholes("moe_layers");
  std::vector<int> expected;
  for (int l = model.moe->period - 1; l < model.layers; l += model.moe->period) {
    expected.push_back(l);
  }
  if (json.clean() && !experts.empty() && experts != expected) {
    json.complain("moe_layers",
                  fmt::format("'moe_layers' must be the last of every {} "
                              "('interleave_moe_layer_step'): mixtures in an order of their own "
                              "cannot be described",
                              model.moe->period));
  }
}

/// Three layers in four attend within pieces of the sequence; experts in every layer or every
/// second.
void read_llama4(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_experts(json, model, {"num_local_experts", "intermediate_size"});
  model.moe->shared_experts = 1;
  model.moe->period = json.whole_or("interleave_moe_layer_step", 1);
  model.ffn = model.moe->period > 1 ? json.whole("intermediate_size_mlp") : 0;
  json.pass_over({"intermediate_size_mlp"});  // of dense layers, where there are none
  model.query_key_norm = json.flag_or("use_qk_norm", true);
  if (json.has("attention_chunk_size")) {
    model.window = json.whole("attention_chunk_size");
    model.window_period = 4;
    model.chunked_window = true;
    model.attention = AttentionKind::sliding_window;
  }
  check_llama4_layers(json, model);
}

constexpr std::array kExpertFamilies{Family{"mixtral", read_mixtral},
                                     Family{"phimoe", read_mixtral},
                                     Family{"gpt_oss", read_gpt_oss},
                                     Family{"granitemoe", read_granite_experts},
                                     Family{"granitemoeshared", read_granite_experts},
                                     Family{"gemma4_text", read_gemma4},
                                     Family{"olmoe", read_olmoe},
                                     Family{"flex_olmo", read_olmoe},
                                     Family{"qwen2_moe", read_qwen2_experts},
                                     Family{"qwen3_moe", read_qwen3_experts},
                                     Family{"qwen3_vl_moe_text", read_qwen3_experts},
                                     Family{"deepseek", read_deepseek_v1},
                                     Family{"deepseek_v2", read_deepseek},
                                     Family{"deepseek_v3", read_deepseek},
                                     Family{"deepseek_v32", read_sparse_deepseek},
                                     Family{"glm_moe_dsa", read_sparse_deepseek},
                                     Family{"kimi_k2", read_deepseek},
                                     Family{"glm4_moe", read_glm4_moe},
                                     Family{"solar_open", read_glm4_moe},
                                     Family{"exaone_moe", read_exaone_experts},
                                     Family{"glm4v_moe_text", read_glm4_moe},
                                     Family{"glm4_moe_lite", read_glm4_lite},
                                     Family{"dots1", read_dots},
                                     Family{"bailing_moe", read_bailing},
                                     Family{"dbrx", read_dbrx},
                                     Family{"ernie4_5_moe", read_ernie_experts},
                                     Family{"hunyuan_v1_moe", read_hunyuan_experts},
                                     Family{"minimax_m2", read_minimax_m2},
                                     Family{"llama4_text", read_llama4}};

}  // namespace

std::span<const Family> expert_families() { return kExpertFamilies; }

}  // namespace headway::import
