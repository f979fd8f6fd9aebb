// What is trained: a decoder transformer, dense or mixture of experts. Knows no hardware.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/workload/attention/full_attention_spec.h"
#include "sim/workload/formats/sixteen_bit_spec.h"
#include "sim/workload/mixer/mixer_spec.h"
#include "sim/workload/native_sparse_spec.h"
#include "sim/workload/trained_spec.h"
#include "sim/workload/vision/vision_spec.h"

namespace headway::workload {

enum class AttentionKind { multi_head, grouped_query, multi_latent, sliding_window };
constexpr auto enum_words(AttentionKind) {
  using E = core::EnumWord<AttentionKind>;
  return std::array{E{AttentionKind::multi_head, "mha"}, E{AttentionKind::grouped_query, "gqa"},
                    E{AttentionKind::multi_latent, "mla"},
                    E{AttentionKind::sliding_window, "sliding_window"}};
}

/// Ranks of multi-latent attention (DeepSeek-V2/V3).
struct LatentAttentionSpec {
  int query_rank = 0;
  int key_value_rank = 512;
  int no_rope_dim = 128;
  int rope_dim = 64;
  int value_dim = 128;
  template <class V>
  void fields(V& v) {
    v.optional("query_rank", query_rank,
               "Compression rank of queries; 0: queries are not compressed.", core::up_to_16m);
    v.required("key_value_rank", key_value_rank, "Compression rank of keys and values.",
               core::from_one_to_16m);
    v.required("no_rope_dim", no_rope_dim, "Head dimension without rotary embedding.",
               core::from_one_to_64k);
    v.required("rope_dim", rope_dim, "Head dimension with rotary embedding.",
               core::from_one_to_64k);
    v.required("value_dim", value_dim, "Head dimension of values.", core::from_one_to_64k);
  }
  bool operator==(const LatentAttentionSpec&) const = default;
};

/// Attention to some keys of all: an indexer of its own scores every key and chooses
/// (DeepSeek-V3.2, arXiv 2512.02556). Layers may take the keys that a layer before them chose
/// (GLM-5.2: `index_topk_freq`, `indexer_types`).
struct SparseAttentionSpec {
  int index_heads = 64;
  int index_dim = 128;
  int top_k = 2048;
  int period = 1;
  int leading_layers = 0;
  template <class V>
  void fields(V& v) {
    v.required("index_heads", index_heads, "Heads of the indexer.", core::from_one_to_64k);
    v.required("index_dim", index_dim, "Width of its queries and of its key.",
               core::from_one_to_64k);
    v.required("top_k", top_k, "Keys that a query attends to.", core::from_one_to_16m);
    v.optional("period", period,
               "One layer in this many has an indexer, the first of each period; the others attend "
               "to the keys that it chose (GLM-5.2: 4); 1: each has its own.",
               core::from_one_to_10k);
    v.optional("leading_layers", leading_layers,
               "Layers at the front with an indexer each, before the periods (GLM-5.2: 2).",
               core::up_to_10k);
  }
  bool operator==(const SparseAttentionSpec&) const = default;
};

/// Mixture of experts.
struct ExpertsSpec {
  int experts = 8;
  int top_k = 2;
  int shared_experts = 0;
  int ffn = 0;
  int leading_dense_layers = 0;
  int period = 1;
  double imbalance = 1;
  double load_spread = 0;
  double capacity_factor = 0;
  bool padded = false;
  int routing_groups = 1;
  int group_limit = 0;
  bool biases = false;
  int latent = 0;
  int null_experts = 0;
  bool limited_activation = false;
  template <class V>
  void fields(V& v) {
    v.required("experts", experts, "Routed experts in a layer.", core::from_one_to_64k);
    v.required("top_k", top_k, "Experts a token visits.", core::from_one_to_64k);
    v.optional("shared_experts", shared_experts, "Experts every token visits.", core::up_to_64k);
    v.required("ffn", ffn, "Inner width of one expert.", core::from_one_to_16m);
    v.optional("leading_dense_layers", leading_dense_layers,
               "Layers at the front with a dense MLP of width `ffn`.", core::up_to_10k);
    v.optional("period", period,
               "One layer in this many has experts, the last of each period; 1: all after the "
               "leading dense ones.",
               core::from_one_to_10k);
    v.optional("imbalance", imbalance,
               "Load of the busiest expert rank / mean load; all ranks wait for it.",
               core::load_ratio);
    v.optional(
        "load_spread", load_spread,
        "Standard deviation of an expert's load in a micro-batch / mean, of learned routing: "
        "the busiest expert rank has more than its mean by what the number of ranks and of "
        "experts on each make of it, times `imbalance`; 0: even.",
        core::lost_share);
    v.optional("capacity_factor", capacity_factor,
               "Tokens an expert takes at most / mean, the rest is dropped; 0: none is dropped.",
               core::load_ratio_or_none);
    v.optional(
        "padded", padded,
        "Experts compute all places of their capacity, empty ones too; needs 'capacity_factor'.");
    v.optional("routing_groups", routing_groups,
               "Groups the experts are divided into for routing (DeepSeek-V3: 8).",
               core::from_one_to_64k);
    v.optional(
        "group_limit", group_limit,
        "Routing groups that the experts of a token lie in at most; 0: all (DeepSeek-V3: 4).",
        core::up_to_64k);
    v.optional("biases", biases,
               "Matrices of experts have biases, whatever the other matrices have (gpt-oss).");
    v.optional("latent", latent,
               "Width that tokens are projected to before they go to routed experts, and back from "
               "after them; shared experts keep the model's (Nemotron 3 Super: 1,024); 0: none.",
               core::up_to_16m);
    v.optional("null_experts", null_experts,
               "Experts beside `experts` that return a token as it is: what of `top_k` falls on "
               "them is neither sent nor computed (LongCat-Flash: 256).",
               core::up_to_64k);
    v.optional("limited_activation", limited_activation,
               "Both inputs of the experts' gated activation are cut off at a bound (gpt-oss: 7).");
  }
  bool operator==(const ExpertsSpec&) const = default;
};

/// A decoder transformer.
struct ModelSpec {
  static constexpr const char* kCatalogue = "models";
  std::string name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int key_value_heads = 0;
  int head_dim = 0;
  int value_dim = 0;
  int ffn = 0;
  bool gated_mlp = true;
  int vocabulary = 0;
  bool tied_embeddings = false;
  bool biases = false;
  std::optional<bool> dropout;
  int learned_positions = 0;
  bool rotary = true;
  bool scaled_rotary = false;
  int norms = 2;
  bool query_key_norm = false;
  bool attention_gate = false;
  bool parallel_block = false;
  AttentionKind attention = AttentionKind::grouped_query;
  int window = 0;
  int window_period = 1;
  int leading_full_layers = 0;
  bool chunked_window = false;
  std::optional<FullAttentionSpec> full_attention;
  std::optional<LatentAttentionSpec> latent;
  std::optional<SparseAttentionSpec> sparse;
  std::optional<NativeSparseSpec> native_sparse;
  std::optional<ExpertsSpec> moe;
  std::optional<MixerSpec> mixer;
  std::vector<LayerContent> layer_pattern;
  int multi_token_prediction = 0;
  bool dense_prediction = false;
  bool windowed_prediction = false;
  std::optional<AdaptersSpec> adapters;
  std::optional<FrozenSpec> frozen;
  std::optional<SixteenBitLayersSpec> sixteen_bit_layers;
  std::optional<VisionSpec> vision;
  /// Every query meets all keys of its piece: no field, an encoder as a model has it
  /// (vision/encoder.h).
  bool bidirectional = false;
  template <class V>
  void fields(V& v) {  // NOLINT(readability-function-size): a list
    v.required("name", name, "Name printed in reports.");
    v.required("layers", layers, "Decoder layers.", core::from_one_to_10k);
    v.required("hidden", hidden, "Width of the residual stream.", core::from_one_to_16m);
    v.required("heads", heads, "Query heads.", core::from_one_to_64k);
    v.required("key_value_heads", key_value_heads,
               "Key and value heads; equal to heads without grouping.", core::from_one_to_64k);
    v.required("head_dim", head_dim, "Width of one head; not always hidden / heads.",
               core::from_one_to_64k);
    v.optional("value_dim", value_dim,
               "Width of values of a head; 0: that of keys (MiMo-V2-Flash: 128 beside 192).",
               core::up_to_64k);
    v.required("ffn", ffn, "Inner width of the dense MLP.", core::up_to_16m);
    v.optional("gated_mlp", gated_mlp, "Three matrices (SwiGLU) instead of two.");
    v.required("vocabulary", vocabulary, "Rows of the embedding as trained (padding included).",
               core::from_one_to_16m);
    v.optional("tied_embeddings", tied_embeddings,
               "Input and output embedding share their weights.");
    v.optional("biases", biases, "Linear layers and norms have biases (GPT-2, GPT-3).");
    v.optional("dropout", dropout,
               "Dropout after attention, projection and MLP; absent: where there are biases.");
    v.optional("learned_positions", learned_positions,
               "Rows of a learned position table, in place of rotary embedding; 0: none.",
               core::window_tokens);
    v.optional(
        "rotary", rotary,
        "Rotary embedding of queries and keys where no positions are learned; false: ALiBi.");
    v.optional("scaled_rotary", scaled_rotary,
               "Its sines and cosines have a factor that is not 1 (YaRN's attention factor; "
               "gpt-oss: 1.35).");
    v.optional("norms", norms,
               "Norms of the residual stream in a layer: 2; 1 in a parallel block with one norm "
               "(Falcon-7B, Command R); 4 with one before and one after each half (Gemma 2).",
               core::Range{1, 4, false, false, "1, 2 or 4"});
    v.optional("query_key_norm", query_key_norm, "Norms of queries and keys (Qwen3, OLMo 2).");
    v.optional(
        "attention_gate", attention_gate,
        "Queries come with a gate as wide, which multiplies attention's output (Qwen3-Next).");
    v.optional("parallel_block", parallel_block,
               "Attention and MLP start from the same input and are added up before one reduction "
               "(GPT-J, Falcon, Command R).");
    v.optional("attention", attention, "Kind of attention.");
    v.optional("window", window, "Tokens a sliding-window layer sees; 0: no window.",
               core::window_tokens);
    v.optional(
        "window_period", window_period,
        "One layer in this many has full attention, the others the window; 1: all have the window.",
        core::from_one_to_10k);
    v.optional("leading_full_layers", leading_full_layers,
               "Layers at the front with full attention, whatever 'window_period' gives them "
               "(MiMo-V2-Flash: 1).",
               core::up_to_10k);
    v.optional(
        "chunked_window", chunked_window,
        "The window does not slide: a sequence is cut into pieces of `window` tokens that do "
        "not attend to each other (Llama 4).");
    v.optional("full_attention", full_attention,
               "Heads of the layers without the window, where they are of their own; needs "
               "'window_period' or 'leading_full_layers'.");
    v.optional("latent", latent, "Ranks of multi-latent attention.");
    v.optional("sparse", sparse,
               "Sparse attention over compressed keys that an indexer chooses; needs 'latent'.");
    v.optional(
        "native_sparse", native_sparse,
        "Native sparse attention (NSA): compressed blocks, chosen blocks and a window, added "
        "up by gates.");
    v.optional("moe", moe, "Mixture of experts.");
    v.optional("mixer", mixer,
               "Linear attention or state space of the layers that 'layer_pattern' gives it.");
    v.optional(
        "layer_pattern", layer_pattern,
        "What layers consist of, repeated over the model; empty: attention in all. attention, "
        "mixer "
        "and both (side by side, Falcon-H1) are followed by an MLP or experts; attention_only, "
        "mixer_only, mlp_only and experts_only are one half each (Nemotron-H).");
    v.optional("multi_token_prediction", multi_token_prediction,
               "Extra prediction layers (DeepSeek-V3: 1).", core::up_to_64);
    v.optional("dense_prediction", dense_prediction,
               "Prediction layers have a dense MLP, whatever the last layer has (MiMo-V2-Flash).");
    v.optional("windowed_prediction", windowed_prediction,
               "Prediction layers have the window, whatever the last layer has (MiMo-V2-Flash).");
    v.optional("adapters", adapters,
               "Low-rank adapters (LoRA): they alone are trained, and the model's own weights stay "
               "as they are; absent: the model itself is trained.");
    v.optional("frozen", frozen,
               "Parts that are not trained; beside 'adapters': layers at the front without them.");
    v.optional("sixteen_bit_layers", sixteen_bit_layers,
               "Layers at both ends whose products have 16-bit operands beside a narrow "
               "'training.precision'; absent: none.");
    v.optional(
        "vision", vision,
        "An encoder of images; its tokens are among those of a sequence. Absent: text alone.");
  }
  bool operator==(const ModelSpec&) const = default;
};

/// Pipeline stages in front of the language model's: one where an encoder has its own, else none.
inline int encoder_stages(const ModelSpec& model) {
  return model.vision && model.vision->stage == EncoderStage::own ? 1 : 0;
}

}  // namespace headway::workload
