// Where a model has its mixtures, and lists that say it once more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/workload/closed_form.h"

#include "tests/import/hugging_face_keys.h"

namespace headway::import {
namespace {

using testing::HasSubstr;
using workload::AttentionKind;
using workload::ModelSpec;

/// Qwen3 with a mixture in the last of every so many layers.
std::string qwen3_experts(const std::string& more) {
  return shape("qwen3_moe", 8, 2048, 16, 4, 6144, 151936) +
         R"(, "head_dim": 128, "num_experts": 16, "num_experts_per_tok": 2,
         "moe_intermediate_size": 768)" +
         more;
}

TEST(ExpertFamilies, HaveTheLastOfEverySoManyLayers) {
  const ModelSpec model = read_keys(qwen3_experts(R"(, "decoder_sparse_step": 2)"));
  EXPECT_EQ(model.moe->period, 2);
  EXPECT_EQ(model.ffn, 6144);
  EXPECT_EQ(read_keys(qwen3_experts(R"(, "decoder_sparse_step": 1)")).ffn, 0);
  EXPECT_THAT(
      message_of_keys(qwen3_experts(R"(, "decoder_sparse_step": 2, "mlp_only_layers": [0])")),
      HasSubstr("'mlp_only_layers' beside 'decoder_sparse_step' above 1"));
}

// Latent attention and DeepSeek's mixture under another name.
TEST(ExpertFamilies, GlmFlashIsReadAsDeepSeek) {
  const auto keys = [](const char* type) {
    return shape(type, 47, 2048, 20, 20, 10240, 154880) +
           R"(, "q_lora_rank": 768, "kv_lora_rank": 512, "qk_nope_head_dim": 192,
           "qk_rope_head_dim": 64, "v_head_dim": 256, "n_routed_experts": 64,
           "num_experts_per_tok": 4, "n_shared_experts": 1, "moe_intermediate_size": 1536,
           "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1)";
  };
  EXPECT_EQ(read_keys(keys("glm4_moe_lite")), read_keys(keys("deepseek_v3")));
  EXPECT_THAT(message_of_keys(keys("glm4_moe_lite") + R"(, "mlp_layer_types": ["sparse"])"),
              HasSubstr("'mlp_layer_types' must be 'dense' in the first 1 layers"));
}

// K-EXAONE: windows on three layers of four and a mixture behind the first; its card says 236B, of
// which 23B meet a token.
TEST(ExpertFamilies, KExaoneHasWindowsAndAMixture) {
  const ModelSpec model = read_keys(shape("exaone_moe", 48, 6144, 64, 8, 18432, 153600) +
                                    R"(, "head_dim": 128, "sliding_window": 128,
      "sliding_window_pattern": "LLLG", "num_experts": 128, "num_experts_per_tok": 8,
      "num_shared_experts": 1, "moe_intermediate_size": 2048, "first_k_dense_replace": 1)");
  EXPECT_EQ(model.window_period, 4);
  EXPECT_NEAR(workload::count_parameters(model).total() / 1e9, 236, 1);
  EXPECT_NEAR(workload::count_parameters(model).active / 1e9, 23, 1);
}

// Solar Open has GLM's mixture on every layer, FlexOlmo is OLMoE's under another name.
TEST(ExpertFamilies, SolarAndFlexOlmoAreReadAsTheirModels) {
  const std::string solar = R"(, "head_dim": 128, "n_routed_experts": 128,
      "num_experts_per_tok": 8, "n_shared_experts": 1, "moe_intermediate_size": 1280)";
  const auto keys = [&](const char* type) {
    return shape(type, 48, 4096, 64, 8, 10240, 196608) + solar;
  };
  EXPECT_EQ(read_keys(keys("solar_open")), read_keys(keys("glm4_moe")));
  EXPECT_NEAR(workload::count_parameters(read_keys(keys("solar_open"))).total() / 1e9, 102, 1);
  const auto olmo = [](const char* type) {
    return shape(type, 32, 4096, 32, 32, 11008, 100352) +
           R"(, "num_experts": 7, "num_experts_per_tok": 5)";
  };
  EXPECT_EQ(read_keys(olmo("flex_olmo")), read_keys(olmo("olmoe")));
}

// Keys of published files that change no shape, or say another key again, are no news.
TEST(ExpertFamilies, WhatChangesNoShapeIsNotSaid) {
  const auto imported =
      import_hugging_face_config("{" + shape("granitemoe", 2, 64, 4, 4, 128, 100) +
                                     R"(, "num_local_experts": 4, "num_experts_per_tok": 2,
      "normalization_function": "rmsnorm", "layernorm_mlp_beta": 1.0, "shared_moe_mode": "sigmoid",
      "postnorm": true, "attn_temperature_tuning": 4, "cache_implementation": "hybrid",
      "attn_rotary_emb": 64, "tokens_per_second": 2})",
                                 "config.json");
  EXPECT_THAT(imported.remarks, testing::IsEmpty());
}

std::string llama4(const std::string& more) {
  return shape("llama4_text", 4, 5120, 40, 8, 8192, 202048) +
         R"(, "head_dim": 128, "num_local_experts": 16, "num_experts_per_tok": 1,
         "interleave_moe_layer_step": 2, "intermediate_size_mlp": 16384,
         "attention_chunk_size": 8192)" +
         more;
}

TEST(ExpertFamilies, ListsOfLlama4SayWhatItsShortKeysDo) {
  const ModelSpec plain = read_keys(llama4(""));
  EXPECT_EQ(read_keys(llama4(R"(, "moe_layers": [1, 3], "layer_types": ["chunked_attention",
      "chunked_attention", "chunked_attention", "full_attention"])")),
            plain);
  const ModelSpec full = read_keys(llama4(R"(, "layer_types": ["full_attention", "full_attention",
      "full_attention", "full_attention"])"));
  EXPECT_EQ(full.window, 0);
  EXPECT_EQ(full.attention, AttentionKind::grouped_query);
  EXPECT_THAT(message_of_keys(llama4(R"(, "moe_layers": [0, 2])")),
              HasSubstr("'moe_layers' must be the last of every 2"));
  EXPECT_THAT(message_of_keys(llama4(R"(, "layer_types": ["full_attention", "chunked_attention",
      "chunked_attention", "chunked_attention"])")),
              HasSubstr("'layer_types' must be 'chunked_attention' three times"));
}

// gpt-oss cuts the inputs of its experts off and scales YaRN's sines and cosines where its
// configuration says so.
TEST(ExpertFamilies, GptOssSaysItsBoundsAndScaledRotary) {
  const std::string experts = R"(, "num_local_experts": 32, "num_experts_per_tok": 4)";
  const std::string plain = shape("gpt_oss", 2, 2880, 64, 8, 2880, 201088) + experts;
  const auto read = [](const std::string& keys) {
    return read_hugging_face_config("{" + keys + "}", "config.json");
  };
  EXPECT_FALSE(read(plain).scaled_rotary);
  EXPECT_FALSE(read(plain).moe->limited_activation);
  const ModelSpec model = read(
      plain + R"(, "swiglu_limit": 7.0, "rope_scaling": {"rope_type": "yarn", "factor": 32.0})");
  EXPECT_TRUE(model.scaled_rotary);
  EXPECT_TRUE(model.moe->limited_activation);
}

// Every second layer of gpt-oss attends to all tokens, whether its file lists them or not.
TEST(ExpertFamilies, GptOssHasWindowsOnEverySecondLayer) {
  const std::string plain =
      shape("gpt_oss", 4, 2880, 64, 8, 2880, 201088) +
      R"(, "num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128)";
  const std::string list =
      R"(, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"])";
  for (const std::string& keys : {plain, plain + list}) {
    const ModelSpec model = read_keys(keys);
    EXPECT_EQ(model.window, 128);
    EXPECT_EQ(model.window_period, 2);
  }
}

}  // namespace
}  // namespace headway::import
