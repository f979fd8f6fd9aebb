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

ModelSpec read(const std::string& name) {
  const std::string path = kData + "models/" + name + ".json";
  return read_hugging_face_config(text_of(path), path);
}

std::string message_of(const std::string& name) {
  try {
    read(name);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

double total(const ModelSpec& model) { return workload::count_parameters(model).total(); }

TEST(HuggingFaceFiles, ALlamaIsRead) {
  const ModelSpec model = read("harbor-3b");
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
  const ModelSpec model = read("harbor-small");
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_TRUE(model.query_key_norm);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.window, 0);
  const double h = 896;
  EXPECT_EQ(total(model), 20 * (2 * h * 128 * (14 + 7) + 3 * h * 2560 + 2 * h) + 90112 * h + h);
}

// Six experts of 3 h f and a router of 6 h in every layer.
TEST(HuggingFaceFiles, AMixtralHasItsExpertsInEveryLayer) {
  const ModelSpec model = read("harbor-8x");
  ASSERT_TRUE(model.moe.has_value());
  EXPECT_EQ(model.moe->top_k, 2);
  const double h = 2048;
  EXPECT_EQ(total(model),
            20 * (2 * h * 128 * (16 + 4) + 6 * 3 * h * 7168 + 6 * h + 2 * h) + 2 * 32768 * h + h);
}

// 'intermediate_size' is of dense layers, of which there are none.
TEST(HuggingFaceFiles, ManySmallExpertsAreRead) {
  const ModelSpec model = read("harbor-48x");
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
  const ModelSpec model = read("harbor-latent");
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
  const ModelSpec model = read("harbor-kimi");
  EXPECT_EQ(model.moe->leading_dense_layers, 1);
  EXPECT_EQ(model.multi_token_prediction, 0);
  EXPECT_EQ(total(model), latent_total(1));
}

// Experts have biases: gate and up 2 f, down h.
TEST(HuggingFaceFiles, AWindowAlternatesWithFullAttention) {
  const ModelSpec model = read("harbor-sinks");
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
  const ModelSpec model = read("harbor-hybrid");
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

// Of images and text the text decoder, with the embedding as the whole model has it.
TEST(HuggingFaceFiles, OfAVisionModelTheTextDecoderIsRead) {
  const ModelSpec model = read("harbor-vision");
  EXPECT_EQ(model.name, "harbor-vision (text decoder)");
  EXPECT_FALSE(model.tied_embeddings);
  const double h = 2048;
  EXPECT_EQ(total(model),
            24 * (2 * h * 128 * (16 + 8) + 3 * h * 6144 + 2 * h) + 2 * 151936 * h + h);
}

}  // namespace
}  // namespace headway::import
