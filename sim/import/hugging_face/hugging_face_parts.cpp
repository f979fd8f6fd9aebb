#include "sim/import/hugging_face/hugging_face_parts.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headway::import {

using workload::AttentionKind;
using workload::ModelSpec;

void read_shape(JsonObject& json, ModelSpec& model, bool tied, const ShapeKeys& keys) {
  model.layers = json.whole(keys.layers);
  read_widths(json, model, tied, keys);
}

void read_widths(JsonObject& json, ModelSpec& model, bool tied, const ShapeKeys& keys) {
  model.hidden = json.whole(keys.hidden);
  model.heads = json.whole(keys.heads);
  model.key_value_heads = json.whole_or("num_key_value_heads", model.heads);
  model.vocabulary = json.whole("vocab_size");
  model.tied_embeddings = json.flag_or("tie_word_embeddings", tied);
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

namespace {

/// One layer in `period` attends to everything, and it is the last of each period; 1 if all do.
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

/// Layers that attend neither to all tokens nor to a window.
void refuse_other_layers(JsonObject& json) {
  for (const std::string& type : json.words("layer_types")) {
    if (type != "full_attention" && type != "sliding_attention") {
      json.complain("layer_types", fmt::format("layers of type '{}' are not modelled", type));
      return;
    }
  }
}

}  // namespace

void read_window(JsonObject& json, ModelSpec& model) {
  refuse_other_layers(json);
  // Qwen files state a window that is switched off by a flag of its own.
  json.pass_over({"sliding_window", "max_window_layers"});
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

void read_periodic_window(JsonObject& json, ModelSpec& model, int period) {
  read_window(json, model);
  if (model.window > 0 && !json.has("layer_types")) {
    model.window_period = period;
  }
}

void read_full_attention(JsonObject& json, ModelSpec& model) {
  const bool shared = json.flag_or("attention_k_eq_v", false);
  const int own = json.whole_or("num_global_key_value_heads", model.key_value_heads);
  workload::FullAttentionSpec full;
  full.head_dim = json.whole_or("global_head_dim", 512);
  // The key counts where keys are values too, and nowhere else.
  full.key_value_heads = shared ? own : model.key_value_heads;
  full.shared_values = shared;
  if (model.window > 0 && model.window_period > 1) {
    model.full_attention = full;
  }
}

void set_attention_kind(ModelSpec& model) {
  model.attention = model.key_value_heads == model.heads ? AttentionKind::multi_head
                                                         : AttentionKind::grouped_query;
}

void read_grouped_attention(JsonObject& json, ModelSpec& model) {
  read_head_dim(json, model);
  set_attention_kind(model);
  read_window(json, model);
}

void read_dropout(JsonObject& json,
                  ModelSpec& model,
                  std::initializer_list<const char*> keys,
                  double fallback) {
  model.dropout = std::any_of(keys.begin(), keys.end(),
                              [&](const char* key) { return json.real_or(key, fallback) > 0; });
}

void read_llama(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_grouped_attention(json, model);
  model.ffn = json.whole("intermediate_size");
}

}  // namespace headway::import
