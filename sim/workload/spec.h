// What is trained and how the work is divided: model, training recipe, parallelism, framework.
// Knows no hardware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/precision.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"
#include "sim/workload/framework_spec.h"
#include "sim/workload/usual_run.h"

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

/// Mixture of experts.
struct ExpertsSpec {
  int experts = 8;
  int top_k = 2;
  int shared_experts = 0;
  int ffn = 0;
  int leading_dense_layers = 0;
  int period = 1;
  double imbalance = 1;
  double capacity_factor = 0;
  bool padded = false;
  int routing_groups = 1;
  int group_limit = 0;
  bool biases = false;
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
  int ffn = 0;
  bool gated_mlp = true;
  int vocabulary = 0;
  bool tied_embeddings = false;
  bool biases = false;
  std::optional<bool> dropout;
  int learned_positions = 0;
  bool rotary = true;
  int norms = 2;
  bool query_key_norm = false;
  bool parallel_block = false;
  AttentionKind attention = AttentionKind::grouped_query;
  int window = 0;
  int window_period = 1;
  bool chunked_window = false;
  std::optional<LatentAttentionSpec> latent;
  std::optional<ExpertsSpec> moe;
  int multi_token_prediction = 0;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.required("layers", layers, "Decoder layers.", core::from_one_to_10k);
    v.required("hidden", hidden, "Width of the residual stream.", core::from_one_to_16m);
    v.required("heads", heads, "Query heads.", core::from_one_to_64k);
    v.required("key_value_heads", key_value_heads,
               "Key and value heads; equal to heads without grouping.", core::from_one_to_64k);
    v.required("head_dim", head_dim, "Width of one head; not always hidden / heads.",
               core::from_one_to_64k);
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
    v.optional("norms", norms,
               "Norms of the residual stream in a layer: 2; 1 in a parallel block with one norm "
               "(Falcon-7B, Command R); 4 with one before and one after each half (Gemma 2).",
               core::Range{1, 4, false, false, "1, 2 or 4"});
    v.optional("query_key_norm", query_key_norm, "Norms of queries and keys (Qwen3, OLMo 2).");
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
    v.optional(
        "chunked_window", chunked_window,
        "The window does not slide: a sequence is cut into pieces of `window` tokens that do "
        "not attend to each other (Llama 4).");
    v.optional("latent", latent, "Ranks of multi-latent attention.");
    v.optional("moe", moe, "Mixture of experts.");
    v.optional("multi_token_prediction", multi_token_prediction,
               "Extra prediction layers (DeepSeek-V3: 1).", core::up_to_64);
  }
  bool operator==(const ModelSpec&) const = default;
};

enum class ScheduleKind {
  gpipe,
  one_f_one_b,
  interleaved,
  zero_bubble_h1,
  zero_bubble_h2,
  zero_bubble_v,
  dual_pipe,
  dual_pipe_v
};
constexpr auto enum_words(ScheduleKind) {
  using S = ScheduleKind;
  using E = core::EnumWord<S>;
  return std::array{E{S::gpipe, "gpipe"},
                    E{S::one_f_one_b, "1f1b"},
                    E{S::interleaved, "interleaved"},
                    E{S::zero_bubble_h1, "zb-h1"},
                    E{S::zero_bubble_h2, "zb-h2"},
                    E{S::zero_bubble_v, "zb-v"},
                    E{S::dual_pipe, "dualpipe"},
                    E{S::dual_pipe_v, "dualpipe-v"}};
}

/// Which dimension varies faster from node to node: neighbours in it are neighbours in the cluster.
enum class RankOrder { data_first, pipeline_first };
constexpr auto enum_words(RankOrder) {
  using E = core::EnumWord<RankOrder>;
  return std::array{E{RankOrder::data_first, "tp-cp-dp-pp"},
                    E{RankOrder::pipeline_first, "tp-cp-pp-dp"}};
}

/// How ranks that share a sequence meet each other's keys and values.
enum class ContextKind { ring, all_gather, all_to_all };
constexpr auto enum_words(ContextKind) {
  using E = core::EnumWord<ContextKind>;
  return std::array{E{ContextKind::ring, "ring"}, E{ContextKind::all_gather, "all-gather"},
                    E{ContextKind::all_to_all, "all-to-all"}};
}

/// What leaves the GPU's memory for the host's.
enum class Offload { none, optimizer, activations, all };
constexpr auto enum_words(Offload) {
  using E = core::EnumWord<Offload>;
  return std::array{E{Offload::none, "none"}, E{Offload::optimizer, "optimizer"},
                    E{Offload::activations, "activations"}, E{Offload::all, "all"}};
}
constexpr bool offloads_optimizer(Offload offload) {
  return offload == Offload::optimizer || offload == Offload::all;
}
constexpr bool offloads_activations(Offload offload) {
  return offload == Offload::activations || offload == Offload::all;
}

/// How the work is divided over the ranks. tensor x context x pipeline x data = GPUs.
struct ParallelismSpec {
  int tensor = 1;
  bool sequence = true;
  int pipeline = 1;
  int virtual_stages = 1;
  int context = 1;
  ContextKind context_kind = ContextKind::ring;
  int expert = 1;
  int expert_tensor = 1;
  core::OrAuto<int> data;
  Sharding sharding = Sharding::zero1;
  int micro_batch = 1;
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  int shard_group_size = 0;
  bool reshard = true;
  Recompute recompute = Recompute::none;
  std::vector<RecomputePart> recompute_parts;
  int recompute_period = 1;
  int first_stage_layers = 0;
  int last_stage_layers = 0;
  std::vector<int> chunk_layers;
  RankOrder rank_order = RankOrder::data_first;
  Offload offload = Offload::none;
  core::OrAuto<int> offload_layers;
  template <class V>
  void fields(V& v) {
    v.optional("tensor", tensor, "Tensor-parallel degree.", core::from_one_to_16m);
    v.optional("sequence", sequence,
               "Split norms and residuals along the sequence over the tensor group.");
    v.optional("pipeline", pipeline, "Pipeline stages.", core::from_one_to_10k);
    v.optional("virtual", virtual_stages, "Model chunks a stage holds (interleaved schedule).",
               core::from_one_to_10k);
    v.optional("context", context, "Context-parallel degree.", core::from_one_to_16m);
    v.optional(
        "context_kind", context_kind,
        "How context ranks share keys and values: ring passes them on beside attention; all-gather "
        "collects them first (Llama 3); all-to-all trades sequence for heads (Ulysses).");
    v.optional("expert", expert,
               "Expert-parallel degree; its ranks are taken from the tensor, context and data "
               "ranks of a stage.",
               core::from_one_to_16m);
    v.optional("expert_tensor", expert_tensor, "Tensor-parallel degree inside an expert.",
               core::from_one_to_16m);
    v.optional("data", data, "Data-parallel degree; auto: GPUs / (tensor x context x pipeline).",
               core::from_one_to_16m);
    v.optional("sharding", sharding,
               "What data-parallel ranks shard: zero0 nothing, zero1 optimizer, zero2 and "
               "gradients, zero3 and weights (FSDP); hsdp: as zero3, inside groups of "
               "shard_group_size ranks, with copies between the groups.");
    v.optional(
        "shard_group_size", shard_group_size,
        "Ranks that hold one copy of the sharded weights; hsdp needs it. A mixture's experts lie "
        "once in each tensor x shard_group_size ranks.",
        core::up_to_16m);
    v.optional("reshard", reshard,
               "zero3, hsdp: drop a layer's gathered weights after its forward and gather them "
               "again for its backward.");
    v.optional("micro_batch", micro_batch, "Sequences in one micro-batch.", core::from_one_to_16m);
    v.optional("schedule", schedule, "Order of forward and backward work on a stage.");
    v.optional(
        "recompute", recompute,
        "Activations recomputed in backward: none, some parts of a layer (selective), all (full).");
    v.optional("recompute_parts", recompute_parts,
               "Parts that 'selective' recomputes; empty: core_attention.");
    v.optional("recompute_period", recompute_period, "One layer in this many recomputes; 1: all.",
               core::from_one_to_10k);
    v.optional("first_stage_layers", first_stage_layers,
               "Layers of the first stage; 0: even. Uneven layouts need the rest to divide evenly.",
               core::up_to_10k);
    v.optional("last_stage_layers", last_stage_layers, "Layers of the last stage; 0: even.",
               core::up_to_10k);
    v.optional(
        "chunk_layers", chunk_layers,
        "Layers of every chunk, in the order in which a micro-batch meets the chunks; empty: even.",
        core::up_to_10k);
    v.optional("rank_order", rank_order,
               "Order of ranks over GPUs, fastest first: tp-cp-dp-pp (Megatron) or tp-cp-pp-dp "
               "(Llama 3).");
    v.optional("offload", offload,
               "optimizer: master weights and moments live in host memory, where the CPUs update "
               "them; gradients go there and weights come back every step. activations: what a "
               "layer keeps for its backward goes to host memory after its forward and comes back "
               "a layer ahead. all: both. Offload of weights is not modelled.");
    v.optional("offload_layers", offload_layers,
               "Layers at the front of each chunk whose activations are offloaded; auto: all but "
               "the chunk's last, which backward needs at once.",
               core::from_one_to_10k);
  }
  bool operator==(const ParallelismSpec&) const = default;
};

/// One length of the documents that are packed into sequences.
struct DocumentLength {
  int tokens = 0;
  double share = 1;
  template <class V>
  void fields(V& v) {
    v.required("tokens", tokens, "Tokens of a document.", core::sequence_tokens);
    v.optional("share", share, "Documents of this length, relative to the others.",
               core::relative_share);
  }
  bool operator==(const DocumentLength&) const = default;
};

/// What the optimizer keeps of a parameter beside the 16-bit weight and the gradient.
enum class OptimizerState { adam_fp32, adam_bf16, adam_8bit, muon, sgd_momentum };
constexpr auto enum_words(OptimizerState) {
  using O = OptimizerState;
  using E = core::EnumWord<O>;
  return std::array{E{O::adam_fp32, "adam_fp32"}, E{O::adam_bf16, "adam_bf16"},
                    E{O::adam_8bit, "adam_8bit"}, E{O::muon, "muon"},
                    E{O::sgd_momentum, "sgd_momentum"}};
}

/// The training recipe.
struct TrainingSpec {
  int sequence_length = 0;
  int global_batch = 0;
  std::vector<DocumentLength> documents;
  core::Precision precision = core::Precision::bf16;
  OptimizerState optimizer_state = OptimizerState::adam_fp32;
  FrameworkSpec framework;
  template <class V>
  void fields(V& v) {
    v.required("sequence_length", sequence_length, "Tokens in a sequence.", core::sequence_tokens);
    v.required("global_batch", global_batch, "Sequences in a step, over all ranks.",
               core::at_least_one);
    v.optional("documents", documents,
               "Lengths of the documents packed into a sequence, which do not attend to each "
               "other; empty: a sequence is one document.");
    v.optional("precision", precision,
               "Operand format of the matrix products. fp32, tf32: weights, gradients, activations "
               "and messages are fp32 and there is no master copy; attention is not fused.");
    v.optional("optimizer_state", optimizer_state,
               "fp32 master weights and: adam_fp32 two fp32 moments, adam_bf16 two bf16 moments, "
               "adam_8bit two 8-bit moments, sgd_momentum one fp32 moment. muon is refused: its "
               "orthogonalization is not modelled.");
    v.optional("framework", framework, "What the training software fuses and overlaps.");
  }
  bool operator==(const TrainingSpec&) const = default;
};

}  // namespace headway::workload
