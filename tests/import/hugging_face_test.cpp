// Hugging Face configurations: real files give the published models, odd ones are refused with the
// place and the reason.
#include "sim/import/hugging_face/hugging_face.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"
#include "sim/workload/closed_form.h"

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

using testing::HasSubstr;
using workload::AttentionKind;
using workload::ModelSpec;

const std::string kFolder =
    kExternal + "ai-dynamo-aiconfigurator/aic-core/src/aiconfigurator_core/model_configs/";

class RealConfig : public testing::Test {
 protected:
  static ModelSpec read(const std::string& name) {
    return read_hugging_face_config(text_of(kFolder + name), kFolder + name);
  }
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) {
      GTEST_SKIP() << "the shared data are absent: " << kFolder;
    }
  }
};

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

TEST_F(RealConfig, Llama405bHasTheCataloguesNumbers) {
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

TEST_F(RealConfig, ParametersRoundToThePublishedCounts) {
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

TEST_F(RealConfig, DeepSeekHasLatentAttentionAndLeadingDenseLayers) {
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

TEST_F(RealConfig, KimiReadsAsDeepSeekWithOneDenseLayer) {
  const ModelSpec model = read("moonshotai--Kimi-K2-Instruct_config.json");
  EXPECT_EQ(model.moe->experts, 384);
  EXPECT_EQ(model.moe->leading_dense_layers, 1);
  EXPECT_EQ(model.multi_token_prediction, 0);
  EXPECT_NEAR(parameters(model) / 1e9, 1026, 2);
}

TEST_F(RealConfig, GptOssAlternatesAWindowWithFullAttention) {
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

TEST_F(RealConfig, QwenKeepsTheEmbeddingTiedAndTheWindowOff) {
  const ModelSpec model = read("Qwen--Qwen3-0.6B_config.json");
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.window, 0);
}

TEST_F(RealConfig, AStateSpaceHybridIsRefusedByName) {
  EXPECT_THAT(message_of(text_of(kFolder + "nvidia--Nemotron-H-56B-Base-8K_config.json")),
              HasSubstr("model_type 'nemotron_h' is a hybrid of attention and state-space layers; "
                        "only decoder transformers of text can be described"));
}

TEST_F(RealConfig, AVisionLanguageModelIsRefusedByName) {
  EXPECT_THAT(message_of(text_of(kFolder + "Qwen--Qwen3-VL-8B-Instruct_config.json")),
              HasSubstr("model_type 'qwen3_vl' is a vision-language model"));
}

TEST(HuggingFace, BrokenJsonNamesLineAndColumn) {
  EXPECT_THAT(message_of("{\n  \"model_type\": \"llama\",\n  \"hidden_size\": ,\n}"),
              HasSubstr("config.json:3:18: not valid JSON: syntax error"));
  EXPECT_THAT(message_of(""), HasSubstr("config.json:1:1: not valid JSON"));
  EXPECT_THAT(message_of("[1, 2]"),
              HasSubstr("config.json: a model configuration is a JSON object"));
}

TEST(HuggingFace, AllFaultsComeTogetherWithTheirPlaces) {
  const std::string text = R"({
  "model_type": "llama",
  "num_hidden_layers": 0,
  "hidden_size": 4096.5,
  "num_attention_heads": 32,
  "num_key_value_heads": 5,
  "intermediate_size": "wide",
  "tie_word_embeddings": 1
})";
  EXPECT_EQ(message_of(text),
            "config.json:3:3: 'num_hidden_layers' must be at least 1 and fit in 31 bits, not 0\n"
            "    3 |   \"num_hidden_layers\": 0,\n"
            "      |   ^^^^^^^^^^^^^^^^^^^\n"
            "config.json:4:3: 'hidden_size' must be a whole number, not 4096.5\n"
            "    4 |   \"hidden_size\": 4096.5,\n"
            "      |   ^^^^^^^^^^^^^\n"
            "config.json: 'vocab_size' is missing\n"
            "config.json:8:3: 'tie_word_embeddings' must be true or false, not 1\n"
            "    8 |   \"tie_word_embeddings\": 1\n"
            "      |   ^^^^^^^^^^^^^^^^^^^^^\n"
            "config.json:7:3: 'intermediate_size' must be a whole number, not \"wide\"\n"
            "    7 |   \"intermediate_size\": \"wide\",\n"
            "      |   ^^^^^^^^^^^^^^^^^^^\n");
}

TEST(HuggingFace, RulesAcrossKeysAreChecked) {
  const auto dense = [](int hidden, int heads, int groups) {
    return message_of(
        fmt::format(R"({{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": {},
      "num_attention_heads": {}, "num_key_value_heads": {}, "intermediate_size": 8, "vocab_size": 9}})",
                    hidden, heads, groups));
  };
  EXPECT_THAT(dense(64, 8, 5),
              HasSubstr("'num_key_value_heads' 5 does not divide 'num_attention_heads' 8"));
  EXPECT_THAT(dense(60, 8, 8),
              HasSubstr("'hidden_size' 60 is no multiple of 'num_attention_heads' 8"));
  EXPECT_THAT(message_of(R"({"model_type": "mixtral", "num_hidden_layers": 2, "hidden_size": 64,
    "num_attention_heads": 8, "intermediate_size": 8, "vocab_size": 9, "num_local_experts": 2,
    "num_experts_per_tok": 3})"),
              HasSubstr("'num_experts_per_tok' 3 is more than the 2 experts"));
}

TEST(HuggingFace, UnknownFamiliesAreNamedWithASuggestion) {
  EXPECT_THAT(message_of(R"({"model_type": "lama"})"),
              HasSubstr("model_type 'lama' is not known; did you mean 'llama'?"));
  EXPECT_THAT(message_of(R"({"model_type": "rwkv"})"), HasSubstr("is a recurrent model"));
  EXPECT_THAT(message_of(R"({"model_type": "unheard_of"})"), HasSubstr("known are llama, mistral"));
  EXPECT_THAT(message_of("{}"), HasSubstr("'model_type' is missing"));
}

TEST(HuggingFace, PythonsInfinityIsNoNumberOfLayers) {
  EXPECT_THAT(message_of(R"({"model_type": "llama", "num_hidden_layers": Infinity})"),
              HasSubstr("'num_hidden_layers' must be a whole number, not \"inf\""));
  EXPECT_THAT(message_of(R"({"model_type": "llama", "num_hidden_layers": NaN})"),
              HasSubstr("'num_hidden_layers' must be a whole number"));
}

TEST(HuggingFace, AnIrregularWindowPatternIsRefused) {
  const std::string text = R"({"model_type": "qwen3", "num_hidden_layers": 4, "hidden_size": 64,
    "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100, "sliding_window": 16,
    "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]})";
  EXPECT_THAT(
      message_of(text),
      HasSubstr("'layer_types' must repeat some 'sliding_attention' and one 'full_attention'"));
}

TEST(HuggingFace, TheNameComesFromTheFolderOfAPlainConfigFile) {
  const std::string text = R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
    "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100})";
  EXPECT_EQ(read_hugging_face_config(text, "models/My-Model/config.json").name, "My-Model");
  EXPECT_EQ(read_hugging_face_config(text, "tiny.json").name, "tiny");
  EXPECT_EQ(read_hugging_face_config(text, "tiny.json").attention, AttentionKind::multi_head);
}

}  // namespace
}  // namespace headway::import
