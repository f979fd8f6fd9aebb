// Configurations of models that are written as single halves.
#pragma once

#include <string>

namespace headway::import {

/// Nemotron 3 Super, and the keys of its two siblings that say its layers in words.
inline std::string nemotron_3(const std::string& layers) {
  return R"("model_type": "nemotron_h", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 2,
      "head_dim": 128, "vocab_size": 131072, "mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8,
      "ssm_state_size": 128, "conv_kernel": 4, "expand": 2, "chunk_size": 128, "intermediate_size": 2688,
      "n_routed_experts": 512, "num_experts_per_tok": 22, "moe_intermediate_size": 2688, "n_shared_experts": 1,
      "moe_shared_expert_intermediate_size": 5376, "moe_latent_size": 1024, "n_group": 1, "topk_group": 1, )" +
         layers;
}

inline constexpr const char* kSuperLetters =
    "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME";

inline constexpr const char* kLongcat =
    R"("model_type": "longcat_flash", "num_layers": 28, "num_hidden_layers": 56, "hidden_size": 6144,
      "num_attention_heads": 64, "vocab_size": 131072, "ffn_hidden_size": 12288, "expert_ffn_hidden_size": 2048,
      "n_routed_experts": 512, "zero_expert_num": 256, "zero_expert_type": "identity", "moe_topk": 12,
      "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "v_head_dim": 128, "head_dim": 64, "attention_method": "MLA", "mla_scale_q_lora": true)";

inline constexpr const char* kArctic =
    R"("model_type": "arctic", "num_hidden_layers": 35, "hidden_size": 7168, "num_attention_heads": 56,
      "num_key_value_heads": 8, "vocab_size": 32000, "intermediate_size": 4864, "num_local_experts": 128,
      "num_experts_per_tok": 2, "moe_layer_frequency": 1, "parallel_attn_mlp_res": true, "use_residual": true,
      "moe_token_dropping": true, "moe_eval_capacity_factor": 1)";

}  // namespace headway::import
