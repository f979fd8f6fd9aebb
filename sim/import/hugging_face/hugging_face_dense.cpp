// Decoders whose keys are those of Llama: gated or plain MLP, two or more norms, windows.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "sim/import/hugging_face/hugging_face_parts.h"

namespace headway::import {

namespace {

using workload::ModelSpec;

/// As Llama, with the embedding tied where the file does not say.
void read_tied(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.tied_embeddings = json.flag_or("tie_word_embeddings", true);
}

void read_normed_queries(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.query_key_norm = true;
}

/// Qwen2 with prediction modules.
void read_mimo(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.multi_token_prediction = json.whole_or("num_nextn_predict_layers", 0, 0);
}

/// One layer in four has no rotary embedding, which moves a thousandth of a step.
void read_smollm3(JsonObject& json, ModelSpec& model) {
  read_tied(json, model);
  json.pass_over({"no_rope_layers", "no_rope_layer_interval"});
}

/// The width of a head stands twice in its files.
void read_hunyuan(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.query_key_norm = json.flag_or("use_qk_norm", true);
  json.pass_over({"attention_head_dim"});
}

/// ALiBi in the 13B models (40 layers), whose files have no key that says so.
void read_baichuan(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.rotary = model.layers != 40;
}

/// Norms before and after each half.
void read_glm4(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.norms = 4;
}

void read_gemma2(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_periodic_window(json, model, 2);
  model.ffn = json.whole("intermediate_size");
  model.norms = 4;
}

/// What a family's configuration class takes for a key that the file leaves out.
struct Default {
  const char* key;
  int value;
};

/// Files of Gemma 3 have only what differs from their class. Source: transformers,
/// models/gemma3/configuration_gemma3.py, Gemma3TextConfig.
constexpr std::array kGemma3Defaults{
    Default{"num_hidden_layers", 26},   Default{"hidden_size", 2304},
    Default{"num_attention_heads", 8},  Default{"num_key_value_heads", 4},
    Default{"vocab_size", 262208},      Default{"head_dim", 256},
    Default{"intermediate_size", 9216}, Default{"sliding_window", 4096}};

/// Keys of a file, or what its class takes for those that it leaves out; which, is said.
class WithDefaults {
 public:
  WithDefaults(JsonObject& json, std::span<const Default> defaults, const char* of)
      : json_(json), defaults_(defaults), of_(of) {}

  int whole(std::string_view key) {
    const auto found = std::find_if(defaults_.begin(), defaults_.end(),
                                    [&](const Default& each) { return each.key == key; });
    if (!json_.has(found->key)) {
      taken_ += fmt::format("{}{} {}", taken_.empty() ? "" : ", ", key, found->value);
    }
    return json_.whole_or(found->key, found->value);
  }
  void say() {
    if (!taken_.empty()) {
      json_.remark(
          fmt::format("keys that the file leaves out are as {} of transformers has them: "
                      "{}",
                      of_, taken_));
    }
  }

 private:
  JsonObject& json_;
  std::span<const Default> defaults_;
  const char* of_;
  std::string taken_;
};

void read_gemma3(JsonObject& json, ModelSpec& model) {
  WithDefaults keys(json, kGemma3Defaults, "Gemma3TextConfig");
  model.layers = keys.whole("num_hidden_layers");
  model.hidden = keys.whole("hidden_size");
  model.heads = keys.whole("num_attention_heads");
  model.key_value_heads = keys.whole("num_key_value_heads");
  model.vocabulary = keys.whole("vocab_size");
  model.head_dim = keys.whole("head_dim");
  model.ffn = keys.whole("intermediate_size");
  model.tied_embeddings = json.flag_or("tie_word_embeddings", true);
  if (json.clean() && model.heads % model.key_value_heads != 0) {
    json.complain("num_key_value_heads",
                  fmt::format("'num_key_value_heads' {} does not divide 'num_attention_heads' {}",
                              model.key_value_heads, model.heads));
  }
  set_attention_kind(model);
  const int period = json.whole_or("sliding_window_pattern", 6);
  if (json.has("sliding_window") || json.has("layer_types")) {
    read_periodic_window(json, model, period);
  } else {
    model.window = keys.whole("sliding_window");
    model.window_period = period;
    model.attention = workload::AttentionKind::sliding_window;
  }
  model.norms = 4;
  model.query_key_norm = true;
  json.pass_over({"_sliding_window_pattern"});  // of layer_types, which stands beside it
  keys.say();
}

/// Three windows, then all tokens.
void read_olmo3(JsonObject& json, ModelSpec& model) {
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_periodic_window(json, model, 4);
  model.ffn = json.whole("intermediate_size");
  model.query_key_norm = true;
}

/// Attention and MLP side by side on one norm.
void read_cohere(JsonObject& json, ModelSpec& model) {
  read_tied(json, model);
  model.parallel_block = true;
  model.norms = 1;
  model.query_key_norm = json.flag_or("use_qk_norm", false);
}

void read_cohere2(JsonObject& json, ModelSpec& model) {
  read_shape(json, model, true);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_periodic_window(json, model, json.whole_or("sliding_window_pattern", 4));
  model.ffn = json.whole("intermediate_size");
  model.parallel_block = json.flag_or("use_parallel_block", true);
  model.norms = model.parallel_block ? 1 : 2;
}

/// MLPs of two matrices.
void read_plain(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.gated_mlp = false;
}

/// Plain MLPs beside normed queries and keys (Apertus).
void read_apertus(JsonObject& json, ModelSpec& model) {
  read_plain(json, model);
  model.query_key_norm = json.flag_or("qk_norm", true);
}

void read_phi(JsonObject& json, ModelSpec& model) {
  read_plain(json, model);
  model.biases = true;
  model.parallel_block = true;
  model.norms = 1;
  model.query_key_norm = json.flag_or("qk_layernorm", false);
  read_dropout(json, model, {"resid_pdrop", "embd_pdrop"}, 0);
}

void read_phi3(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  read_dropout(json, model, {"resid_pdrop", "embd_pdrop"}, 0);
}

void read_stablelm(JsonObject& json, ModelSpec& model) {
  read_llama(json, model);
  model.parallel_block = json.flag_or("use_parallel_residual", false);
  model.norms = model.parallel_block ? 1 : 2;
  model.query_key_norm = json.flag_or("qk_layernorm", false);
  read_dropout(json, model, {"hidden_dropout"}, 0);
}

void read_starcoder2(JsonObject& json, ModelSpec& model) {
  read_tied(json, model);
  model.gated_mlp = false;
  model.biases = json.flag_or("use_bias", true);
  read_dropout(json, model, {"residual_dropout", "embedding_dropout"}, 0);
}

constexpr std::array kDenseFamilies{Family{"llama", read_llama},
                                    Family{"mistral", read_llama},
                                    Family{"ministral3", read_llama},
                                    Family{"Yi", read_llama},
                                    Family{"qwen2", read_llama},
                                    Family{"qwen2_vl", read_llama},
                                    Family{"qwen2_vl_text", read_llama},
                                    Family{"qwen2_5_vl", read_llama},
                                    Family{"qwen2_5_vl_text", read_llama},
                                    Family{"mimo", read_mimo},
                                    Family{"qwen3", read_normed_queries},
                                    Family{"qwen3_vl_text", read_normed_queries},
                                    Family{"internlm", read_llama},
                                    Family{"internlm2", read_llama},
                                    Family{"internlm3", read_llama},
                                    Family{"baichuan", read_baichuan},
                                    Family{"seed_oss", read_llama},
                                    Family{"granite", read_llama},
                                    Family{"smollm3", read_smollm3},
                                    Family{"ernie4_5", read_tied},
                                    Family{"hunyuan_v1_dense", read_hunyuan},
                                    Family{"glm", read_llama},
                                    Family{"glm4", read_glm4},
                                    Family{"olmo", read_llama},
                                    Family{"olmo2", read_normed_queries},
                                    Family{"olmo3", read_olmo3},
                                    Family{"gemma", read_tied},
                                    Family{"gemma2", read_gemma2},
                                    Family{"gemma3_text", read_gemma3},
                                    Family{"cohere", read_cohere},
                                    Family{"cohere2", read_cohere2},
                                    Family{"phi", read_phi},
                                    Family{"phi3", read_phi3},
                                    Family{"stablelm", read_stablelm},
                                    Family{"starcoder2", read_starcoder2},
                                    Family{"nemotron", read_plain},
                                    Family{"arcee", read_plain},
                                    Family{"apertus", read_apertus},
                                    Family{"exaone4", read_exaone4}};

}  // namespace

/// EXAONE 4: without a list of layers "LLLG" or a number says the pattern of windows.
void read_exaone4(JsonObject& json, ModelSpec& model) {
  constexpr const char* kPattern = "sliding_window_pattern";
  int period = 4;
  if (json.is_word(kPattern)) {
    const std::string pattern = json.word(kPattern);
    period = static_cast<int>(pattern.size());
    const auto other = pattern.find_first_not_of('L');
    if (pattern.empty() || other != pattern.size() - 1 || pattern[other] != 'G') {
      json.complain(kPattern,
                    "'sliding_window_pattern' must be 'L' some times, then 'G': windows, "
                    "the last of each period without one");
    }
  } else {
    period = json.whole_or(kPattern, period);
  }
  read_shape(json, model);
  read_head_dim(json, model);
  set_attention_kind(model);
  read_periodic_window(json, model, period);
  model.ffn = json.whole("intermediate_size");
  model.query_key_norm = true;
}

std::span<const Family> dense_families() { return kDenseFamilies; }

}  // namespace headway::import
