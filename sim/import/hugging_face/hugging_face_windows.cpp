// Models whose layers with the window have heads of their own: MiMo-V2-Flash.
// Sources: config.json and README of XiaomiMiMo/MiMo-V2-Flash, 2025; huggingface/transformers,
// models/mimo_v2_flash, 2026; sgl-project/sglang, models/mimo_v2_nextn.py.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sim/import/hugging_face/hugging_face_parts.h"

namespace headway::import {

namespace {

using workload::ModelSpec;

/// A list with an entry for every layer, as the hub's files write it (0 and 1) or as transformers
/// does (words), and whether each entry is the second of its two values. Others are complained of.
struct LayerList {
  const char* key;
  std::vector<bool> second;
};
LayerList layer_list(JsonObject& json,
                     const char* numbers,
                     const char* words,
                     const std::pair<std::string, std::string>& values) {
  const bool named = json.has(words);
  LayerList list{named ? words : numbers, {}};
  const auto add = [&](const auto& value, const auto& first, const auto& second) {
    if (value != first && value != second && json.clean()) {
      json.complain(list.key, fmt::format("layers of type '{}' are not modelled", value));
    }
    list.second.push_back(value == second);
  };
  if (!named) {
    for (const int value : json.wholes(numbers)) {
      add(value, 0, 1);
    }
    return list;
  }
  json.pass_over({numbers});  // the same once more
  for (const std::string& value : json.words(words)) {
    add(value, values.first, values.second);
  }
  return list;
}

/// Entries at the front that are the first of the two values.
int leading(const LayerList& list) {
  const auto end = std::find(list.second.begin(), list.second.end(), true);
  return static_cast<int>(end - list.second.begin());
}

/// Layers without the window at the front, and then the last of every period, counted from the
/// first layer on.
void read_window_list(JsonObject& json, ModelSpec& model) {
  const LayerList list = layer_list(json, "hybrid_layer_pattern", "layer_types",
                                    {"full_attention", "sliding_attention"});
  const auto size = static_cast<int>(list.second.size());
  const int front = leading(list);
  if (front == size && size == model.layers) {
    return;  // no layer has it
  }
  const auto is_of = [&](int period) {
    for (int l = front; l < size; ++l) {
      const bool full = period > 1 && l % period == period - 1;
      if (list.second[static_cast<std::size_t>(l)] == full) {
        return false;
      }
    }
    return true;
  };
  int period = 1;
  while (period <= size && !is_of(period)) {
    ++period;
  }
  if (json.clean() && (size != model.layers || period > size)) {
    json.complain(list.key,
                  fmt::format("'{}' must have {} entries: layers without the window at the front, "
                              "then the window in all but the last of every so many layers, "
                              "counted from the first",
                              list.key, model.layers));
    return;
  }
  model.window = json.whole_or("sliding_window", json.whole_or("sliding_window_size", 128));
  model.window_period = period;
  model.leading_full_layers = front;
  model.attention = workload::AttentionKind::sliding_window;
}

/// Heads of both kinds of layers. Without keys of their own those with the window have twice as
/// many of keys and values (transformers, MiMoV2FlashAttention).
void read_both_heads(JsonObject& json, ModelSpec& model) {
  workload::FullAttentionSpec full;
  full.key_value_heads = model.key_value_heads;
  full.head_dim = json.whole_or("head_dim", 192);
  full.value_dim = json.whole_or("v_head_dim", 128);
  const int groups = json.whole_or("swa_num_key_value_heads", 2 * full.key_value_heads);
  const int width = json.whole_or("swa_head_dim", full.head_dim);
  const int values = json.whole_or("swa_v_head_dim", full.value_dim);
  const int queries = json.whole_or("swa_num_attention_heads", model.heads);
  if (model.window == 0) {
    model.head_dim = full.head_dim;
    model.value_dim = full.value_dim;
    set_attention_kind(model);
    return;
  }
  model.key_value_heads = groups;
  model.head_dim = width;
  model.value_dim = values;
  if (model.window_period > 1 || model.leading_full_layers > 0) {
    model.full_attention = full;
  }
  if (json.clean() && queries != model.heads) {
    json.complain("swa_num_attention_heads",
                  fmt::format("'swa_num_attention_heads' {} must be 'num_attention_heads' {}: "
                              "query heads of layers with the window cannot be described",
                              queries, model.heads));
  }
  if (json.clean() && model.heads % groups != 0) {
    json.complain("swa_num_key_value_heads",
                  fmt::format("'swa_num_key_value_heads' {} does not divide the {} query heads",
                              groups, model.heads));
  }
}

/// Dense layers first, then a mixture in each.
void read_mixture_list(JsonObject& json, ModelSpec& model) {
  read_experts(json, model, {"n_routed_experts", "moe_intermediate_size"});
  model.moe->shared_experts = json.whole_or("n_shared_experts", 0, 0);
  read_routing_groups(json, model);
  model.ffn = json.whole("intermediate_size");
  const LayerList list = layer_list(json, "moe_layer_freq", "mlp_layer_types", {"dense", "sparse"});
  const int front = list.second.empty() ? 1 : leading(list);  // transformers' default
  const bool regular =
      std::all_of(list.second.begin() + std::min<std::ptrdiff_t>(front, std::ssize(list.second)),
                  list.second.end(), [](bool sparse) { return sparse; });
  const bool complete = list.second.empty() || std::ssize(list.second) == model.layers;
  model.moe->leading_dense_layers = front;
  if (json.clean() && !(regular && complete)) {
    json.complain(list.key, fmt::format("'{}' must have {} entries: dense layers at the front, "
                                        "then experts in all",
                                        list.key, model.layers));
  }
}

/// A dense MLP and the window in prediction modules, of which the file does not say how many there
/// are. Sinks are a number a query head; values have a constant factor.
void read_mimo_v2(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_window_list(json, model);
  read_both_heads(json, model);
  read_mixture_list(json, model);
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
  model.dense_prediction = true;
  model.windowed_prediction = model.window > 0;
  if (!json.has("num_nextn_predict_layers")) {
    json.remark(
        "the file does not say how many prediction modules there are, and none is counted; "
        "MiMo-V2-Flash's weights have 3: set 'multi_token_prediction: 3' where they are trained");
  }
  json.pass_over({"add_swa_attention_sink_bias", "add_full_attention_sink_bias",
                  "attention_chunk_size", "sliding_window_size", "hybrid_block_size",
                  "attention_projection_layout"});
}

constexpr std::array kWindowFamilies{Family{"mimo_v2_flash", read_mimo_v2}};

}  // namespace

std::span<const Family> window_families() { return kWindowFamilies; }

}  // namespace headway::import
