// Configurations of models by their keys, and what reading them says.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"
#include "sim/import/hugging_face/hugging_face.h"

namespace headway::import {

/// What published files have beside the shape, and what a prediction does not need.
inline constexpr const char* kBeside = R"(,
  "architectures": ["SomeForCausalLM"], "auto_map": {"AutoConfig": "configuration.Some"}, "bos_token_id": 1,
  "eos_token_id": [2, 3], "pad_token_id": null, "initializer_range": 0.02, "layer_norm_eps": 1e-05, "rms_norm_eps": 1e-06,
  "rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "rope_type": "llama3"}, "router_aux_loss_coef": 0.001,
  "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}, "pretraining_tp": 1,
  "torch_dtype": "bfloat16", "transformers_version": "4.46.1", "use_cache": true)";

inline workload::ModelSpec read_keys(const std::string& keys) {
  const workload::ModelSpec model = read_hugging_face_config("{" + keys + "}", "config.json");
  EXPECT_EQ(read_hugging_face_config("{" + keys + kBeside + "}", "config.json"), model) << keys;
  return model;
}

inline std::string message_of_keys(const std::string& keys) {
  try {
    read_keys(keys);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

/// The keys that most families share.
inline std::string shape(const std::string& type,
                         int layers,
                         int hidden,
                         int heads,
                         int groups,
                         int ffn,
                         int vocabulary) {
  return fmt::format(
      R"("model_type": "{}", "num_hidden_layers": {}, "hidden_size": {}, "num_attention_heads": {},
      "num_key_value_heads": {}, "intermediate_size": {}, "vocab_size": {})",
      type, layers, hidden, heads, groups, ffn, vocabulary);
}

}  // namespace headway::import
