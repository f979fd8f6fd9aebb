// Configurations with all the keys that published ones have; shapes of our own. Parameters follow
// from the numbers in the files:
//     L (attention + MLP + 2 h) + V h (twice if untied) + h, attention = 2 h d (a + g), MLP = 3 h f
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"
#include "sim/import/hugging_face/hugging_face.h"
#include "sim/workload/closed_form.h"

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

using testing::HasSubstr;
using workload::AttentionKind;
using workload::ModelSpec;

ModelSpec read_file(const std::string& name) {
  const std::string path = kData + "models/" + name + ".json";
  return read_hugging_face_config(text_of(path), path);
}

std::string message_of_file(const std::string& name) {
  try {
    read_file(name);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

double total(const ModelSpec& model) { return workload::count_parameters(model).total(); }

TEST(HuggingFaceFiles, ALlamaIsRead) {
  const ModelSpec model = read_file("harbor-3b");
  EXPECT_EQ(model.name, "harbor-3b");
  EXPECT_EQ(model.attention, AttentionKind::grouped_query);
  EXPECT_EQ(model.window, 0);
  EXPECT_FALSE(model.tied_embeddings);
  const double h = 3072;
  EXPECT_EQ(total(model), 24 * (2 * h * 128 * (24 + 6) + 3 * h * 9216 + 2 * h) + 2 * 64000 * h + h);
}

// A window that is there but switched off, heads of 128 though 896 / 14 are 64, one table of tokens
// for both ends.
TEST(HuggingFaceFiles, AQwenKeepsTheEmbeddingTiedAndTheWindowOff) {
  const ModelSpec model = read_file("harbor-small");
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_TRUE(model.query_key_norm);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.window, 0);
  const double h = 896;
  EXPECT_EQ(total(model), 20 * (2 * h * 128 * (14 + 7) + 3 * h * 2560 + 2 * h) + 90112 * h + h);
}

// Six experts of 3 h f and a router of 6 h in every layer.
TEST(HuggingFaceFiles, AMixtralHasItsExpertsInEveryLayer) {
  const ModelSpec model = read_file("harbor-8x");
  ASSERT_TRUE(model.moe.has_value());
  EXPECT_EQ(model.moe->top_k, 2);
  const double h = 2048;
  EXPECT_EQ(total(model),
            20 * (2 * h * 128 * (16 + 4) + 6 * 3 * h * 7168 + 6 * h + 2 * h) + 2 * 32768 * h + h);
}

// 'intermediate_size' is of dense layers, of which there are none.
TEST(HuggingFaceFiles, ManySmallExpertsAreRead) {
  const ModelSpec model = read_file("harbor-48x");
  ASSERT_TRUE(model.moe.has_value());
  EXPECT_EQ(model.moe->experts, 48);
  EXPECT_EQ(model.moe->top_k, 6);
  EXPECT_EQ(model.moe->leading_dense_layers, 0);
  const double h = 1792;
  EXPECT_EQ(total(model),
            28 * (2 * h * 128 * (28 + 4) + 48 * 3 * h * 640 + 48 * h + 2 * h) + 2 * 90112 * h + h);
}

/// Latent attention of 20 heads: queries by rank 768, keys and values by rank 256 and a rotary part
/// of 32 that all heads share; a norm at each rank.
double latent_attention(double h) {
  const double a = 20, nope = 96, rope = 32, value = 96;
  const double query = h * 768 + 768 * a * (nope + rope);
  const double key_value = h * (256 + rope) + 256 * a * (nope + value);
  return query + key_value + a * value * h + 768 + 256;
}

// L = 12 of which `dense` lead; an expert layer has 40 routed experts, one shared, a router.
double latent_total(int dense) {
  const double h = 2560;
  const double experts = (40 + 1) * 3 * h * 1024 + 40 * h;
  return 12 * (latent_attention(h) + 2 * h) + dense * 3 * h * 6144 + (12 - dense) * experts +
         2 * 100352 * h + h;
}

TEST(HuggingFaceFiles, LatentAttentionAndLeadingDenseLayersAreRead) {
  const ModelSpec model = read_file("harbor-latent");
  ASSERT_TRUE(model.latent.has_value());
  EXPECT_EQ(model.latent->query_rank, 768);
  EXPECT_EQ(model.latent->key_value_rank, 256);
  EXPECT_EQ(model.head_dim, 96 + 32);
  EXPECT_EQ(model.moe->leading_dense_layers, 2);
  EXPECT_EQ(model.moe->shared_experts, 1);
  EXPECT_EQ(model.multi_token_prediction, 1);
  EXPECT_EQ(total(model), latent_total(2));
}

TEST(HuggingFaceFiles, KimiReadsAsDeepSeekWithOneDenseLayer) {
  const ModelSpec model = read_file("harbor-kimi");
  EXPECT_EQ(model.moe->leading_dense_layers, 1);
  EXPECT_EQ(model.multi_token_prediction, 0);
  EXPECT_EQ(total(model), latent_total(1));
}

// Experts have biases: gate and up 2 f, down h.
TEST(HuggingFaceFiles, AWindowAlternatesWithFullAttention) {
  const ModelSpec model = read_file("harbor-sinks");
  EXPECT_EQ(model.attention, AttentionKind::sliding_window);
  EXPECT_EQ(model.window, 128);
  EXPECT_EQ(model.window_period, 2);
  EXPECT_EQ(model.moe->top_k, 4);
  const double h = 1440, f = 1440;
  const double expert = 3 * h * f + 2 * f + h;
  EXPECT_EQ(total(model),
            14 * (2 * h * 64 * (32 + 8) + 20 * expert + 20 * h + 2 * h) + 2 * 100352 * h + h);
}

// Halves by letter: M of h (2 x 4096 + 2 x 8 x 128 + 64), a convolution of 6144 channels with bias,
// three vectors of 64 heads, a norm and 4096 h; one norm a layer.
TEST(HuggingFaceFiles, AHybridIsReadByItsPattern) {
  const ModelSpec model = read_file("harbor-hybrid");
  ASSERT_TRUE(model.mixer);
  EXPECT_EQ(model.mixer->kind, workload::MixerKind::mamba2);
  EXPECT_EQ(model.layer_pattern.size(), 7U);  // M-M-M* again and again
  EXPECT_FALSE(model.gated_mlp);
  const double h = 2048;
  const double mamba = h * (2 * 4096 + 2 * 1024 + 64) + 6144 * 5 + 3 * 64 + 4096 + 4096 * h;
  const double attention = 2 * h * 128 * (16 + 4);
  EXPECT_EQ(total(model),
            7 * mamba + 2 * attention + 7 * 2 * h * 8192 + 16 * h + 2 * 131072 * h + h);
}

// Of images and text the text decoder, with the embedding as the whole model has it, and the
// encoder: 24 layers of 1024, a table of 2304 positions, one projector of 4 x 1024 columns and two
// more.
TEST(HuggingFaceFiles, OfAVisionModelTheEncoderIsReadToo) {
  const ModelSpec model = read_file("harbor-vision");
  EXPECT_EQ(model.name, "harbor-vision");
  EXPECT_FALSE(model.tied_embeddings);
  const double h = 2048, v = 1024;
  const double layer = 4 * v * v + 2 * v * 4096 + (4 * v + 4096 + v) + 4 * v;
  const double projector = 2 * v + 4096.0 * (4096 + h) + 4096 + h;
  EXPECT_EQ(workload::count_parameters(model).vision,
            (3 * 2 * 256 + 2304 + 1) * v + 24 * layer + 3 * projector);
  EXPECT_EQ(total(model) - workload::count_parameters(model).vision,
            24 * (2 * h * 128 * (16 + 8) + 3 * h * 6144 + 2 * h) + 2 * 151936 * h + h);
}

/// A whole model of a family whose encoder is described so.
ModelSpec seeing(const std::string& type,
                 const std::string& encoder,
                 const std::string& rest = "") {
  return read_hugging_face_config(R"({"model_type": ")" + type +
                                      R"(", "num_hidden_layers": 28, "hidden_size": 3584,
      "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size":
      152064, "vision_config": {)" + encoder +
                                      "}" + rest + "}",
                                  "seeing/config.json");
}

TEST(HuggingFaceFiles, EncodersOfQwenAreRead) {
  const std::string first = R"("depth": 32, "num_heads": 16, "patch_size": 14, )";
  const ModelSpec old =
      seeing("qwen2_vl", first + R"("embed_dim": 1280, "hidden_size": 3584, "mlp_ratio": 4)");
  EXPECT_EQ(old.vision->ffn, 5120);
  EXPECT_FALSE(old.vision->gated_mlp);
  EXPECT_EQ(old.vision->window, 0);
  const std::string newer = first +
                            R"("hidden_size": 1280, "intermediate_size": 3420, "window_size": 112,
                            "fullatt_block_indexes": )";
  const ModelSpec model = seeing("qwen2_5_vl", newer + "[7, 15, 23, 31]");
  EXPECT_EQ(model.vision->window, 64);
  EXPECT_EQ(model.vision->window_period, 8);
  EXPECT_EQ(model.vision->projector_ffn, 5120);
  EXPECT_EQ(workload::count_parameters(model).vision, 676'633'344);
  try {
    seeing("qwen2_5_vl", newer + "[0, 31]");
    FAIL() << "layers out of step are read";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("must be the last of every period"));
  }
}

// The published file of Gemma 3 4B has only what differs from its class: it is the catalogue's
// model.
TEST(HuggingFaceFiles, WhatGemma3LeavesToItsClassIsTaken) {
  const std::string text = R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560,
      "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}})";
  const auto read = import_hugging_face_config(text, "gemma/config.json");
  EXPECT_EQ(read.model.heads, 8);
  EXPECT_EQ(read.model.key_value_heads, 4);
  EXPECT_EQ(read.model.head_dim, 256);
  EXPECT_EQ(read.model.vocabulary, 262208);
  EXPECT_EQ(read.model.window, 1024);
  EXPECT_EQ(read.model.window_period, 6);
  // Of the decoder: 262,208 x 2,560 embedding, tied; a layer 2,560 x (2 x 8 + 2 x 4) x 256 of
  // attention, 3 x 2,560 x 10,240 of MLP and four norms; a last norm.
  const double layer = 2560.0 * 24 * 256 + 3 * 2560.0 * 10240 + 4 * 2560;
  EXPECT_NEAR(workload::count_parameters(read.model).total(), 262208.0 * 2560 + 34 * layer + 2560,
              34.0 * 2 * 256);
  EXPECT_THAT(read.remarks,
              testing::Contains("keys that the file leaves out are as Gemma3TextConfig of "
                                "transformers has them: num_attention_heads 8, num_key_value_heads "
                                "4, vocab_size 262208, head_dim 256"));
  // Without a window of its own, and without a model at all.
  const ModelSpec bare =
      read_hugging_face_config(R"({"model_type": "gemma3_text"})", "config.json");
  EXPECT_EQ(bare.layers, 26);
  EXPECT_EQ(bare.hidden, 2304);
  EXPECT_EQ(bare.ffn, 9216);
  EXPECT_EQ(bare.window, 4096);
  EXPECT_EQ(bare.window_period, 6);
}

// Qwen3.5 9B has the tower of Qwen3-VL without projectors of layers in between: a list of them is
// empty in its files, and nobody reads it.
TEST(HuggingFaceFiles, TheEncoderOfQwen35IsThatOfQwen3VlWithOneProjector) {
  const auto read = [](const std::string& more) {
    return read_hugging_face_config(
        R"({"model_type": "qwen3_5", "text_config": {"model_type": "qwen3_5_text",
        "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 16,
        "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 12288, "vocab_size": 248320,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "full_attention_interval": 4},
        "vision_config": {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304,
        "num_heads": 16, "patch_size": 16, "num_position_embeddings": 2304)" +
            more + "}}",
        "qwen/config.json");
  };
  const ModelSpec model = read("");
  ASSERT_TRUE(model.vision);
  EXPECT_EQ(model.vision->projectors, 1);
  EXPECT_EQ(model.vision->layers, 27);
  EXPECT_EQ(model.vision->projector_ffn, 4 * 1152);
  EXPECT_EQ(read(R"(, "deepstack_visual_indexes": [8, 16, 24])"), model);
}

// Gemma 3 4B: 64 x 64 patches of an image, squares of 4 x 4 averaged to 256 tokens.
TEST(HuggingFaceFiles, TheEncoderOfGemmaIsRead) {
  const std::string text = R"({"model_type": "gemma3", "mm_tokens_per_image": 256, "text_config": {
      "model_type": "gemma3_text", "num_hidden_layers": 34, "hidden_size": 2560,
      "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 10240,
      "sliding_window": 1024, "vocab_size": 262208}, "vision_config": {"num_hidden_layers": 27,
      "hidden_size": 1152, "num_attention_heads": 16, "intermediate_size": 4304, "patch_size": 14,
      "image_size": 896}})";
  const ModelSpec model = read_hugging_face_config(text, "gemma/config.json");
  EXPECT_EQ(model.vision->merge, 4);
  EXPECT_TRUE(model.vision->pooled);
  EXPECT_EQ(model.vision->positions, 4096);
  // SigLIP as it prints itself: 416.87 million with its last norm; the projector one matrix.
  const double v = 1152;
  const double layer = 4 * v * v + 2 * v * 4304 + (4 * v + 4304 + v) + 4 * v;
  EXPECT_EQ(workload::count_parameters(model).vision,
            (588 + 1 + 4096) * v + 27 * layer + 2 * v + v * 2560);
  EXPECT_NEAR(workload::count_parameters(model).vision / (416.87e6 + v * 2560), 1, 1e-3);
  EXPECT_NEAR(workload::count_parameters(model).total() / 4.3e9, 1, 0.01);
}

}  // namespace
}  // namespace headway::import
