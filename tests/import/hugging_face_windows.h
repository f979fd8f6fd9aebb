// The configuration of MiMo-V2-Flash, as the hub and as transformers write its layers.
#pragma once

#include <string>

#include "tests/import/hugging_face_keys.h"

namespace headway::import {

/// `first`, then `others` but for the last of every six, which is `some`.
inline std::string of_layers(int layers, const char* first, const char* some, const char* others) {
  std::string list = first;
  for (int l = 1; l < layers; ++l) {
    list += std::string(", ") + (l % 6 == 5 ? some : others);
  }
  return "[" + list + "]";
}

/// The published file's keys of the shape, with lists of the hub's or of transformers' kind.
inline std::string mimo(const std::string& lists) {
  return shape("mimo_v2_flash", 48, 4096, 64, 4, 16384, 152576) +
         R"(, "head_dim": 192, "v_head_dim": 128, "n_routed_experts": 256, "n_shared_experts": null,
      "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_group": 1, "topk_group": 1,
      "sliding_window": 128, "attention_value_scale": 0.707, )" +
         lists;
}

inline std::string hub_lists() {
  return R"("hybrid_layer_pattern": )" + of_layers(48, "0", "0", "1") + R"(, "moe_layer_freq": )" +
         of_layers(48, "0", "1", "1") +
         R"(, "swa_num_attention_heads": 64, "swa_num_key_value_heads": 8, "swa_head_dim": 192,
      "swa_v_head_dim": 128, "sliding_window_size": 128, "attention_chunk_size": 128,
      "add_swa_attention_sink_bias": true, "add_full_attention_sink_bias": false,
      "partial_rotary_factor": 0.334, "swa_rope_theta": 10000, "hybrid_block_size": null,
      "scoring_func": "sigmoid", "topk_method": "noaux_tc", "norm_topk_prob": true)";
}

}  // namespace headway::import
