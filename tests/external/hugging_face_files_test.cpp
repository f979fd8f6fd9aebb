// Published configurations of Hugging Face give the published models.
#include <filesystem>
#include <gmock/gmock.h>
#include <iostream>
#include <string>

#include "sim/core/error.h"
#include "sim/import/hugging_face/hugging_face.h"
#include "sim/workload/closed_form.h"

#include "tests/external/file.h"

namespace headway::import {
namespace {

using testing::HasSubstr;
using workload::AttentionKind;
using workload::ModelSpec;

const std::string kFolder =
    kExternal + "ai-dynamo-aiconfigurator/aic-core/src/aiconfigurator_core/model_configs/";

ModelSpec read(const std::string& name) {
  return read_hugging_face_config(text_of(kFolder + name), kFolder + name);
}

std::string message_of(std::string_view text, const std::string& file = "config.json") {
  try {
    read_hugging_face_config(text, file);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

/// Parameters of a decoder without biases and without multi-token prediction, written out once more
/// for the tests:
///     L (attention + MLP + 2 h) + V h (twice if untied) + h
double parameters(const ModelSpec& m) {
  const double h = m.hidden;
  double attention = h * m.head_dim * (2.0 * m.heads + 2.0 * m.key_value_heads);
  if (m.latent) {
    const double a = m.heads;
    const auto& l = *m.latent;
    attention = l.query_rank * (h + a * (l.no_rope_dim + l.rope_dim)) +
                h * (l.key_value_rank + l.rope_dim) +
                l.key_value_rank * a * (l.no_rope_dim + l.value_dim) + a * l.value_dim * h;
  }
  const int sparse = m.moe ? m.layers - m.moe->leading_dense_layers : 0;
  double total = m.layers * (attention + 2 * h) + (m.layers - sparse) * 3.0 * h * m.ffn;
  if (m.moe) {
    total += sparse *
             ((m.moe->experts + m.moe->shared_experts) * 3.0 * h * m.moe->ffn + h * m.moe->experts);
  }
  return total + (m.tied_embeddings ? 1.0 : 2.0) * m.vocabulary * h + h;
}

TEST(RealConfig, Llama405bHasTheCataloguesNumbers) {
  const ModelSpec model = read("meta-llama--Meta-Llama-3.1-405B_config.json");
  EXPECT_EQ(model.name, "meta-llama--Meta-Llama-3.1-405B");
  EXPECT_EQ(model.layers, 126);
  EXPECT_EQ(model.hidden, 16384);
  EXPECT_EQ(model.heads, 128);
  EXPECT_EQ(model.key_value_heads, 8);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.ffn, 53248);
  EXPECT_EQ(model.vocabulary, 128256);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(model.attention, AttentionKind::grouped_query);
  EXPECT_NEAR(parameters(model) / 1e9, 405.9, 0.06);
}

TEST(RealConfig, ParametersRoundToThePublishedCounts) {
  const std::pair<const char*, double> published[] = {
      {"meta-llama--Meta-Llama-3.1-70B_config.json", 70.6},
      {"meta-llama--Meta-Llama-3.1-8B_config.json", 8.03},
      {"mistralai--Mixtral-8x7B-v0.1_config.json", 46.7},
      {"Qwen--Qwen3-235B-A22B_config.json", 235.1},
      {"Qwen--Qwen3-32B_config.json", 32.76},
      {"Qwen--Qwen3-0.6B_config.json", 0.596},
      {"deepseek-ai--DeepSeek-V3_config.json", 671.0},
      {"openai--gpt-oss-120b_config.json", 116.8}};
  for (const auto& [file, billions] : published) {
    EXPECT_NEAR(parameters(read(file)) / 1e9, billions, 0.001 * billions) << file;
  }
}

TEST(RealConfig, DeepSeekHasLatentAttentionAndLeadingDenseLayers) {
  const ModelSpec model = read("deepseek-ai--DeepSeek-V3_config.json");
  ASSERT_TRUE(model.latent.has_value());
  EXPECT_EQ(model.latent->query_rank, 1536);
  EXPECT_EQ(model.latent->key_value_rank, 512);
  EXPECT_EQ(model.head_dim, 192);
  ASSERT_TRUE(model.moe.has_value());
  EXPECT_EQ(model.moe->experts, 256);
  EXPECT_EQ(model.moe->top_k, 8);
  EXPECT_EQ(model.moe->shared_experts, 1);
  EXPECT_EQ(model.moe->leading_dense_layers, 3);
  EXPECT_EQ(model.multi_token_prediction, 1);
}

TEST(RealConfig, KimiReadsAsDeepSeekWithOneDenseLayer) {
  const ModelSpec model = read("moonshotai--Kimi-K2-Instruct_config.json");
  EXPECT_EQ(model.moe->experts, 384);
  EXPECT_EQ(model.moe->leading_dense_layers, 1);
  EXPECT_EQ(model.multi_token_prediction, 0);
  EXPECT_NEAR(parameters(model) / 1e9, 1026, 2);
}

TEST(RealConfig, GptOssAlternatesAWindowWithFullAttention) {
  const ModelSpec model = read("openai--gpt-oss-120b_config.json");
  EXPECT_EQ(model.attention, AttentionKind::sliding_window);
  EXPECT_EQ(model.window, 128);
  EXPECT_EQ(model.window_period, 2);
  EXPECT_EQ(model.head_dim, 64);
  EXPECT_EQ(model.moe->top_k, 4);
  // The model card counts 116,829,156,672, with what is left out here: a layer's biases of
  // attention and router and the sinks of its heads, 4,096 + 1,024 + 2,880 + 128 + 64.
  EXPECT_EQ(workload::count_parameters(model).total() + 36.0 * 8192, 116829156672);
}

TEST(RealConfig, QwenKeepsTheEmbeddingTiedAndTheWindowOff) {
  const ModelSpec model = read("Qwen--Qwen3-0.6B_config.json");
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.window, 0);
}

// 118 layers: 54 of Mamba-2, 54 of MLPs, 10 of attention. Source: "Nemotron-H: A Family of Accurate
// and Efficient Hybrid Mamba-Transformer Models" (arXiv 2504.03624), table 1.
TEST(RealConfig, AStateSpaceHybridHasItsPattern) {
  using workload::LayerContent;
  const ModelSpec model = read("nvidia--Nemotron-H-56B-Base-8K_config.json");
  EXPECT_EQ(model.layers, 118);
  ASSERT_FALSE(model.layer_pattern.empty());
  const auto count = [&](LayerContent content) {
    int layers = 0;
    for (std::size_t i = 0; i < 118; ++i) {
      layers += model.layer_pattern[i % model.layer_pattern.size()] == content ? 1 : 0;
    }
    return layers;
  };
  EXPECT_EQ(count(LayerContent::mixer_only), 54);
  EXPECT_EQ(count(LayerContent::mlp_only), 54);
  EXPECT_EQ(count(LayerContent::attention_only), 10);
  EXPECT_NEAR(workload::count_parameters(model).total() / 1e9, 56, 0.56);
}

TEST(RealConfig, OfAVisionLanguageModelTheEncoderIsReadToo) {
  const ModelSpec model = read("Qwen--Qwen3-VL-8B-Instruct_config.json");
  EXPECT_EQ(model.layers, 36);
  EXPECT_EQ(model.vision->projectors, 4);
  EXPECT_NEAR(workload::count_parameters(model).total() / 1e9, 8.77, 0.01);
}

TEST(RealConfig, WhatIsNotReadIsRefusedByName) {
  int files = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with("_config.json") || path.ends_with("quant_config.json")) {
      continue;
    }
    const std::string message = message_of(text_of(path), path);
    ++files;
    refused += message == "no error" ? 0 : 1;
    EXPECT_THAT(message, testing::AnyOf("no error", HasSubstr("model_type"))) << path;
  }
  std::cout << refused << " of " << files << " files refused\n";
  EXPECT_GT(files, 10);
  EXPECT_LE(refused, files / 4);
}

}  // namespace
}  // namespace headway::import
