// Models that are refused by name, and the keys that only they have.
#include <algorithm>
#include <array>

#include "sim/import/hugging_face/hugging_face_parts.h"

namespace headway::import {

namespace {

constexpr const char* kStateSpace = "a hybrid of attention and state-space layers";
constexpr const char* kPureStateSpace = "a state-space model";
constexpr const char* kLinear = "a hybrid of full and linear attention";
constexpr const char* kSparse = "a model with sparse attention";
constexpr const char* kVision = "a vision-language model";
constexpr const char* kAudio = "a model of speech or sound";
constexpr const char* kEncoder = "an encoder";
constexpr const char* kBoth = "an encoder with a decoder";

constexpr const char* kTimeMixing = "recurrent layers (RWKV's mixing over time)";
constexpr const char* kOtherEncoder = "an encoder of images that is not among those that are read";

/// What a family is that is no decoder transformer of text.
struct Foreign {
  std::string_view name;
  const char* kind;
};
constexpr std::array kForeignModels{Foreign{"llama4", kVision},
                                    Foreign{"gemma3", kVision},
                                    Foreign{"gemma4", kVision},
                                    Foreign{"qwen3_5", kVision},
                                    Foreign{"qwen3_5_moe", kVision},
                                    Foreign{"qwen3_vl", kVision},
                                    Foreign{"qwen3_vl_moe", kVision},
                                    Foreign{"idefics2", kVision},
                                    Foreign{"idefics3", kVision},
                                    Foreign{"smolvlm", kVision},
                                    Foreign{"mistral3", kVision},
                                    Foreign{"phi3_v", kVision},
                                    Foreign{"phi4_multimodal", kVision},
                                    Foreign{"deepseek_vl_v2", kVision},
                                    Foreign{"glm4v", kVision},
                                    Foreign{"glm4v_moe", kVision},
                                    Foreign{"ernie4_5_vl_moe", kVision},
                                    Foreign{"ernie4_5_moe_vl", kVision},
                                    Foreign{"step3_vl", kVision},
                                    Foreign{"minicpmv", kVision},
                                    Foreign{"aya_vision", kVision},
                                    Foreign{"chameleon", kVision},
                                    Foreign{"clip", kVision},
                                    Foreign{"whisper", kAudio},
                                    Foreign{"wav2vec2", kAudio},
                                    Foreign{"qwen2_audio", kAudio},
                                    Foreign{"qwen2_5_omni", kAudio},
                                    Foreign{"qwen3_omni", kAudio},
                                    Foreign{"qwen3_omni_moe", kAudio},
                                    Foreign{"bert", kEncoder},
                                    Foreign{"roberta", kEncoder},
                                    Foreign{"xlm-roberta", kEncoder},
                                    Foreign{"distilbert", kEncoder},
                                    Foreign{"albert", kEncoder},
                                    Foreign{"electra", kEncoder},
                                    Foreign{"deberta", kEncoder},
                                    Foreign{"deberta-v2", kEncoder},
                                    Foreign{"modernbert", kEncoder},
                                    Foreign{"vit", kEncoder},
                                    Foreign{"t5", kBoth},
                                    Foreign{"mt5", kBoth},
                                    Foreign{"umt5", kBoth},
                                    Foreign{"t5gemma", kBoth},
                                    Foreign{"bart", kBoth},
                                    Foreign{"mbart", kBoth},
                                    Foreign{"pegasus", kBoth},
                                    Foreign{"m2m_100", kBoth}};

/// Decoders of text that have what the workload room does not know.
constexpr std::array kForeignParts{
    Foreign{"plamo2", "state-space layers with norms of their own between windows of attention"},
    Foreign{"rwkv", kTimeMixing},
    Foreign{"rwkv5", kTimeMixing},
    Foreign{"rwkv6", kTimeMixing},
    Foreign{"rwkv7", kTimeMixing},
    Foreign{"xlstm", "recurrent layers with matrices and scalars as states (mLSTM, sLSTM)"},
    Foreign{"mllama", "layers of attention from text to images (cross-attention)"},
    Foreign{
        "gemma3n",
        "layers that share keys and values, embeddings of each layer and streams that are mixed "
        "between layers"},
    Foreign{"paligemma", "an encoder of images (SigLIP) whose tokens attend both ways"},
    Foreign{"llava", kOtherEncoder},
    Foreign{"llava_next", kOtherEncoder},
    Foreign{"llava_onevision", kOtherEncoder},
    Foreign{"pixtral", kOtherEncoder},
    Foreign{"internvl", kOtherEncoder},
    Foreign{"internvl_chat", kOtherEncoder},
    Foreign{"kimi_vl", kOtherEncoder},
    Foreign{"cohere2_vision", kOtherEncoder},
    Foreign{"lfm2_vl", "gated short convolutions between layers of attention"},
    Foreign{"hymba",
            "heads of attention and of a state space on the same input in every layer, and "
            "layers that share keys and values"},
    Foreign{"olmo_hybrid", "gated delta rules with heads and gates of its own"},
    Foreign{"longcat_flash_ngram", "embeddings of several tokens together (n-grams)"},
    Foreign{"bitnet", "weights of three values"},
    Foreign{"deepseek_v4", "sparse attention over keys compressed along the sequence"},
    Foreign{"deepseek_ref", "sparse attention over keys compressed along the sequence"},
    Foreign{"kimi_k3", "residuals over blocks of layers"},
    Foreign{"minimax_m3", "blocks of keys that an indexer beside grouped-query attention chooses"},
    Foreign{"minimax_m3_vl",
            "blocks of keys that an indexer beside grouped-query attention chooses"},
    Foreign{"step3p7", "windows of which the first layer of each period has none, not the last"},
    Foreign{"step3p5",
            "gates of whole heads and windows of which the first layer of each period has "
            "none, not the last"},
    Foreign{"zamba", "blocks of attention whose weights several layers share"},
    Foreign{"zamba2", "blocks of attention whose weights several layers share"},
    Foreign{"recurrent_gemma", "gated linear recurrences (RG-LRU) between windows of attention"},
    Foreign{"lfm2", "gated short convolutions between layers of attention"},
    Foreign{"lfm2_moe", "gated short convolutions between layers of attention"},
    Foreign{"bailing_hybrid", "lightning attention beside multi-latent attention"},
    Foreign{"bailing_moe_linear", "lightning attention with rotary embedding in groups of layers"},
    Foreign{"afmoe", "gated attention with windows beside experts behind dense layers"},
    Foreign{"phi3small", "block-sparse attention"},
    Foreign{"gpt_neo", "local attention on layers in an order of its own"},
    Foreign{"openelm", "layers of different widths"},
    Foreign{"deci", "layers of different shapes"},
    Foreign{"nemotron-nas", "layers of different shapes"},
    Foreign{"hunyuan", "layers that share keys and values"}};

/// The keys that only another kind of model has, and what that kind is.
struct ForeignKey {
  const char* key;
  const char* kind;
};
constexpr std::array kForeignKeys{ForeignKey{"vision_config", kVision},
                                  ForeignKey{"audio_config", "an audio-language model"},
                                  ForeignKey{"text_config", "a composite of several models"},
                                  ForeignKey{"hybrid_override_pattern", kStateSpace},
                                  ForeignKey{"ssm_state_size", kPureStateSpace},
                                  ForeignKey{"mamba_d_state", kPureStateSpace},
                                  ForeignKey{"linear_num_key_heads", kLinear},
                                  ForeignKey{"index_topk", kSparse},
                                  ForeignKey{"block_configs", "a model whose layers differ"}};

/// Whether a family of its own reads the keys of this kind of model.
bool reads(std::string_view model_type, std::string_view kind) {
  if (kind == kSparse) {
    return model_type == "deepseek_v32" || model_type == "glm_moe_dsa";
  }
  if (kind == kVision) {  // with the keys of the language model beside
    return model_type == "qwen2_vl" || model_type == "qwen2_5_vl";
  }
  const auto among = [&](std::span<const Family> families) {
    return std::any_of(families.begin(), families.end(),
                       [&](const Family& family) { return model_type == family.model_type; });
  };
  const bool hybrid = among(hybrid_families()) || among(half_families());
  return hybrid && (kind == kStateSpace || kind == kPureStateSpace || kind == kLinear);
}

/// What can be read of a model whose encoder cannot.
std::string text_alone(const JsonObject& json) {
  return json.has("text_config.model_type")
             ? "; its text decoder is, from a file that is the object 'text_config' alone"
             : "";
}

[[noreturn]] void refuse(JsonObject& json, const char* key, std::string message) {
  json.complain(key, std::move(message));
  json.throw_if_any();
  throw core::Error("unreachable");
}

}  // namespace

void refuse_unmodelled(JsonObject& json, std::string_view model_type) {
  const auto not_text = [&](const char* key, const char* kind) {
    refuse(json, key,
           fmt::format("model_type '{}' is {} that is not among those that are read: decoders of "
                       "text, their hybrids (docs/hybrids.md) and, with encoders of images, some "
                       "families (docs/vision.md)",
                       model_type, kind));
  };
  for (const auto& [name, kind] : kForeignModels) {
    if (model_type == name) {
      not_text("model_type", kind);
    }
  }
  for (const auto& [name, part] : kForeignParts) {
    if (model_type == name) {
      refuse(json, "model_type",
             fmt::format("model_type '{}' has {}, which is not modelled{}", model_type, part,
                         part == kOtherEncoder ? text_alone(json) : ""));
    }
  }
  for (const auto& [key, kind] : kForeignKeys) {
    if (json.has(key) && !reads(model_type, kind)) {
      not_text(key, kind);
    }
  }
  for (const char* key : {"use_cla", "num_kv_shared_layers"}) {
    const bool shares = key == std::string_view("use_cla") ? json.flag_or(key, false)
                                                           : json.whole_or(key, 0, 0) > 0;
    if (shares) {
      refuse(json, key,
             fmt::format(
                 "model_type '{}' has layers that share keys and values, which is not modelled",
                 model_type));
    }
  }
  if (json.flag_or("is_encoder_decoder", false)) {
    not_text("is_encoder_decoder", kBoth);
  }
}

}  // namespace headway::import
