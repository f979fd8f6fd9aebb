// What cannot be described is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "tests/import/hugging_face_keys.h"

namespace headway::import {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HuggingFaceRefusals, WhatIsNotModelledIsRefusedByName) {
  const auto refused = [](const char* type) {
    return message_of_keys(fmt::format(R"("model_type": "{}")", type));
  };
  for (const char* type :
       {"qwen3_omni_moe", "qwen3_5", "llama4", "gemma3", "gemma4", "bert", "t5", "whisper"}) {
    EXPECT_THAT(refused(type), HasSubstr(fmt::format("model_type '{}' is a", type))) << type;
    EXPECT_THAT(refused(type), HasSubstr("that is not among those that are read: decoders of text"))
        << type;
  }
  EXPECT_THAT(refused("deepseek_v4"),
              HasSubstr("model_type 'deepseek_v4' has sparse attention over keys compressed along "
                        "the sequence, which is not modelled"));
  EXPECT_THAT(refused("deepseek_ref"), HasSubstr("keys compressed along the sequence"));
  EXPECT_THAT(refused("kimi_k3"), HasSubstr("has residuals over blocks of layers"));
  EXPECT_THAT(refused("minimax_m3"),
              HasSubstr("blocks of keys that an indexer beside grouped-query"));
  EXPECT_THAT(refused("step3p7"), HasSubstr("has windows of which the first layer of each period"));
  EXPECT_THAT(refused("phi3small"), HasSubstr("block-sparse attention"));
  for (const auto& [type, part] : {std::pair("zamba2", "blocks of attention whose weights"),
                                   std::pair("lfm2", "gated short convolutions"),
                                   std::pair("recurrent_gemma", "gated linear recurrences"),
                                   std::pair("bailing_hybrid", "lightning attention beside"),
                                   std::pair("step3p5", "gates of whole heads"),
                                   std::pair("plamo2", "state-space layers with norms of"),
                                   std::pair("rwkv7", "recurrent layers (RWKV's mixing"),
                                   std::pair("xlstm", "recurrent layers with matrices"),
                                   std::pair("mllama", "layers of attention from text to images"),
                                   std::pair("gemma3n", "layers that share keys and values, emb"),
                                   std::pair("pixtral", "an encoder of images that is not among"),
                                   std::pair("hymba", "heads of attention and of a state space"),
                                   std::pair("longcat_flash_ngram", "embeddings of several tokens"),
                                   std::pair("bitnet", "weights of three values"),
                                   std::pair("lfm2_vl", "gated short convolutions"),
                                   std::pair("afmoe", "gated attention with windows")}) {
    EXPECT_THAT(refused(type), HasSubstr(fmt::format("model_type '{}' has {}", type, part)));
  }
}

// Of a model whose encoder is not read the decoder of text is, from a file of its own.
TEST(HuggingFaceRefusals, WhatCanBeReadOfAModelWithAnotherEncoderIsSaid) {
  EXPECT_THAT(
      message_of_keys(R"("model_type": "llava", "text_config": {"model_type": "llama"})"),
      HasSubstr("model_type 'llava' has an encoder of images that is not among those that are "
                "read, which is not modelled; its text decoder is, from a file that is the object "
                "'text_config' alone"));
}

// Keys of one file that contradict each other.
TEST(HuggingFaceRefusals, KeysThatContradictEachOtherAreSaid) {
  EXPECT_THAT(message_of_keys(shape("deepseek_v3", 2, 64, 4, 4, 128, 100) +
                              R"(, "kv_lora_rank": 16, "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 256, "num_experts_per_tok": 2,
        "moe_intermediate_size": 48, "n_group": 7, "topk_group": 4)"),
              HasSubstr("'n_group' 7 does not divide the 256 experts"));
  EXPECT_THAT(
      message_of_keys(shape("kimi_linear", 4, 64, 4, 4, 128, 100) +
                      R"(, "kv_lora_rank": 16, "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 16, "num_experts": 8, "num_experts_per_token": 2,
        "moe_intermediate_size": 48, "linear_attn_config": {"num_heads": 4, "head_dim": 16,
        "full_attn_layers": [3], "kda_layers": [1, 2, 3]})"),
      HasSubstr("layers 3, 4 are in neither or both of 'full_attn_layers' and 'kda_layers'; "
                "each must be in one"));
  EXPECT_THAT(
      message_of_keys(R"("model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text",
        "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        "num_key_value_heads": 4, "intermediate_size": 128, "vocab_size": 100},
        "vision_config": {"depth": 2, "num_heads": 4, "hidden_size": 64, "intermediate_size": 128,
        "patch_size": 16, "out_hidden_size": 128})"),
      HasSubstr("'out_hidden_size' 128 is not the 64 of the text decoder's 'hidden_size'"));
  EXPECT_THAT(message_of_keys(R"("model_type": "nemotron_h", "hybrid_override_pattern": "M*-",
        "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4,
        "num_key_value_heads": 4, "intermediate_size": 128, "vocab_size": 100,
        "attention_head_dim": 16, "head_dim": 32)"),
              HasSubstr("'head_dim' 32 is not 'attention_head_dim' 16"));
}

TEST(HuggingFaceRefusals, AHintNeverNamesAnotherModel) {
  const auto refused = [](const char* type) {
    return message_of_keys(fmt::format(R"("model_type": "{}")", type));
  };
  EXPECT_THAT(refused("lama"), HasSubstr("did you mean 'llama'?"));
  EXPECT_THAT(refused("mixtrall"), HasSubstr("did you mean 'mixtral'?"));
  EXPECT_THAT(refused("qwen4"), Not(HasSubstr("did you mean")));
  EXPECT_THAT(refused("glm5_moe"), Not(HasSubstr("did you mean")));
  EXPECT_THAT(refused("ministral"), Not(HasSubstr("did you mean")));
}

TEST(HuggingFaceRefusals, KeysWithoutAPlaceAreRefused) {
  EXPECT_THAT(
      message_of_keys(shape("hunyuan_v1_dense", 2, 64, 4, 4, 128, 100) + R"(, "use_cla": true)"),
      HasSubstr("has layers that share keys and values, which is not modelled"));
  EXPECT_THAT(
      message_of_keys(shape("deepseek_v3", 2, 64, 4, 4, 128, 100) + R"(, "index_topk": 2048)"),
      HasSubstr("model_type 'deepseek_v3' is a model with sparse attention that is not among"));
  EXPECT_THAT(
      message_of_keys(shape("qwen2_moe", 2, 64, 4, 4, 128, 100) +
                      R"(, "num_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 48, "shared_expert_intermediate_size": 100)"),
      HasSubstr("'shared_expert_intermediate_size' 100 is no multiple of the experts' width 48"));
  EXPECT_THAT(message_of_keys(shape("hunyuan_v1_moe", 2, 64, 4, 4, 128, 100) +
                              R"(, "num_experts": [4, 8])"),
              HasSubstr("'num_experts' must be alike in all layers"));
  EXPECT_THAT(message_of_keys(shape("llama", 2, 64, 4, 4, 128, 100) +
                              R"(, "layer_types": ["full_attention", "linear_attention"])"),
              HasSubstr("layers of type 'linear_attention' are not modelled"));
  EXPECT_THAT(
      message_of_keys(
          R"("model_type": "opt", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        "ffn_dim": 256, "max_position_embeddings": 128, "vocab_size": 100, "word_embed_proj_dim": 32)"),
      HasSubstr("'word_embed_proj_dim' must be 'hidden_size'"));
}

}  // namespace
}  // namespace headway::import
