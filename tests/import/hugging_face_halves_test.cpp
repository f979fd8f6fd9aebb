// Models of late 2026: layers of single halves by letter or word, experts on a latent width,
// experts that do nothing, indexers that layers share, text decoders of larger models.
#include "tests/import/hugging_face_halves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"
#include "sim/import/hugging_face/hugging_face.h"
#include "sim/workload/closed_form.h"

namespace headway::import {
namespace {

using testing::HasSubstr;
using workload::ModelSpec;

ModelSpec newer_model(const std::string& keys) {
  return read_hugging_face_config("{" + keys + "}", "config.json");
}

std::string newer_message(const std::string& keys) {
  try {
    newer_model(keys);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

/// The same layers as the newer files write them.
std::string as_words(const std::string& letters) {
  std::string words;
  for (const char letter : letters) {
    words += words.empty() ? "" : ", ";
    words += letter == 'M' ? R"("mamba")" : letter == 'E' ? R"("moe")" : R"("attention")";
  }
  return words;
}

// M: 4096 x (2 x 8192 + 2 x 1024 + 128) + a convolution of 10,240 channels with bias + 3 x 128 + a
// norm and 8192 x 4096; *: 2 x 4096 x 128 x 34; E: 512 x 2 x 1024 x 2688, two projections of 4096 x
// 1024, a shared MLP of 2 x 4096 x 5376, a router; a norm in each of 40 + 8 + 40 layers.
TEST(HuggingFaceHalves, OfNemotron3SuperExpertsAreOnALatentWidth) {
  const ModelSpec model = newer_model(nemotron_3(
      fmt::format(R"("num_hidden_layers": 88, "hybrid_override_pattern": "{}")", kSuperLetters)));
  EXPECT_EQ(model.layers, 88);
  EXPECT_EQ(model.moe->latent, 1024);
  EXPECT_EQ(model.moe->shared_experts, 2);
  EXPECT_EQ(model.ffn, 0);
  const double h = 4096;
  const double mamba = h * (2 * 8192 + 2 * 1024 + 128) + 10240 * 5 + 3 * 128 + 8192 + 8192 * h;
  const double attention = 2 * h * 128 * (32 + 2);
  const double rest = 2 * h * 1024 + 2 * h * 5376 + h * 512;
  const double expert = 2 * 1024.0 * 2688;
  const auto total = [&](double experts) {
    return 40 * mamba + 8 * attention + 40 * (experts * expert + rest) + 88 * h + 2 * 131072 * h +
           h;
  };
  const workload::ParameterCount count = workload::count_parameters(model);
  EXPECT_EQ(count.total(), total(512));
  EXPECT_NEAR(count.active, total(22), 1);
  EXPECT_NEAR(count.total() / 1e9, 120, 1);
  EXPECT_NEAR(count.active / 1e9, 12, 1);
}

// Prediction modules are attention and experts, as the files say in one of two ways; the layers are
// letters or words.
TEST(HuggingFaceHalves, OfNemotronLayersAreLettersOrWords) {
  const std::string letters = kSuperLetters;
  const ModelSpec by_letters =
      newer_model(nemotron_3(R"("num_hidden_layers": 88, "num_nextn_predict_layers": 1,
        "mtp_hybrid_override_pattern": "*E", "hybrid_override_pattern": ")" +
                             letters + "\""));
  const ModelSpec by_words = newer_model(
      nemotron_3(R"("num_nextn_predict_layers": 1, "mtp_layers_block_type": ["attention", "moe"],
        "layers_block_type": [)" +
                 as_words(letters) + "]"));
  EXPECT_EQ(by_letters, by_words);
  EXPECT_EQ(by_words.multi_token_prediction, 1);
  EXPECT_EQ(by_words.layers, 88);
  EXPECT_THAT(newer_message(nemotron_3(R"("num_hidden_layers": 3)")),
              HasSubstr("neither 'hybrid_override_pattern' nor 'layers_block_type' says what the "
                        "layers are"));
  EXPECT_THAT(
      newer_message(nemotron_3(R"("num_hidden_layers": 4, "hybrid_override_pattern": "ME*")")),
      HasSubstr("'hybrid_override_pattern' has 3 letters for 4 layers"));
  EXPECT_THAT(
      newer_message(nemotron_3(R"("hybrid_override_pattern": "MG")")),
      HasSubstr("'hybrid_override_pattern': 'G', a gated delta network, cannot be a layer of "
                "its own; known are M (Mamba-2), * (attention), - (MLP) and E (experts)"));
  EXPECT_THAT(
      newer_message(nemotron_3(R"("layers_block_type": ["mamba", "conv"])")),
      HasSubstr("layers of type 'conv' are not modelled; known are mamba, attention, mlp and "
                "moe"));
  EXPECT_THAT(newer_message(nemotron_3(
                  R"("hybrid_override_pattern": "ME*", "num_nextn_predict_layers": 1,
                  "mtp_hybrid_override_pattern": "MM")")),
              HasSubstr("a prediction module of this model can be attention and then experts "
                        "('*E'); others are not modelled"));
}

// The report: 560 B in all; 27 B active in the mean (the embedding not counted), 18.6 B where all
// of a token's twelve experts do nothing, 31.3 B where none does.
TEST(HuggingFaceHalves, OfLongcatAThirdOfTheExpertsDoNothing) {
  const ModelSpec model = newer_model(kLongcat);
  EXPECT_EQ(model.layers, 5 * 28);
  EXPECT_EQ(model.moe->null_experts, 256);
  const workload::ParameterCount count = workload::count_parameters(model);
  const double expert = 28 * 3.0 * 6144 * 2048;
  EXPECT_NEAR((count.active - count.embedding) / 1e9, 27, 0.3);
  EXPECT_NEAR((count.active - count.embedding - 8 * expert) / 1e9, 18.6, 0.1);
  EXPECT_NEAR((count.active - count.embedding + 4 * expert) / 1e9, 31.3, 0.1);
  EXPECT_THAT(import_hugging_face_config("{" + std::string(kLongcat) + "}", "config.json").remarks,
              testing::ElementsAre(HasSubstr("(the shortcut) is not modelled, so a step is "
                                             "predicted too long")));
  EXPECT_THAT(newer_message(std::string(kLongcat) + R"(, "num_nextn_predict_layers": 1)"),
              HasSubstr("prediction layers with a dense MLP beside a mixture in the model's own"));
  EXPECT_THAT(newer_message(std::string(kLongcat).replace(std::string(kLongcat).find("identity"), 8,
                                                          "constant")),
              HasSubstr("experts without work of type 'constant' are not modelled"));
}

// The model card: 480 B in all, 17 B active; a dense model of 10 B and 128 experts of 3.66 B.
TEST(HuggingFaceHalves, OfArcticADenseMlpIsBesideTheExperts) {
  const ModelSpec model = newer_model(kArctic);
  EXPECT_EQ(model.layers, 3 * 35);
  EXPECT_EQ(model.ffn, 7168);
  const double expert = 35 * 3.0 * 7168 * 4864;
  // Queries and output 7168 x 7168 each, keys and values 7168 x 1024; the MLP three of 7168 x 7168.
  const double dense = 35 * (2.0 * 7168 * 7168 + 2.0 * 7168 * 1024 + 3.0 * 7168 * 7168) +
                       2.0 * 32000 * 7168 + (3 * 35 + 1) * 7168.0;
  const double router = 35 * 7168.0 * 128;
  const workload::ParameterCount count = workload::count_parameters(model);
  EXPECT_DOUBLE_EQ(count.total(), dense + router + 128 * expert);
  EXPECT_DOUBLE_EQ(count.active, dense + router + 2 * expert);
  EXPECT_NEAR(expert / 1e9, 3.66, 0.005);
  EXPECT_NEAR(dense / 1e9, 10, 0.1);
  EXPECT_NEAR(count.total() / 1e9, 480, 2);
  EXPECT_NEAR(count.active / 1e9, 17, 0.5);
  const std::string keys = kArctic;
  const auto with = [&keys](const std::string& from, const std::string& to) {
    return newer_message(std::string(keys).replace(keys.find(from), from.size(), to));
  };
  EXPECT_THAT(import_hugging_face_config("{" + keys + "}", "config.json").remarks,
              testing::ElementsAre(HasSubstr("read as three halves one after another")));
  EXPECT_THAT(with("\"moe_layer_frequency\": 1", "\"moe_layer_frequency\": 2"),
              HasSubstr("'moe_layer_frequency' must be 1"));
  EXPECT_THAT(with("\"parallel_attn_mlp_res\": true", "\"parallel_attn_mlp_res\": false"),
              HasSubstr("without a dense MLP beside their experts are not modelled"));
}

/// GLM-5.2 with other words about its indexers.
std::string glm_5_2(const std::string& indexers) {
  return R"("model_type": "glm_moe_dsa", "num_hidden_layers": 78, "hidden_size": 6144, "num_attention_heads": 64,
        "num_key_value_heads": 64, "intermediate_size": 12288, "vocab_size": 154880, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "num_nextn_predict_layers": 1,
        "q_lora_rank": 2048, "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64,
        "v_head_dim": 256, "index_n_heads": 32, "index_head_dim": 128, "index_topk": 2048)" +
         indexers;
}

// Layers 0, 1, 2, 6, ..., 74 have an indexer of 2048 x 32 x 128 + 6144 x (128 + 32) + a norm: 21 of
// 78. The list and the two numbers say the same.
TEST(HuggingFaceHalves, OfGlm52SomeLayersHaveAnIndexer) {
  std::string types;
  for (int layer = 0; layer < 78; ++layer) {
    const bool full = layer < 3 || (layer - 2) % 4 == 0;
    types += (layer == 0 ? "" : ", ") + std::string(full ? R"("full")" : R"("shared")");
  }
  const ModelSpec model = newer_model(glm_5_2(R"(, "indexer_types": [)" + types + "]"));
  EXPECT_EQ(model.sparse->period, 4);
  EXPECT_EQ(model.sparse->leading_layers, 2);
  EXPECT_EQ(newer_model(glm_5_2(R"(, "index_topk_freq": 4, "index_skip_topk_offset": 3)")), model);
  const ModelSpec all = newer_model(glm_5_2(""));
  EXPECT_EQ(all.sparse->period, 1);
  EXPECT_EQ(workload::count_parameters(all).total() - workload::count_parameters(model).total(),
            (78 - 21) * (2048.0 * 32 * 128 + 6144.0 * (128 + 32) + 2 * 128));
  EXPECT_THAT(newer_message(glm_5_2(R"(, "indexer_types": ["full", "shared", "full"])")),
              HasSubstr("'indexer_types' must have 78 entries: 'full' for the first layers"));
  EXPECT_THAT(newer_message(glm_5_2(R"(, "mlp_layer_types": ["dense", "sparse"])")),
              HasSubstr("'mlp_layer_types' must be 'dense' in the first 3 layers"));
}

TEST(HuggingFaceHalves, OfKimiK25TheTextDecoderIsRead) {
  const std::string text =
      R"("model_type": "kimi_k2", "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 64,
        "num_key_value_heads": 64, "intermediate_size": 18432, "vocab_size": 163840, "n_routed_experts": 384, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "moe_intermediate_size": 2048, "first_k_dense_replace": 1, "q_lora_rank": 1536, "kv_lora_rank": 512,
        "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128)";
  const HuggingFaceModel found = import_hugging_face_config(
      R"({"model_type": "kimi_k25", "vision_config": {"vt_hidden_size": 1152}, "text_config": {)" +
          text + "}}",
      "Kimi-K2.5/config.json");
  EXPECT_EQ(found.model.name, "Kimi-K2.5 (text decoder)");
  EXPECT_NEAR(workload::count_parameters(found.model).total() / 1e9, 1026, 2);
  EXPECT_THAT(found.remarks,
              testing::ElementsAre("of 'kimi_k25' the text decoder alone is read, not "
                                   "what it sees images with"));
}

}  // namespace
}  // namespace headway::import
