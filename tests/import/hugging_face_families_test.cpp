// Every family from a configuration as its authors publish it, held against the published number of
// parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/hugging_face/hugging_face.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/mixer/mixer_problems.h"

#include "tests/import/hugging_face_halves.h"
#include "tests/import/hugging_face_keys.h"
#include "tests/import/hugging_face_windows.h"

namespace headway::import {
namespace {

using testing::HasSubstr;
using workload::AttentionKind;
using workload::ModelSpec;

double billions(const ModelSpec& model) { return workload::count_parameters(model).total() / 1e9; }

struct Published {
  std::string keys;
  double billions;
};

void expect_published(const std::vector<Published>& models) {
  for (const auto& [keys, published] : models) {
    EXPECT_NEAR(billions(read_keys(keys)), published, 0.003 * published) << keys;
  }
}

std::vector<Published> dense_models() {
  return {
      {shape("llama", 80, 8192, 64, 8, 28672, 128256), 70.6},
      {shape("qwen2_vl", 28, 3584, 28, 4, 18944, 152064), 7.615},
      {shape("qwen2_vl_text", 28, 3584, 28, 4, 18944, 152064), 7.615},
      {shape("qwen2_5_vl", 28, 3584, 28, 4, 18944, 152064), 7.615},
      {shape("qwen2_5_vl_text", 28, 3584, 28, 4, 18944, 152064), 7.615},
      {shape("mistral", 32, 4096, 32, 8, 14336, 32000) + R"(, "sliding_window": 4096)", 7.24},
      {shape("ministral3", 40, 5120, 32, 8, 16384, 131072) + R"(, "head_dim": 128)", 13.5},
      {shape("Yi", 60, 7168, 56, 8, 20480, 64000), 34.4},
      {shape("internlm", 32, 4096, 32, 32, 11008, 103168), 7.32},
      {shape("internlm3", 48, 4096, 32, 2, 10240, 128512) + R"(, "head_dim": 128)", 8.8},
      {shape("olmo3", 32, 4096, 32, 32, 11008, 100278) + R"(, "sliding_window": 4096)", 7.3},
      {shape("apertus", 80, 8192, 64, 8, 43008, 131072), 70.6},
      {shape("exaone4", 64, 5120, 40, 8, 27392, 102400) +
           R"(, "sliding_window": 4096, "sliding_window_pattern": "LLLG")",
       32.0},
      {shape("arcee", 36, 2560, 20, 4, 18432, 128004), 4.62},
      {shape("qwen2", 80, 8192, 64, 8, 29568, 152064), 72.7},
      {shape("mimo", 36, 4096, 32, 8, 11008, 151680) + R"(, "num_nextn_predict_layers": 1)", 7.62},
      {shape("qwen3", 36, 4096, 32, 8, 12288, 151936) + R"(, "head_dim": 128)", 8.19},
      {shape("internlm2", 32, 4096, 32, 8, 14336, 92544), 7.74},
      {shape("baichuan", 32, 4096, 32, 32, 11008, 125696), 7.51},
      {shape("baichuan", 40, 5120, 40, 40, 13696, 125696), 13.9},
      {shape("seed_oss", 64, 5120, 80, 8, 27648, 155136) + R"(, "head_dim": 128)", 36.15},
      {shape("granite", 40, 4096, 32, 8, 12800, 49155) + R"(, "tie_word_embeddings": true)", 8.17},
      {shape("smollm3", 36, 2048, 16, 4, 11008, 128256), 3.08},
      {shape("ernie4_5", 18, 1024, 16, 2, 3072, 103424) + R"(, "head_dim": 128)", 0.361},
      {shape("hunyuan_v1_dense", 32, 4096, 32, 8, 14336, 128167) +
           R"(, "tie_word_embeddings": true)",
       7.5},
      {shape("glm", 40, 4096, 32, 2, 13696, 151552) + R"(, "head_dim": 128)", 9.4},
      {shape("glm4", 61, 6144, 48, 2, 23040, 151552) + R"(, "head_dim": 128)", 32.57},
      {shape("olmo", 32, 4096, 32, 32, 11008, 50304), 6.89},
      {shape("olmo2", 32, 4096, 32, 32, 11008, 100352), 7.3},
      {shape("gemma", 28, 3072, 16, 16, 24576, 256000) + R"(, "head_dim": 256)", 8.54},
      {shape("gemma2", 42, 3584, 16, 8, 14336, 256000) +
           R"(, "head_dim": 256, "sliding_window": 4096)",
       9.24},
      {shape("gemma4_text", 60, 5376, 32, 16, 21504, 262144) +
           R"(, "head_dim": 256, "sliding_window": 1024, "attention_k_eq_v": true,
           "num_global_key_value_heads": 4, "hidden_size_per_layer_input": 0)",
       30.70},
      {shape("gemma3_text", 26, 1152, 4, 1, 6912, 262144) +
           R"(, "head_dim": 256, "sliding_window": 512)",
       1.0},
      {shape("cohere", 40, 8192, 64, 64, 22528, 256000), 34.98},
      {shape("cohere2", 32, 4096, 32, 8, 14336, 256000) + R"(, "sliding_window": 4096)", 8.03},
      {shape("phi", 32, 2560, 32, 32, 10240, 51200), 2.78},
      {shape("phi3", 40, 5120, 40, 10, 17920, 100352) + R"(, "sliding_window": null)", 14.66},
      {shape("stablelm", 32, 2560, 32, 32, 6912, 50304), 2.8},
      {shape("starcoder2", 40, 6144, 48, 4, 24576, 49152) + R"(, "tie_word_embeddings": false)",
       15.96},
      {shape("nemotron", 32, 4096, 48, 8, 16384, 256000) + R"(, "head_dim": 128)", 8.27},
  };
}

TEST(HuggingFaceFamilies, DenseModelsHaveTheirPublishedParameters) {
  expect_published(dense_models());
}

std::vector<Published> older_models() {
  return {
      {R"("model_type": "gpt2", "n_layer": 48, "n_embd": 1600, "n_head": 25, "n_positions": 1024, "vocab_size": 50257)",
       1.558},
      {R"("model_type": "gpt_bigcode", "n_layer": 40, "n_embd": 6144, "n_head": 48, "n_inner": 24576, "n_positions": 8192,
          "vocab_size": 49152, "multi_query": true)",
       15.52},
      {R"("model_type": "gptj", "n_layer": 28, "n_embd": 4096, "n_head": 16, "n_inner": null, "vocab_size": 50400)",
       6.05},
      {shape("gpt_neox", 44, 6144, 64, 64, 24576, 50432), 20.55},
      {R"("model_type": "opt", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "ffn_dim": 16384,
          "max_position_embeddings": 2048, "vocab_size": 50272)",
       6.66},
      {R"("model_type": "bloom", "n_layer": 30, "hidden_size": 4096, "n_head": 32, "vocab_size": 250880)",
       7.07},
      {R"("model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71, "multi_query": true,
          "parallel_attn": true, "vocab_size": 65024)",
       6.92},
      {R"("model_type": "falcon", "num_hidden_layers": 60, "hidden_size": 8192, "num_attention_heads": 128, "num_kv_heads": 8,
          "new_decoder_architecture": true, "vocab_size": 65024)",
       41.3},
      {R"("model_type": "mpt", "n_layers": 32, "d_model": 4096, "n_heads": 32, "expansion_ratio": 4, "max_seq_len": 2048,
          "vocab_size": 50432, "attn_config": {"alibi": true, "attn_type": "multihead_attention"})",
       6.65},
  };
}

TEST(HuggingFaceFamilies, OlderModelsHaveTheirPublishedParameters) {
  expect_published(older_models());
}

/// Latent attention as DeepSeek and Kimi have it.
constexpr const char* kLatent =
    R"(, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128)";

std::vector<Published> mixtures() {
  return {
      {shape("mixtral", 32, 4096, 32, 8, 14336, 32000) +
           R"(, "num_local_experts": 8, "num_experts_per_tok": 2)",
       46.7},
      {shape("gpt_oss", 24, 2880, 64, 8, 2880, 201088) +
           R"(, "head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128)",
       20.91},
      {shape("qwen3_moe", 94, 4096, 64, 4, 12288, 151936) +
           R"(, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
        "moe_intermediate_size": 1536)",
       235.1},
      {shape("deepseek_v2", 60, 5120, 128, 128, 12288, 102400) + kLatent +
           R"(, "q_lora_rank": 1536, "n_routed_experts": 160, "num_experts_per_tok": 6, "n_shared_experts": 2,
        "moe_intermediate_size": 1536, "first_k_dense_replace": 1)",
       235.7},
      {shape("deepseek_v3", 61, 7168, 128, 128, 18432, 129280) + kLatent +
           R"(, "q_lora_rank": 1536, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "num_nextn_predict_layers": 1)",
       671.0},
      {shape("deepseek_v32", 61, 7168, 128, 128, 18432, 129280) + kLatent +
           R"(, "q_lora_rank": 1536, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "index_head_dim": 128, "index_n_heads": 64,
        "index_topk": 2048)",
       671.9},
      {shape("glm_moe_dsa", 78, 6144, 64, 64, 12288, 154880) +
           R"(, "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
        "q_lora_rank": 2048, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "index_head_dim": 128, "index_n_heads": 32,
        "index_topk": 2048)",
       743},
      {shape("kimi_k2", 61, 7168, 64, 64, 18432, 163840) + kLatent +
           R"(, "q_lora_rank": 1536, "n_routed_experts": 384, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "moe_intermediate_size": 2048, "first_k_dense_replace": 1, "num_nextn_predict_layers": 0)",
       1026},
      {shape("qwen2_moe", 28, 3584, 28, 4, 18944, 151936) +
           R"(, "num_experts": 64, "num_experts_per_tok": 8,
        "moe_intermediate_size": 2560, "shared_expert_intermediate_size": 20480)",
       57.4},
      {shape("bailing_moe", 20, 2048, 16, 4, 5120, 157184) +
           R"(, "head_dim": 128, "num_experts": 256,
        "num_experts_per_tok": 8, "moe_intermediate_size": 512, "num_shared_experts": 1,
        "moe_shared_expert_intermediate_size": 512, "first_k_dense_replace": 1, "n_group": 8,
        "topk_group": 4, "use_qk_norm": true, "norm_topk_prob": true)",
       16.26},
      {shape("glm4_moe_lite", 47, 2048, 20, 20, 10240, 154880) + R"(, "q_lora_rank": 768,
        "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
        "n_routed_experts": 64, "num_experts_per_tok": 4, "n_shared_experts": 1,
        "moe_intermediate_size": 1536, "first_k_dense_replace": 1)",
       30.0},
      {shape("glm4v_moe_text", 46, 4096, 96, 8, 10944, 151552) + R"(, "head_dim": 128,
        "n_routed_experts": 128, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "moe_intermediate_size": 1408, "first_k_dense_replace": 1)",
       106.9},
      {shape("dots1", 62, 4096, 32, 32, 10944, 152064) + R"(, "n_routed_experts": 128,
        "num_experts_per_tok": 6, "n_shared_experts": 2, "moe_intermediate_size": 1408,
        "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1)",
       142.8},
      {shape("olmoe", 16, 2048, 16, 16, 1024, 50304) +
           R"(, "num_experts": 64, "num_experts_per_tok": 8)",
       6.92},
      {shape("flex_olmo", 32, 4096, 32, 32, 11008, 100352) +
           R"(, "num_experts": 7, "num_experts_per_tok": 5)",
       33.27},
      {shape("solar_open", 48, 4096, 64, 8, 10240, 196608) +
           R"(, "head_dim": 128, "n_routed_experts": 128, "num_experts_per_tok": 8,
        "n_shared_experts": 1, "moe_intermediate_size": 1280)",
       102.65},
      {shape("exaone_moe", 48, 6144, 64, 8, 18432, 153600) +
           R"(, "head_dim": 128, "sliding_window": 128,
        "sliding_window_pattern": "LLLG", "num_experts": 128, "num_experts_per_tok": 8,
        "num_shared_experts": 1, "moe_intermediate_size": 2048, "first_k_dense_replace": 1)",
       236.57},
      {shape("phimoe", 32, 4096, 32, 8, 6400, 32064) +
           R"(, "num_local_experts": 16, "num_experts_per_tok": 2)",
       41.9},
      {shape("granitemoe", 32, 1536, 24, 8, 512, 49155) +
           R"(, "num_local_experts": 40, "num_experts_per_tok": 8,
        "tie_word_embeddings": true)",
       3.3},
      {shape("deepseek", 28, 2048, 16, 16, 10944, 102400) +
           R"(, "n_routed_experts": 64, "num_experts_per_tok": 6,
        "n_shared_experts": 2, "moe_intermediate_size": 1408, "first_k_dense_replace": 1)",
       16.38},
      {shape("glm4_moe", 46, 4096, 96, 8, 10944, 151552) +
           R"(, "head_dim": 128, "n_routed_experts": 128,
        "num_experts_per_tok": 8, "n_shared_experts": 1, "moe_intermediate_size": 1408, "first_k_dense_replace": 1,
        "num_nextn_predict_layers": 1)",
       106.85},
      {R"("model_type": "dbrx", "n_layers": 40, "d_model": 6144, "n_heads": 48, "vocab_size": 100352,
        "attn_config": {"kv_n_heads": 8}, "ffn_config": {"moe_num_experts": 16, "moe_top_k": 4, "ffn_hidden_size": 10752})",
       131.6},
      {shape("ernie4_5_moe", 28, 2560, 20, 4, 12288, 103424) +
           R"(, "moe_num_experts": 64, "moe_k": 6,
        "moe_intermediate_size": 1536, "moe_num_shared_experts": 2, "moe_layer_start_index": 1, "moe_layer_end_index": 27)",
       21.83},
      {shape("hunyuan_v1_moe", 32, 4096, 32, 8, 3072, 128167) +
           R"(, "num_experts": 64, "moe_topk": [8, 8],
        "moe_intermediate_size": [3072, 3072], "num_shared_expert": [1, 1], "tie_word_embeddings": true)",
       80.4},
      {shape("minimax_m2", 62, 3072, 48, 8, 1536, 200064) +
           R"(, "head_dim": 128, "num_local_experts": 256,
        "num_experts_per_tok": 8)",
       228.7},
      {shape("llama4_text", 48, 5120, 40, 8, 8192, 202048) +
           R"(, "head_dim": 128, "intermediate_size_mlp": 16384,
        "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "attention_chunk_size": 8192)",
       400.7},
      {shape("llama4_text", 48, 5120, 40, 8, 8192, 202048) +
           R"(, "head_dim": 128, "intermediate_size_mlp": 16384,
        "num_local_experts": 16, "num_experts_per_tok": 1, "interleave_moe_layer_step": 1, "attention_chunk_size": 8192)",
       107.8},
  };
}

TEST(HuggingFaceFamilies, MixturesHaveTheirPublishedParameters) { expect_published(mixtures()); }

// Names of the same family: nothing but the word differs.
TEST(HuggingFaceFamilies, OtherNamesOfAFamilyReadAlike) {
  const auto falcon = [](const char* type) {
    return read_keys(fmt::format(
        R"("model_type": "{}", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71, "vocab_size": 65024)",
        type));
  };
  EXPECT_EQ(falcon("RefinedWeb"), falcon("falcon"));
  EXPECT_EQ(falcon("RefinedWebModel"), falcon("falcon"));
  const auto granite = [](const char* type) {
    return read_keys(
        shape(type, 4, 512, 8, 8, 256, 1000) +
        R"(, "num_local_experts": 8, "num_experts_per_tok": 2, "shared_intermediate_size": 512)");
  };
  EXPECT_EQ(granite("granitemoeshared"), granite("granitemoe"));
  EXPECT_EQ(granite("granitemoeshared").moe->shared_experts, 2);  // 512 / 256
}

constexpr const char* kGatedDelta =
    R"(, "head_dim": 256, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
        "linear_value_head_dim": 128, "linear_num_key_heads": 16, "full_attention_interval": 4)";

constexpr const char* kJamba =
    R"(, "attn_layer_period": 8, "attn_layer_offset": 4, "expert_layer_period": 2,
        "expert_layer_offset": 1, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2)";

/// Published totals; of Nemotron and MiniMax with their patterns, written out.
std::vector<Published> hybrids() {
  std::string lightning = "0, 0, 0, 0, 0, 0, 0, 1";
  for (int i = 0; i < 9; ++i) {
    lightning += ", 0, 0, 0, 0, 0, 0, 0, 1";
  }
  std::string granite;
  for (int layer = 0; layer < 40; ++layer) {
    granite += layer == 0 ? "" : ", ";
    granite += layer % 10 == 5 ? R"("attention")" : R"("mamba")";
  }
  return {
      {shape("qwen3_next", 48, 2048, 16, 2, 5120, 151936) + kGatedDelta +
           R"(, "linear_num_value_heads": 32, "num_experts": 512, "num_experts_per_tok": 10,
        "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "decoder_sparse_step": 1,
        "mlp_only_layers": [])",
       79.7},
      {shape("qwen3_5_text", 64, 5120, 24, 4, 17408, 248320) + kGatedDelta +
           R"(, "linear_num_value_heads": 48, "attn_output_gate": true, "mtp_num_hidden_layers": 1)",
       26.9},
      {shape("qwen3_5_moe_text", 60, 4096, 32, 2, 0, 248320) + kGatedDelta +
           R"(, "linear_num_value_heads": 64, "num_experts": 512, "num_experts_per_tok": 10,
        "moe_intermediate_size": 1024, "shared_expert_intermediate_size": 1024)",
       396.5},
      {shape("kimi_linear", 27, 2304, 32, 32, 9216, 163840) + kLatent +
           R"(, "q_lora_rank": null, "mla_use_nope": true, "num_experts": 256, "num_experts_per_token": 8,
        "num_shared_experts": 1, "moe_intermediate_size": 1024, "first_k_dense_replace": 1, "moe_layer_freq": 1,
        "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128, "num_heads": 32,
        "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
        "short_conv_kernel_size": 4})",
       49.1},
      {shape("minimax_text_01", 80, 6144, 64, 8, 9216, 200064) +
           R"(, "head_dim": 128, "num_local_experts": 32, "num_experts_per_tok": 2, "block_size": 256,
        "shared_intermediate_size": 0, "attn_type_list": [)" +
           lightning + "]",
       456},
      {shape("falcon_h1", 44, 3072, 12, 2, 12288, 130048) +
           R"(, "head_dim": 128, "mamba_d_ssm": 3072, "mamba_n_heads": 24, "mamba_d_head": 128,
        "mamba_n_groups": 1, "mamba_d_state": 256, "mamba_chunk_size": 256, "mamba_rms_norm": false)",
       7.59},
      {R"("model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64, "vocab_size": 50280,
        "state_size": 16, "conv_kernel": 4, "expand": 2, "intermediate_size": 5120, "time_step_rank": 160,
        "use_bias": false)",
       2.768},
      {R"("model_type": "falcon_mamba", "hidden_size": 4096, "num_hidden_layers": 64, "vocab_size": 65024,
        "state_size": 16, "conv_kernel": 4, "intermediate_size": 8192, "time_step_rank": 256,
        "tie_word_embeddings": false)",
       7.27},
      {R"("model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64, "vocab_size": 32768,
        "state_size": 128, "conv_kernel": 4, "expand": 2, "num_heads": 128, "head_dim": 64, "n_groups": 8,
        "chunk_size": 256, "tie_word_embeddings": false)",
       7.285},
      {shape("jamba", 32, 4096, 32, 8, 14336, 65536) + kJamba +
           R"(, "num_experts": 16, "num_experts_per_tok": 2, "mamba_dt_rank": 256)",
       51.6},
      {shape("bamba", 32, 4096, 32, 8, 14336, 128256) +
           R"(, "attn_layer_indices": [9, 18, 27], "mamba_n_heads": 128, "mamba_d_head": 64,
        "mamba_n_groups": 1, "mamba_d_state": 128)",
       9.78},
      {shape("granitemoehybrid", 40, 4096, 32, 8, 768, 100352) +
           R"(, "num_local_experts": 72, "num_experts_per_tok": 10, "shared_intermediate_size": 1536,
        "position_embedding_type": "nope", "tie_word_embeddings": true, "mamba_n_heads": 128, "mamba_d_head": 64,
        "mamba_n_groups": 1, "mamba_d_state": 128, "layer_types": [)" +
           granite + "]",
       32.2},
      {shape("minimax", 2, 256, 4, 2, 512, 1000) +
           R"(, "num_local_experts": 4, "num_experts_per_tok": 2, "layer_types": ["linear_attention", "full_attention"])",
       0.0041856},
      {shape("minimax_m1", 80, 6144, 64, 8, 9216, 200064) +
           R"(, "head_dim": 128, "num_local_experts": 32, "num_experts_per_tok": 2, "attn_type_list": [)" +
           lightning + "]",
       456},
      {shape("qwen3_vl_text", 36, 4096, 32, 8, 12288, 151936) + R"(, "head_dim": 128)", 8.19},
      {shape("qwen3_vl_moe_text", 48, 2048, 32, 4, 6144, 151936) +
           R"(, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768)",
       30.5},
      {shape("nemotron_h", 52, 2688, 32, 2, 1856, 131072) +
           R"(, "head_dim": 128, "mamba_num_heads": 64, "mamba_head_dim": 64, "n_groups": 8,
        "ssm_state_size": 128, "n_routed_experts": 128, "num_experts_per_tok": 6,
        "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "hybrid_override_pattern":
        "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME")",
       31.6},
  };
}

/// Models that are written as single halves, and one whose layers have two kinds of heads. Their
/// cards: 120 B with 12 B active, 560 B, 480 B, 309 B.
std::vector<Published> halves() {
  return {{nemotron_3(fmt::format(R"("num_hidden_layers": 88, "hybrid_override_pattern": "{}")",
                                  kSuperLetters)),
           120.67},
          {kLongcat, 560.5},
          {kArctic, 478.58},
          {mimo(hub_lists()), 308.78}};
}

// Of keys that nobody reads those that may change the model are named, in the order of the
// alphabet.
TEST(HuggingFaceFamilies, KeysThatNothingReadsAreNamed) {
  const auto remarks = [](const std::string& keys) {
    return import_hugging_face_config("{" + keys + kBeside + "}", "config.json").remarks;
  };
  const std::string llama = shape("llama", 2, 64, 4, 4, 128, 100);
  EXPECT_THAT(remarks(llama), testing::IsEmpty());
  EXPECT_THAT(remarks(llama + R"(, "memory_tokens": 0, "extra": false, "table": {}, "none": null)"),
              testing::IsEmpty());
  EXPECT_THAT(
      remarks(llama + R"(, "mlp_bias": true, "depth_of_dream": 3)"),
      testing::ElementsAre("keys that are not read, so what they change of the model is left "
                           "out: depth_of_dream, mlp_bias"));
  const std::string kimi = hybrids()[3].keys;
  const std::string last = R"("short_conv_kernel_size": 4)";
  std::string gated = kimi;
  gated.replace(gated.find(last), last.size(), last + R"(, "new_gate": 2)");
  EXPECT_THAT(remarks(kimi), testing::IsEmpty());
  EXPECT_THAT(remarks(gated), testing::ElementsAre(HasSubstr("linear_attn_config.new_gate")));
  for (const auto& models : {dense_models(), older_models(), mixtures(), hybrids()}) {
    for (const auto& [keys, billions_of_it] : models) {
      EXPECT_THAT(remarks(keys), testing::IsEmpty()) << keys;
    }
  }
}

// The message about an unknown model lists every family; each has a model in the tables above.
TEST(HuggingFaceFamilies, EveryFamilyHasAModelHere) {
  std::string tables = R"("RefinedWeb" "RefinedWebModel" "granitemoeshared")";
  for (const auto& models : {dense_models(), older_models(), mixtures(), hybrids(), halves()}) {
    for (const auto& model : models) {
      tables += model.keys;
    }
  }
  std::istringstream known(std::string(message_of_keys(R"("model_type": "unheard_of")")));
  std::string word;
  while (known >> word && word != "are") {
  }
  int families = 0;
  for (bool more = true; more && known >> word; ++families) {
    more = word.ends_with(',');
    const std::string family = word.substr(0, word.find(','));
    EXPECT_THAT(tables, HasSubstr("\"" + family + "\""));
  }
  EXPECT_GT(families, 50);
}

// Keys that say again what is read are no reason for a warning.
TEST(HuggingFaceFamilies, KeysThatStandTwiceAreNotLeftOver) {
  const auto remarks = [](const std::string& keys) {
    return import_hugging_face_config("{" + keys + "}", "config.json").remarks;
  };
  EXPECT_THAT(remarks(shape("cohere2", 4, 4096, 32, 8, 14336, 256000) +
                      R"(, "sliding_window": 4096, "use_parallel_block": true)"),
              testing::IsEmpty());
  EXPECT_THAT(remarks(shape("hunyuan_v1_dense", 4, 4096, 32, 8, 14336, 128167) +
                      R"(, "use_qk_norm": true, "attention_head_dim": 128)"),
              testing::IsEmpty());
  EXPECT_THAT(remarks(shape("smollm3", 4, 2048, 16, 4, 11008, 128256) +
                      R"(, "no_rope_layers": [1, 1, 1, 0], "no_rope_layer_interval": 4)"),
              testing::IsEmpty());
  const ModelSpec after = read_keys(shape("cohere2", 4, 4096, 32, 8, 14336, 256000) +
                                    R"(, "sliding_window": 4096, "use_parallel_block": false)");
  EXPECT_FALSE(after.parallel_block);
  EXPECT_EQ(after.norms, 2);
}

TEST(HuggingFaceFamilies, ParallelBlocksAreRead) {
  const ModelSpec falcon = read_keys(
      R"("model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71, "vocab_size": 65024)");
  EXPECT_TRUE(falcon.parallel_block);
  EXPECT_EQ(falcon.norms, 1);
  EXPECT_EQ(falcon.key_value_heads, 1);
  EXPECT_FALSE(falcon.gated_mlp);
  EXPECT_TRUE(falcon.rotary);
  const ModelSpec neox = read_keys(shape("gpt_neox", 44, 6144, 64, 64, 24576, 50432));
  EXPECT_TRUE(neox.parallel_block);
  EXPECT_EQ(neox.norms, 2);
  EXPECT_EQ(neox.dropout, false);
  EXPECT_FALSE(
      read_keys(shape("gpt_neox", 2, 64, 4, 4, 256, 100) + R"(, "use_parallel_residual": false)")
          .parallel_block);
}

TEST(HuggingFaceFamilies, PositionsAndDropoutAreRead) {
  const ModelSpec bloom = read_keys(
      R"("model_type": "bloom", "n_layer": 2, "n_embed": 64, "n_head": 4, "vocab_size": 100, "hidden_dropout": 0.0)");
  EXPECT_FALSE(bloom.rotary);
  EXPECT_EQ(bloom.learned_positions, 0);
  EXPECT_EQ(bloom.dropout, false);
  const ModelSpec gpt2 = read_keys(
      R"("model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 100)");
  EXPECT_EQ(gpt2.learned_positions, 1024);
  EXPECT_EQ(gpt2.dropout, true);
}

// Gemma 4 31B and 26B-A4B as published: one layer in six attends to all tokens, with heads twice as
// wide, fewer of keys, and values that are the keys. Parameters by hand, norms aside (h hidden,
// a query heads, 256 and 512 wide; w with the window, f without):
//     w = h 256 (2a + 2k),  f = h 512 (2a + g),  MLP 3 h ffn,  embedding 262,144 h
TEST(HuggingFaceFamilies, LayersWithoutTheWindowHaveHeadsOfTheirOwn) {
  const std::string both = R"(, "head_dim": 256, "global_head_dim": 512, "sliding_window": 1024,
      "attention_k_eq_v": true, "hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0)";
  const ModelSpec dense = read_keys(shape("gemma4_text", 60, 5376, 32, 16, 21504, 262144) + both +
                                    R"(, "num_global_key_value_heads": 4)");
  EXPECT_EQ(dense.window_period, 6);
  EXPECT_EQ(dense.full_attention, (workload::FullAttentionSpec{4, 512, true}));
  const double h = 5376;
  const double whole =
      50 * h * 256 * (64 + 32) + 10 * h * 512 * (64 + 4) + 60 * 3 * h * 21504 + 262144 * h;
  EXPECT_NEAR(workload::count_parameters(dense).total() / whole, 1, 1e-4);
  EXPECT_NEAR(whole / 30.7e9, 1, 0.002);  // its model card
  const ModelSpec mixture =
      read_keys(shape("gemma4_text", 30, 2816, 16, 8, 2112, 262144) + both +
                R"(, "num_global_key_value_heads": 2, "enable_moe_block": true, "num_experts": 128,
      "top_k_experts": 8, "moe_intermediate_size": 704)");
  ASSERT_TRUE(mixture.moe.has_value());
  EXPECT_EQ(mixture.moe->shared_experts, 3);  // 2,112 columns beside experts of 704
  EXPECT_NEAR(billions(mixture), 25.2, 0.05);
}

TEST(HuggingFaceFamilies, WhatGemma4sSmallModelsAddIsRefused) {
  const std::string small = shape("gemma4_text", 35, 1536, 8, 1, 6144, 262144) +
                            R"(, "head_dim": 256, "sliding_window": 512)";
  EXPECT_THAT(message_of_keys(small), HasSubstr("embeddings that every layer adds"));
  EXPECT_THAT(message_of_keys(small + R"(, "hidden_size_per_layer_input": 0,
      "use_double_wide_mlp": true)"),
              HasSubstr("MLPs of twice the width"));
  EXPECT_THAT(message_of_keys(small + R"(, "hidden_size_per_layer_input": 0,
      "num_kv_shared_layers": 20)"),
              HasSubstr("share keys and values"));
}

TEST(HuggingFaceFamilies, WindowsFollowTheFamilysPattern) {
  const ModelSpec gemma2 = read_keys(shape("gemma2", 42, 3584, 16, 8, 14336, 256000) +
                                     R"(, "head_dim": 256, "sliding_window": 4096)");
  EXPECT_EQ(gemma2.attention, AttentionKind::sliding_window);
  EXPECT_EQ(gemma2.window_period, 2);
  EXPECT_EQ(gemma2.norms, 4);
  const ModelSpec gemma3 = read_keys(shape("gemma3_text", 26, 1152, 4, 1, 6912, 262144) +
                                     R"(, "head_dim": 256, "sliding_window": 512)");
  EXPECT_EQ(gemma3.window_period, 6);
  EXPECT_TRUE(gemma3.query_key_norm);
  EXPECT_FALSE(gemma3.full_attention.has_value());
  const ModelSpec llama4 = read_keys(
      shape("llama4_text", 8, 640, 5, 1, 128, 1000) +
      R"(, "num_local_experts": 4, "num_experts_per_tok": 1, "attention_chunk_size": 8192)");
  EXPECT_TRUE(llama4.chunked_window);
  EXPECT_EQ(llama4.window, 8192);
  EXPECT_EQ(llama4.window_period, 4);
}

TEST(HuggingFaceFamilies, HybridsHaveTheirPublishedParameters) { expect_published(hybrids()); }

TEST(HuggingFaceFamilies, PatternsAreWrittenShort) {
  const ModelSpec qwen = read_keys(hybrids()[0].keys);
  using L = workload::LayerContent;
  EXPECT_EQ(qwen.layer_pattern, (std::vector<L>{L::mixer, L::mixer, L::mixer, L::attention}));
  EXPECT_TRUE(qwen.attention_gate);
  EXPECT_EQ(qwen.mixer->key_heads, 16);
  EXPECT_EQ(read_keys(hybrids()[3].keys).layer_pattern.size(), 27U);
  EXPECT_EQ(read_keys(hybrids()[4].keys).layer_pattern.size(), 8U);
}

TEST(HuggingFaceFamilies, PartsOfHybridsThatAreNotModelledAreRefusedByName) {
  EXPECT_THAT(message_of_keys(hybrids()[3].keys + R"(, "attn_res_block_size": 12)"),
              HasSubstr("residuals over blocks of layers (Kimi K3) are not modelled"));
  EXPECT_THAT(message_of_keys(hybrids()[3].keys + R"(, "mla_use_output_gate": true)"),
              HasSubstr("a gate of latent attention's output (Kimi K3) is not modelled"));
  EXPECT_EQ(read_keys(hybrids()[3].keys + R"(, "routed_expert_hidden_size": 1152)").moe->latent,
            1152);
}

TEST(HuggingFaceFamilies, StateSpacesHaveNoHeadsThatTensorRanksCouldDivide) {
  const ModelSpec mamba = read_keys(
      R"("model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64, "vocab_size": 50280)");
  EXPECT_EQ(mamba.mixer->heads, 5120);
  EXPECT_EQ(mamba.mixer->step_rank, 160);
  EXPECT_FALSE(mamba.mixer->norm);
  EXPECT_TRUE(mamba.tied_embeddings);
  EXPECT_EQ(mamba.ffn, 0);
  workload::ParallelismSpec parallelism;
  parallelism.tensor = 8;
  EXPECT_FALSE(workload::has_attention(mamba));
  EXPECT_TRUE(workload::mixer_problems(mamba, parallelism).empty());
  EXPECT_TRUE(workload::violations(mamba, {}, parallelism, 1, 8).empty());
  EXPECT_THAT(
      message_of_keys(R"("model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64,
        "vocab_size": 32768, "num_heads": 64, "head_dim": 64)"),
      HasSubstr("'num_heads' 64 x 'head_dim' 64 are not the 8192 channels"));
  EXPECT_THAT(
      message_of_keys(R"("model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64,
        "vocab_size": 50280, "use_bias": true)"),
      HasSubstr("biases of the mixers' projections are not modelled"));
}

TEST(HuggingFaceFamilies, PeriodsAndWidthsBeyondTheModelAreRefused) {
  const std::string jamba = shape("jamba", 32, 4096, 32, 8, 14336, 65536) + R"(, "num_experts": 1)";
  EXPECT_THAT(
      message_of_keys(jamba + R"(, "attn_layer_period": 2000000000, "attn_layer_offset": 4)"),
      HasSubstr("'attn_layer_period' 2000000000 of 32 layers"));
  EXPECT_THAT(message_of_keys(jamba + R"(, "attn_layer_period": 8, "attn_layer_offset": 4,
        "mamba_expand": 1000000000)"),
              HasSubstr("'mamba_expand' makes 4096000000000 channels"));
  std::string qwen = hybrids().front().keys;
  const std::string interval = R"("full_attention_interval": 4)";
  qwen.replace(qwen.find(interval), interval.size(), R"("full_attention_interval": 2000000000)");
  EXPECT_THAT(message_of_keys(qwen),
              HasSubstr("'full_attention_interval' 2000000000 of 48 layers"));
}

TEST(HuggingFaceFamilies, OfJambaThePeriodsAreRead) {
  const std::string large = shape("jamba", 72, 8192, 64, 8, 24576, 65536);
  const ModelSpec model = read_keys(
      large + kJamba + R"(, "num_experts": 16, "num_experts_per_tok": 2, "mamba_dt_rank": "auto")");
  EXPECT_EQ(model.mixer->kind, workload::MixerKind::mamba1);
  EXPECT_EQ(model.mixer->heads, 16384);
  EXPECT_EQ(model.mixer->step_rank, 512);  // "auto": hidden / 16
  EXPECT_EQ(model.layer_pattern.size(), 8U);
  EXPECT_EQ(model.layer_pattern[4], workload::LayerContent::attention);
  EXPECT_EQ(model.moe->period, 2);
  EXPECT_NEAR(workload::count_parameters(model).total() / 1e9, 398, 1);   // the model card: 398B
  EXPECT_NEAR(workload::count_parameters(model).active / 1e9, 94, 0.5);   // 94B
  EXPECT_FALSE(read_keys(large + kJamba + R"(, "num_experts": 1)").moe);  // an MLP in every layer
  EXPECT_THAT(message_of_keys(large + R"(, "num_experts": 16, "expert_layer_period": 2,
        "expert_layer_offset": 0, "attn_layer_period": 8, "attn_layer_offset": 8)"),
              AllOf(HasSubstr("'attn_layer_offset' 8 is not below 'attn_layer_period' 8"),
                    HasSubstr("only the last layer of each 'expert_layer_period' 2 can have")));
}

}  // namespace
}  // namespace headway::import
