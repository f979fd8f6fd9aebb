// Keys of configurations that change neither work nor memory nor parameters as they are counted
// here.
#include <algorithm>
#include <array>

#include "sim/import/hugging_face/hugging_face_parts.h"

namespace headway::import {

namespace {

/// "a*" are all keys that begin so, "*a" all that end so. Sources: PretrainedConfig of transformers
/// and the configurations of its families, 2026; files kept by ai-dynamo/aiconfigurator, 2026.
constexpr std::array<std::string_view, 116> kHarmless{
    // The file, the tokenizer, how weights are stored and loaded.
    "architectures", "auto_map", "transformers_version", "*_token_id", "*_token_index",
    "image_token*", "video_token*", "*_token_ids", "vocab_file", "tokenizer*", "torch_dtype",
    "dtype", "*_dtype", "quantization_config", "quant*", "compression_config", "id2label",
    "label2id", "num_labels", "problem_type", "torchscript", "tf_*", "pruned_heads",
    "task_specific_params", "prefix", "finetuning_task", "name_or_path", "unsloth*", "use_bfloat16",
    "language", "model_max_length", "seq_length", "max_seq*", "max_sequence_length",
    "max_position_embeddings", "n_positions", "n_ctx", "*context_length",
    "original_max_position_embeddings", "vision_config", "*_attn_implementation*",
    "attn_implementation", "use_flash*", "*flash_attn*", "*_kernels", "gradient_checkpointing",
    "pretraining_tp", "ep_size", "tensor_parallel*", "alibi_bias_max", "ignore_index", "is_decoder",
    "is_causal", "add_cross_attention", "cross_attention_hidden_size", "tie_encoder_decoder",
    "summary_*",
    // Generation.
    "use_cache", "*beam*", "*_penalty", "*_ngram_size", "max_length", "min_length",
    "max_new_tokens", "num_return_sequences", "temperature", "top_k", "top_p", "typical_p",
    "early_stopping", "do_sample", "return_dict*", "output_attentions", "output_hidden_states",
    "output_scores", "output_router_logits", "remove_invalid_values", "*suppress_tokens",
    "bad_words_ids", "chunk_size_feed_forward", "num_logits_to_keep",
    "index_share_for_mtp_iteration",
    // Rates, scalings, activations, positions.
    "*_eps", "*epsilon", "eps", "init*", "*_init*", "*dropout*", "*_pdrop", "*_act", "*activation*",
    "rope_*", "*_rope_theta", "*_rope_freq*", "rotary*", "partial_rotary_factor", "mrope*",
    "*_multiplier", "*_multipliers", "*softcap*", "*scale*", "*scaling*", "*_interleave",
    "query_pre_attn_scalar", "layernorm_*", "attn_temperature_*", "swiglu_*", "residual_in_fp32",
    "rescale_*", "time_step_*",
    // How experts are chosen and weighed; biases and norms of queries, keys and values alone.
    "norm_topk*", "router_*", "*_router*", "scoring_func", "topk_method", "*aux*"};

/// Keys with a meaning of their own that the lists above cannot hold.
constexpr std::array<std::string_view, 25> kHarmlessWords{"moe_renormalize",
                                                          "use_grouped_topk",
                                                          "use_routing_bias",
                                                          "use_moe_router_bias",
                                                          "moe_shared_expert_overlap",
                                                          "num_expert_group",
                                                          "attention_bias",
                                                          "qkv_bias",
                                                          "attn_bias",
                                                          "use_qkv_bias",
                                                          "add_qkv_bias",
                                                          "qk_norm_type",
                                                          "use_gemma_norm",
                                                          "latent_moe_use_norm",
                                                          "experts_per_token",
                                                          "output_gate_type",
                                                          "use_conv_bias",
                                                          "mamba_conv_bias",
                                                          "mamba_d_head",
                                                          "shared_moe_mode",
                                                          "postnorm",
                                                          "normalization_function",
                                                          "cache_implementation",
                                                          "attn_rotary_emb",
                                                          "tokens_per_second"};

bool fits(std::string_view entry, std::string_view key) {
  const bool front = entry.starts_with('*');
  const bool back = entry.ends_with('*');
  const std::string_view word =
      entry.substr(front ? 1 : 0, entry.size() - (front ? 1 : 0) - (back ? 1 : 0));
  return front && back ? key.find(word) != std::string_view::npos
         : front       ? key.ends_with(word)
         : back        ? key.starts_with(word)
                       : key == word;
}

}  // namespace

bool changes_no_shape(std::string_view key) {
  if (key.starts_with("rope_scaling.")) {
    return true;
  }
  const std::string_view last = key.substr(key.rfind('.') + 1);
  const auto any = [last](const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [last](std::string_view entry) { return fits(entry, last); });
  };
  return any(kHarmless) || any(kHarmlessWords);
}

}  // namespace headway::import
