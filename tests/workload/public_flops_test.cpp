// Model FLOPs beside the counters of public frameworks, evaluated by hand for published models:
// equal term by term, and what they leave out or count otherwise is named.
#include <gtest/gtest.h>
#include <string>

#include "sim/workload/closed_form.h"

#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;
using Content = LayerContent;

constexpr int kCountedLength = 8192;

/// Qwen/Qwen3-Next-80B-A3B-Instruct, config.json.
ModelSpec counted_qwen3_next() {
  ModelSpec model = llama("Qwen3-Next-80B-A3B", 48, 2048, 16, 0);
  model.key_value_heads = 2;
  model.head_dim = 256;
  model.vocabulary = 151936;
  model.query_key_norm = model.attention_gate = true;
  MixerSpec mixer;
  mixer.kind = MixerKind::gated_delta;
  mixer.heads = 32;
  mixer.key_heads = 16;
  mixer.key_dim = mixer.value_dim = 128;
  model.mixer = mixer;
  model.layer_pattern = {Content::mixer, Content::mixer, Content::mixer, Content::attention};
  model.moe = ExpertsSpec{512, 10, 1, 512};
  return model;
}

/// nvidia/Nemotron-H-8B-Base-8K, config.json.
ModelSpec counted_nemotron_h() {
  ModelSpec model = llama("Nemotron-H-8B", 52, 4096, 32, 21504);
  model.vocabulary = 131072;
  model.gated_mlp = model.rotary = false;
  MixerSpec mixer;
  mixer.kind = MixerKind::mamba2;
  mixer.heads = 128;
  mixer.key_heads = 8;
  mixer.key_dim = 128;
  mixer.value_dim = 64;
  mixer.chunk = 128;
  model.mixer = mixer;
  for (const char letter : std::string("M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-")) {
    model.layer_pattern.push_back(letter == 'M'   ? Content::mixer_only
                                  : letter == '*' ? Content::attention_only
                                                  : Content::mlp_only);
  }
  return model;
}

// NVIDIA/Megatron-LM, megatron/training/training.py, num_floating_point_operations, hybrid_flops; a
// token forward, s = 8192, h = 4096, 32 heads of 128 with 8 groups, 24 Mamba, 24 MLP, 4 attention
// layers:
//   attention  4 h (h + h 8/32 + s/2) = 4 x 4096 x (5120 + 4096)             = 150,994,944
//   MLP        4 h 21504                                                     = 352,321,536
//   Mamba      d = 2 h = 8192: in 2 h (2 d + 2 x 8 x 128 + 128)              = 152,043,520
//              out 2 d h                                                     =  67,108,864
//              scan 7 d 128, "an estimate"                                   =   7,340,032
//   logits     2 h 131072                                                    = 1,073,741,824
TEST(PublicFlops, OfAMambaHybridAreMegatrons) {
  const ModelSpec model = counted_nemotron_h();
  ASSERT_EQ(model.layer_pattern.size(), 52U);
  const ForwardFlops flops = forward_flops_per_token(model, kCountedLength);
  const double core = 4.0 * 4096 * (8192 / 2.0);
  EXPECT_DOUBLE_EQ(flops.projections.si() + 0.5 * flops.attention_core.si(),
                   4 * 150'994'944.0 + 24 * (152'043'520.0 + 67'108'864.0));
  EXPECT_DOUBLE_EQ(0.5 * flops.attention_core.si(), 4 * core);
  EXPECT_DOUBLE_EQ(flops.mlp.si(), 24 * 352'321'536.0);
  EXPECT_DOUBLE_EQ(flops.head.si(), 1'073'741'824.0);
  // Megatron's estimate is of the recurrence, here chunks of 128 are counted: 6,553,600, 11 % less
  // of what is 1 % of all.
  EXPECT_NEAR(flops.scan.si() / (24 * 7'340'032.0), 1, 0.12);
  EXPECT_LT(flops.scan.si(), 0.02 * (flops.linear().si() + flops.core().si()));
}

// The same file, gated delta networks and gated attention; a token forward, multiply-adds (x 2):
//   linear     h (2 x 2048 + 2 x 4096 + 2 x 32) + h 4096 = 2048 x 12352 + 2048 x 4096 = 33,685,504
//              (beside it convolution 4 (2 x 2048 + 4096) = 32,768 and rule 32 x 128^2 x 4)
//   attention  h (4096 + 512 + 512 + 4096) + 4096 h                      = 27,262,976
//   core       4096 s/2 x 2                                              = 33,554,432
//   experts    3 h 512 (10 + 1)                                          = 34,603,008
// The router, h x 512 = 1,048,576 a layer, is counted here and in MaxText, not in Megatron.
TEST(PublicFlops, OfGatedDeltaNetworksAreMegatrons) {
  const ForwardFlops flops = forward_flops_per_token(counted_qwen3_next(), kCountedLength);
  EXPECT_DOUBLE_EQ(flops.projections.si(), 2 * (36 * 33'685'504.0 + 12 * 27'262'976.0));
  EXPECT_DOUBLE_EQ(0.5 * flops.attention_core.si(), 2 * 12 * 33'554'432.0);
  EXPECT_DOUBLE_EQ(flops.mlp.si(), 2 * 48 * (34'603'008.0 + 1'048'576.0));
  EXPECT_DOUBLE_EQ(flops.head.si(), 2 * 2048.0 * 151936);
  // 8 x 32 x 128^2 a layer by the recurrence; the chunked form does more.
  EXPECT_GT(flops.scan.si(), 36 * 8 * 32 * 128.0 * 128);
}

// AI-Hypercomputer/maxtext, calculate_mla_tflops_per_device and
// calculate_routed_and_shared_ffn_tflops_per_device for DeepSeek-V3, a token forward (x 2):
//   queries    7168 x 1536 + 1536 x 128 x 192                            = 48,758,784
//   keys       7168 x (512 + 64) + 512 x 128 x (128 + 128)               = 20,905,984
//   output     7168 x 128 x 128                                          = 117,440,512
//   core       s x 128 x (192 + 128) / 2                                 = 167,772,160
//   MLPs       3 x 3 x 7168 x 18432 + 58 (3 x 7168 x 2048 x (8 + 1) + 7168 x 256)
TEST(PublicFlops, OfLatentAttentionAreMaxTexts) {
  ModelSpec model = deepseek_v3();
  model.multi_token_prediction = 0;  // MaxText counts the decoder
  const ForwardFlops flops = forward_flops_per_token(model, kCountedLength);
  EXPECT_DOUBLE_EQ(flops.projections.si(), 2 * 61 * (48'758'784.0 + 20'905'984.0 + 117'440'512.0));
  EXPECT_DOUBLE_EQ(0.5 * flops.attention_core.si(), 2 * 61 * 167'772'160.0);
  EXPECT_DOUBLE_EQ(flops.mlp.si(),
                   2 * (3 * 3 * 7168.0 * 18432 + 58 * (3 * 7168.0 * 2048 * 9 + 7168.0 * 256)));
}

// calculate_indexer_tflops_per_device of the same, DeepSeek-V3.2's 64 heads of 128 (x 2):
//   projections  1536 x 64 x 128 + 7168 x 128 + 7168 x 64                = 13,959,168
//   scores       s x 64 x 128 / 2 = 33,554,432; MaxText adds s x 64 / 2 for the sum over heads
// and calculate_indexer_mask_ratio: (T K - K^2 / 2) / T^2 of the pairs, so K - K^2 / 2T keys a
// query, 1,792 of 8,192. MaxText counts them at 192 + 128 a head, as dense attention; the kernels
// of the public implementation, and what is counted here, at 576 + 512, as keys stay compressed.
TEST(PublicFlops, OfAnIndexerAreMaxTexts) {
  ModelSpec with = deepseek_v3();
  with.multi_token_prediction = 0;
  const ForwardFlops dense = forward_flops_per_token(with, kCountedLength);
  with.sparse = SparseAttentionSpec{64, 128, 2048};
  const ForwardFlops sparse = forward_flops_per_token(with, kCountedLength);
  EXPECT_DOUBLE_EQ((sparse.projections - dense.projections).si(), 2 * 61 * 13'959'168.0);
  EXPECT_DOUBLE_EQ(causal_keys(with, layer_kind(with, {}, 0), kCountedLength), 1792);
  EXPECT_DOUBLE_EQ(0.5 * sparse.attention_core.si(),
                   2 * 61 * (33'554'432.0 + 1792.0 * 128 * (576 + 512)));
}

}  // namespace
}  // namespace headway::workload
