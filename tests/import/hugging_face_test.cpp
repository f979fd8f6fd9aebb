// Hugging Face configurations: odd ones are refused with the place and the reason.
#include "sim/import/hugging_face/hugging_face.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"

namespace headway::import {
namespace {

using testing::HasSubstr;
using workload::AttentionKind;
using workload::ModelSpec;

std::string message_of(std::string_view text, const std::string& file = "config.json") {
  try {
    read_hugging_face_config(text, file);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
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
  EXPECT_THAT(message_of(R"({"model_type": "rwkv"})"), HasSubstr("has recurrent layers"));
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
