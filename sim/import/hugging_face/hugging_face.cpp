#include "sim/import/hugging_face/hugging_face.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/import/hugging_face/hugging_face_parts.h"
#include "sim/import/json_object.h"

namespace headway::import {

namespace {

using workload::ModelSpec;

/// All families, those with Llama's keys first.
std::vector<Family> families() {
  std::vector<Family> all;
  for (const auto& part : {dense_families(), expert_families(), hybrid_families(), half_families(),
                           window_families(), older_families()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::string digits_of(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits),
               [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits;
}

/// The family that was meant, if one letter too many, too few or wrong is all: another number or
/// another word names another model.
std::optional<std::string> slip_of(const std::string& model_type,
                                   const std::vector<std::string>& known) {
  const auto near = core::did_you_mean(model_type, known);
  if (!near || digits_of(*near) != digits_of(model_type)) {
    return std::nullopt;
  }
  const std::size_t longer = std::max(model_type.size(), near->size());
  const std::size_t shorter = std::min(model_type.size(), near->size());
  const auto from_front =
      std::mismatch(near->begin(), near->end(), model_type.begin(), model_type.end());
  const auto from_back =
      std::mismatch(near->rbegin(), near->rend(), model_type.rbegin(), model_type.rend());
  const auto same = (from_front.first - near->begin()) + (from_back.first - near->rbegin());
  const bool one_letter = longer - shorter <= 1 && same + 1 >= static_cast<std::ptrdiff_t>(longer);
  return one_letter ? near : std::nullopt;
}

/// @throws core::Error with the known families or a suggestion
Family family_of(JsonObject& json) {
  const std::string model_type = json.word("model_type");
  if (model_type.empty()) {
    json.complain("model_type", "'model_type' is missing; it says which family the keys belong to");
    json.throw_if_any();
  }
  refuse_unmodelled(json, model_type);
  std::vector<std::string> known;
  std::string list;
  for (const Family& family : families()) {
    if (model_type == family.model_type) {
      return family;
    }
    known.emplace_back(family.model_type);
    list += (list.empty() ? "" : ", ") + known.back();
  }
  const auto near = slip_of(model_type, known);
  json.complain("model_type",
                fmt::format("model_type '{}' is not known; {}", model_type,
                            near ? "did you mean '" + *near + "'?" : "known are " + list));
  json.throw_if_any();
  return {};
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

/// Models of images and text whose text decoder is a family of its own.
constexpr std::array<std::string_view, 12> kWithTextDecoder{
    "qwen2_vl", "qwen2_5_vl", "qwen3_5", "qwen3_5_moe", "qwen3_vl", "qwen3_vl_moe",
    "llama4",   "gemma3",     "gemma4",  "kimi_k25",    "mistral3", "glm4v_moe"};

/// Goes on with the text decoder of a model that has other parts too, where it is described apart.
bool enter_text_decoder(JsonObject& json) {
  const std::string model_type = json.word("model_type");
  const bool known = std::find(kWithTextDecoder.begin(), kWithTextDecoder.end(), model_type) !=
                     kWithTextDecoder.end();
  if (!known || !json.has("text_config.model_type")) {
    return false;
  }
  json.enter("text_config", {"tie_word_embeddings"});
  return true;
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

/// What to know of how a file was read: the text decoder alone, keys that nobody reads.
std::vector<std::string> remarks_on(const JsonObject& json, const std::string& left_out) {
  std::vector<std::string> remarks = json.remarks();
  if (!left_out.empty()) {
    remarks.push_back(left_out);
  }
  std::vector<std::string> keys = json.unread();
  std::erase_if(keys, [](const std::string& key) { return changes_no_shape(key); });
  constexpr std::size_t kMostKeys = 12;
  const std::size_t more = keys.size() > kMostKeys ? keys.size() - kMostKeys : 0;
  keys.resize(keys.size() - more);
  if (!keys.empty()) {
    remarks.push_back(
        fmt::format("keys that are not read, so what they change of the model is left "
                    "out: {}{}",
                    core::visible(fmt::format("{}", fmt::join(keys, ", "))),
                    more > 0 ? fmt::format(" and {} more", more) : ""));
  }
  return remarks;
}

}  // namespace

HuggingFaceModel import_hugging_face_config(std::string_view json_text,
                                            const std::string& file_name) {
  JsonObject json(json_text, file_name);
  ModelSpec model;
  model.name = json.word("_name_or_path");
  if (model.name.empty()) {
    model.name = name_from_file(file_name);
  }
  model.vision = read_encoder(json);
  const std::string whole = json.word("model_type");
  std::string left_out;
  if (enter_text_decoder(json) && !model.vision) {
    model.name += " (text decoder)";
    left_out = fmt::format("of '{}' the text decoder alone is read, not what it sees images with",
                           core::visible(whole));
  }
  const Family family = family_of(json);
  family.read(json, model);
  check_experts(json, model);
  json.throw_if_any();
  return {std::move(model), remarks_on(json, left_out)};
}

ModelSpec read_hugging_face_config(std::string_view json_text, const std::string& file_name) {
  return import_hugging_face_config(json_text, file_name).model;
}

std::string hub_name_advice(std::string_view name) {
  const auto slash = name.find('/');
  const auto part = [](std::string_view text) {
    return !text.empty() && text.front() != '.' &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
           });
  };
  if (slash == std::string_view::npos || !part(name.substr(0, slash)) ||
      !part(name.substr(slash + 1)) || name.ends_with(".json")) {
    return "";
  }
  return fmt::format(
      "'{}' is no file here; models of the hub are read from their config.json: `hf download {} "
      "config.json --local-dir .` brings it, then name that file",
      name, name);
}

}  // namespace headway::import
