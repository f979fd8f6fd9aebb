#include "sim/import/hugging_face/adapter_config.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "sim/import/json_object.h"

namespace headway::import {

namespace {

using workload::AdaptedProduct;

constexpr std::array<std::pair<std::string_view, AdaptedProduct>, 7> kModules{
    {{"q_proj", AdaptedProduct::query},
     {"k_proj", AdaptedProduct::key},
     {"v_proj", AdaptedProduct::value},
     {"o_proj", AdaptedProduct::output},
     {"gate_proj", AdaptedProduct::gate},
     {"up_proj", AdaptedProduct::up},
     {"down_proj", AdaptedProduct::down}}};

/// Keys that choose or add what the description of adapters has no place for, where they are set.
constexpr std::array<std::pair<const char*, const char*>, 7> kChoosing{
    {{"modules_to_save", "modules that are trained whole beside adapters"},
     {"layers_to_transform",
      "adapters in chosen layers (model.frozen.layers leaves out the first)"},
     {"layer_replication", "layers that are used several times"},
     {"trainable_token_indices", "tokens that are trained one by one"},
     {"target_parameters", "adapters of experts' parameters (write model.adapters.products)"},
     {"exclude_modules", "modules that are left out by pattern"},
     {"megatron_config", "adapters of Megatron's parallel layers"}}};

void read_products(JsonObject& json, workload::AdaptersSpec& adapters) {
  const char* key = "target_modules";
  if (!json.is_list(key)) {
    const std::string word = json.word(key);
    if (word != "all-linear" && json.clean()) {
      json.complain(key, word.empty() ? "'target_modules' is missing: which matrices have adapters"
                                      : fmt::format("target_modules '{}' is a pattern; write the "
                                                    "modules as a list, or all-linear",
                                                    word));
    }
    return;
  }
  for (const std::string& word : json.words(key)) {
    const auto found = std::find_if(kModules.begin(), kModules.end(),
                                    [&](const auto& one) { return one.first == word; });
    if (found == kModules.end()) {
      json.complain(key, fmt::format("module '{}' is not known; known are those of Llama: q_proj, "
                                     "k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj",
                                     word));
      continue;
    }
    adapters.products.push_back(found->second);
  }
  std::sort(adapters.products.begin(), adapters.products.end());
}

}  // namespace

workload::AdaptersSpec read_adapter_config(std::string_view json_text,
                                           const std::string& file_name) {
  JsonObject json(json_text, file_name);
  workload::AdaptersSpec adapters;
  const std::string type = json.word("peft_type");
  if (type != "LORA") {
    json.complain("peft_type", fmt::format("peft_type '{}' is not simulated; LORA alone is", type));
    json.throw_if_any();
  }
  adapters.rank = json.whole("r");
  adapters.dropout = json.real_or("lora_dropout", 0) > 0;
  read_products(json, adapters);
  if (json.flag_or("use_dora", false)) {
    json.complain("use_dora", "adapters with magnitudes of their own (DoRA) are not simulated");
  }
  if (json.has("bias") && json.word("bias") != "none") {
    json.complain("bias", "biases that are trained beside adapters are not simulated");
  }
  if (json.has_content("rank_pattern")) {
    json.complain("rank_pattern", "adapters of different ranks are not simulated");
  }
  for (const auto& [key, what] : kChoosing) {
    if (json.has_content(key)) {
      json.complain(key, fmt::format("{} are not simulated", what));
    }
  }
  json.throw_if_any();
  return adapters;
}

}  // namespace headway::import
