// Linear attention and state spaces: parameters against the public implementations' own sums,
// executed work against the closed form, parallel rules, memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/mixer/mixer_kernels.h"
#include "sim/workload/mixer/mixer_problems.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using L = LayerContent;

/// Heads, key heads, key width, value width, convolution, chunk.
MixerSpec mixer(MixerKind kind, int heads, int key_heads, int key, int value, int conv, int chunk) {
  MixerSpec spec;
  spec.kind = kind;
  spec.heads = heads;
  spec.key_heads = key_heads;
  spec.key_dim = key;
  spec.value_dim = value;
  spec.convolution = conv;
  spec.chunk = chunk;
  return spec;
}

/// Qwen/Qwen3-Next-80B-A3B-Instruct, config.json.
ModelSpec qwen3_next() {
  ModelSpec model = llama("Qwen3-Next-80B-A3B", 48, 2048, 16, 0);
  model.key_value_heads = 2;
  model.head_dim = 256;
  model.vocabulary = 151936;
  model.query_key_norm = true;
  model.attention_gate = true;
  model.mixer = mixer(MixerKind::gated_delta, 32, 16, 128, 128, 4, 64);
  model.layer_pattern = {L::mixer, L::mixer, L::mixer, L::attention};
  model.moe = ExpertsSpec{512, 10, 1, 512};
  return model;
}

/// moonshotai/Kimi-Linear-48B-A3B-Base, config.json.
ModelSpec kimi_linear() {
  ModelSpec model = llama("Kimi-Linear-48B-A3B", 27, 2304, 32, 9216);
  model.key_value_heads = 32;
  model.head_dim = 192;
  model.vocabulary = 163840;
  model.attention = AttentionKind::multi_latent;
  model.latent = LatentAttentionSpec{0, 512, 128, 64, 128};
  model.rotary = false;
  model.mixer = mixer(MixerKind::kimi_delta, 32, 0, 128, 128, 4, 64);
  for (int layer = 1; layer <= 27; ++layer) {
    model.layer_pattern.push_back(layer % 4 == 0 || layer == 27 ? L::attention : L::mixer);
  }
  model.moe = ExpertsSpec{256, 8, 1, 1024, 1};
  return model;
}

/// nvidia/Nemotron-H-56B-Base-8K, config.json.
ModelSpec nemotron_h() {
  ModelSpec model = llama("Nemotron-H-56B", 118, 8192, 64, 32768);
  model.vocabulary = 131072;
  model.gated_mlp = false;
  model.rotary = false;
  model.mixer = mixer(MixerKind::mamba2, 256, 8, 256, 64, 4, 128);
  const std::string pattern =
      "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-"
      "M-"
      "M*-M-M-M-M-M*-M-M-M-M-M-";
  for (const char letter : pattern) {
    model.layer_pattern.push_back(letter == 'M'   ? L::mixer_only
                                  : letter == '*' ? L::attention_only
                                                  : L::mlp_only);
  }
  return model;
}

/// MiniMaxAI/MiniMax-Text-01, config.json.
ModelSpec minimax_01() {
  ModelSpec model = llama("MiniMax-Text-01", 80, 6144, 64, 0);
  model.vocabulary = 200064;
  model.mixer = mixer(MixerKind::lightning, 64, 0, 128, 128, 0, 256);
  model.layer_pattern = std::vector<L>(7, L::mixer);
  model.layer_pattern.push_back(L::attention);
  model.moe = ExpertsSpec{32, 2, 0, 9216};
  return model;
}

/// ai21labs/Jamba-v0.1, config.json.
ModelSpec jamba() {
  ModelSpec model = llama("Jamba-v0.1", 32, 4096, 32, 14336);
  model.key_value_heads = 8;
  model.vocabulary = 65536;
  model.rotary = false;
  model.mixer = mixer(MixerKind::mamba1, 8192, 0, 16, 1, 4, 64);
  model.mixer->step_rank = 256;
  model.layer_pattern = std::vector<L>(8, L::mixer);
  model.layer_pattern[4] = L::attention;
  model.moe = ExpertsSpec{16, 2, 0, 14336};
  model.moe->period = 2;
  return model;
}

/// Attention and a state space side by side.
ModelSpec falcon_h1() {
  ModelSpec model = llama("Falcon-H1-7B", 44, 3072, 12, 12288);
  model.key_value_heads = 2;
  model.vocabulary = 130048;
  model.mixer = mixer(MixerKind::mamba2, 24, 1, 256, 128, 4, 256);
  model.mixer->norm = false;
  model.layer_pattern = {L::both};
  return model;
}

/// A few layers of each kind, small enough to write graphs of.
std::vector<ModelSpec> small_models() {
  std::vector<ModelSpec> models;
  for (const MixerKind kind : {MixerKind::mamba2, MixerKind::gated_delta, MixerKind::kimi_delta,
                               MixerKind::lightning, MixerKind::mamba1}) {
    ModelSpec model = llama("small", 8, 2048, 16, 8192);
    const bool shared = kind == MixerKind::mamba2 || kind == MixerKind::gated_delta;
    model.mixer =
        mixer(kind, 32, shared ? 8 : 0, 128, 128, kind == MixerKind::lightning ? 0 : 4, 64);
    if (kind == MixerKind::mamba1) {
      model.mixer = mixer(kind, 4096, 0, 16, 1, 4, 64);
      model.mixer->step_rank = 128;
    }
    model.layer_pattern = {L::mixer, L::attention};
    models.push_back(model);
    model.layer_pattern = {L::both, L::mixer};
    models.push_back(model);
    model.layer_pattern = {L::mixer_only, L::mlp_only, L::attention_only, L::mlp_only};
    models.push_back(model);
    model.moe = ExpertsSpec{16, 2, 1, 1024};
    model.ffn = 0;
    model.layer_pattern = {L::mixer_only, L::experts_only, L::attention_only, L::experts_only};
    models.push_back(model);
    model.attention_gate = true;
    model.layer_pattern = {L::mixer, L::attention};
    models.push_back(model);
  }
  return models;
}

TEST(MixerParameters, AreThoseOfQwen3Next) {
  // huggingface/transformers, modeling_qwen3_next.py. A linear layer: in_proj_qkvz 2048 x (2 x 2048
  // + 2 x 4096), in_proj_ba 2048 x 64, conv1d 8192 x 4, dt_bias and A_log 32 each, norm 128,
  // out_proj 4096 x 2048; attention: q_proj of twice the heads, two norms of heads (256 each, left
  // out here); experts 3 x 2048 x 512, the gate of the shared one (2048, left out here).
  const double h = 2048;
  const double linear = h * (4096 + 8192) + h * 64 + 8192 * 4 + 64 + 128 + 4096 * h;
  const double attention = h * 256 * (2 * 16 + 2 * 2) + 16 * 256 * h;
  const double experts = 513 * 3 * h * 512 + 512 * h;
  const double total = 36 * linear + 12 * attention + 48 * (experts + 2 * h) + 2 * 151936 * h + h;
  EXPECT_EQ(count_parameters(qwen3_next()).total(), total);
  const double left_out = 12 * 2 * 256 + 48 * h;
  EXPECT_NEAR((total + left_out) / 1e9, 79.7, 0.05);                   // the model card: 80B
  EXPECT_NEAR(count_parameters(qwen3_next()).active / 1e9, 3.9, 0.1);  // 3B without the tables
}

TEST(MixerParameters, AreThoseOfKimiLinear) {
  // modeling_kimi.py beside the weights. A KDA layer: q, k, v 2304 x 4096 each, three convolutions
  // 4096 x 4, f and g in two steps over 128, b 2304 x 32, A_log 32, dt_bias 4096, o_norm 128,
  // o_proj.
  const double h = 2304;
  const double kda = 3 * h * 4096 + 3 * 4096 * 4 + 2 * (h * 128 + 128 * 4096) + h * 32 + 32 + 4096 +
                     128 + 4096 * h;
  const double mla = h * 32 * 192 + h * (512 + 64) + 512 + 512 * 32 * 256 + 32 * 128 * h;
  const double experts = 257 * 3 * h * 1024 + 256 * h;
  const double total =
      20 * kda + 7 * mla + 3 * h * 9216 + 26 * experts + 27 * 2 * h + 2 * 163840 * h + h;
  EXPECT_EQ(count_parameters(kimi_linear()).total(), total);
  EXPECT_NEAR(total / 1e9, 49.1, 0.1);  // the model card: 48B
}

TEST(MixerParameters, AreThoseOfNemotronH) {
  // modeling_nemotron_h.py. Mamba-2: in_proj 8192 x (2 x 16384 + 2 x 8 x 256 + 256), conv1d of
  // 20480 channels with bias, dt_bias, A_log and D 256 each, norm 16384, out_proj. One norm a
  // layer.
  const double h = 8192;
  const double mamba = h * (2 * 16384 + 4096 + 256) + 20480 * 5 + 3 * 256 + 16384 + 16384 * h;
  const double attention = h * 128 * (2 * 64 + 2 * 8);
  const double total =
      54 * mamba + 10 * attention + 54 * 2 * h * 32768 + 118 * h + 2 * 131072 * h + h;
  EXPECT_EQ(count_parameters(nemotron_h()).total(), total);
  EXPECT_NEAR(total / 1e9, 56.2, 0.5);
}

TEST(MixerParameters, AreThoseOfMiniMax) {
  // modeling_minimax.py. Lightning: qkv_proj 3 x 8192, output_gate and out_proj 8192, norm 8192.
  const double h = 6144;
  const double lightning = h * 5 * 8192 + 8192;
  const double attention = h * 128 * (2 * 64 + 2 * 8);
  const double experts = 32 * 3 * h * 9216 + 32 * h;
  const double total =
      70 * lightning + 10 * attention + 80 * (experts + 2 * h) + 2 * 200064 * h + h;
  EXPECT_EQ(count_parameters(minimax_01()).total(), total);
  EXPECT_NEAR(total / 1e9, 456, 1);
  const double active = count_parameters(minimax_01()).active - 2 * 200064 * h;
  EXPECT_NEAR(active / 1e9, 45.9, 0.1);  // the report's, without the tables
}

TEST(MixerParameters, AreThoseOfJamba) {
  // modeling_jamba.py. Mamba: in_proj 4096 x 16384, conv1d of 8192 channels with bias, x_proj 8192
  // x (256 + 2 x 16), dt_proj 256 x 8192 with bias, A_log 8192 x 16, D 8192, three norms of 256, 16
  // and 16, out_proj; experts in every second layer.
  const double h = 4096, e = 8192;
  const double mamba =
      h * 2 * e + e * 5 + e * (256 + 32) + 256 * e + e + e * 16 + e + (256 + 32) + e * h;
  const double attention = h * 128 * (2 * 32 + 2 * 8);
  const double mlp = 3 * h * 14336;
  const double total = 28 * mamba + 4 * attention + 16 * mlp + 16 * (16 * mlp + 16 * h) +
                       32 * 2 * h + 2 * 65536 * h + h;
  EXPECT_EQ(count_parameters(jamba()).total(), total);
  EXPECT_NEAR(total / 1e9, 51.6, 0.05);                             // the model card: 52B
  EXPECT_NEAR(count_parameters(jamba()).active / 1e9, 12.1, 0.05);  // 12B
}

TEST(MixerParameters, AreThoseOfFalconH1) {
  // modeling_falcon_h1.py: both in every layer, one norm before both and one before the MLP.
  const double h = 3072;
  const double mamba = h * (2 * 3072 + 2 * 256 + 24) + (3072 + 512) * 5 + 3 * 24 + 3072 * h;
  const double attention = h * 128 * (2 * 12 + 2 * 2);
  const double total = 44 * (mamba + attention + 3 * h * 12288 + 2 * h) + 2 * 130048 * h + h;
  EXPECT_EQ(count_parameters(falcon_h1()).total(), total);
  EXPECT_NEAR(total / 1e9, 7.59, 0.03);
}

TEST(MixerParameters, AddUpOverTheRanks) {
  // Over 4 tensor ranks only norms, routers and the compressing matrices are held by each.
  for (const ModelSpec& model : small_models()) {
    ParallelismSpec parallelism = split(4, 1);
    parallelism.expert = model.moe ? 8 : 1;
    const RankParameters rank =
        stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
    double copies = 3.0 * model.hidden;  // of the final norm
    for (const LayerRun& run : layer_runs(model, parallelism, 0, model.layers)) {
      copies += 3 * run.layers * replicated_parameters(model, run.kind);
    }
    const double table = 4.0 * ((model.vocabulary + 3) / 4) - model.vocabulary;
    EXPECT_NEAR(4 * rank.shared + 8 * rank.experts - 2 * table * model.hidden,
                count_parameters(model).total() + copies, 1);
  }
}

TEST(MixerFlops, OfAChunkAreTheProductsOfTheChunkedForm) {
  // One head, keys of 128, values of 64, chunks of 32: a chunk's products, divided by its tokens.
  const double q = 32, n = 128, p = 64;
  const auto flops = [](MixerKind kind, int key_heads) {
    return scan_flops(mixer_shape(mixer(kind, 4, key_heads, 128, 64, 4, 32), 1, 4096));
  };
  const double with_states = 2 * q * n * p;  // a chunk's keys and values into a state, or out of it
  const double mamba = 2 * q * q * n + 4 * (2 * q * q * p + 2 * with_states);  // one group
  EXPECT_DOUBLE_EQ(flops(MixerKind::mamba2, 1), mamba / q);
  const double inverse = q * q * q / 3;
  const double delta = 4 * (3 * 2 * q * q * n + 2 * 2 * q * q * p + 3 * with_states + inverse);
  EXPECT_DOUBLE_EQ(flops(MixerKind::gated_delta, 1), delta / q);
  EXPECT_DOUBLE_EQ(flops(MixerKind::kimi_delta, 0), delta / q);
  // Kimi Linear (arXiv 2510.26692) gives 6 d^2 + 3 C d + C^2 a head, which counts the triangle of a
  // chunk alone: ours is above it and below twice.
  const double d = 128, c = 64;
  const double ours =
      scan_flops(mixer_shape(mixer(MixerKind::kimi_delta, 1, 0, 128, 128, 4, 64), 1, 4096));
  const double paper = 6 * d * d + 3 * c * d + c * c;
  EXPECT_GT(ours, paper);
  EXPECT_LT(ours, 2 * paper);
}

TEST(MixerFlops, OfASelectiveScanAreItsAuthorsCount) {
  // state-spaces/mamba, issue 110: 9 a token, channel and state.
  const MixerShape shape = mixer_shape(mixer(MixerKind::mamba1, 8192, 0, 16, 1, 4, 64), 4, 4096);
  EXPECT_EQ(scan_flops(shape), 9.0 * 16 * 8192 / 4);
  EXPECT_EQ(remade_scan_flops(shape), 7.0 * 16 * 8192 / 4);  // all but the output's 2
}

TEST(MixerFlops, AreExecuted) {
  // Products three times the forward's, of attention the causal half (backward 2.5 times forward);
  // a scan forward once, backward twice and what it makes again.
  for (const ModelSpec& model : small_models()) {
    const ForwardFlops forward = forward_flops_per_token(model, 4096);
    int mixers = 0;
    for (int layer = 0; layer < model.layers; ++layer) {
      mixers += layer_kind(model, {}, layer).mixes() ? 1 : 0;
    }
    const double again = mixers * remade_scan_flops(mixer_shape(*model.mixer, 1, 4096));
    const double expected = 3 * forward.linear().si() + again + 1.75 * forward.core().si();
    for (const int tensor : {1, 2, 4}) {
      ParallelismSpec parallelism = split(tensor, 2);
      parallelism.expert = model.moe ? tensor : 1;
      const StepGraph graph = build_step_graph(model, recipe(4096, 8), parallelism, 1, 8);
      EXPECT_NEAR(tensor * matrix_work(graph) / (8.0 * 4096 * expected), 1, 1e-9)
          << core::to_word(model.mixer->kind) << " " << tensor;
    }
  }
}

TEST(MixerFlops, AreMadeAgainWithFullRecompute) {
  for (const ModelSpec& model : small_models()) {
    ParallelismSpec full = split(1, 1);
    full.recompute = Recompute::full;
    const TrainingSpec training = recipe(4096, 8);
    const double executed = matrix_work(build_step_graph(model, training, full, 1, 8)) -
                            matrix_work(build_step_graph(model, training, split(1, 1), 1, 8));
    const TrainingFlops flops = training_flops_per_token(model, training, full);
    const double core = forward_flops_per_token(model, 4096).core().si();
    EXPECT_NEAR(executed / (8.0 * 4096 * (flops.hfu.si() - flops.mfu.si() - core / 2)), 1, 1e-9);
  }
}

TEST(MixerTraffic, IsThatOfTheArraysBetweenKernels) {
  // N = P = 128, H = 32, Q = 64, G = 8 (of the last two H), in 16 bits; D = V = 4096, S = H N P / Q
  // = 8192, H Q = 2048.
  const std::pair<MixerKind, double> scans[] = {
      // 2 (3V + 4 G N) + 8 G Q + 12 S
      {MixerKind::mamba2, 2.0 * (3 * 4096 + 4 * 1024) + 8 * 512 + 12 * 8192},
      // 2 (7D + 6V + 2 H Q + 2S) + 8 H Q
      {MixerKind::gated_delta, 2.0 * (13 * 4096 + 2 * 2048 + 2 * 8192) + 8 * 2048},
      // 2 (9D + 6V + 5 H Q + 2S) + 16 D
      {MixerKind::kimi_delta, 2.0 * (15 * 4096 + 5 * 2048 + 2 * 8192) + 16 * 4096},
      // 2 (4 H N + 2V) + 12 S
      {MixerKind::lightning, 2.0 * 6 * 4096 + 12 * 8192}};
  for (ModelSpec model : small_models()) {
    model.layers = 1;
    model.layer_pattern = {L::mixer};
    if (model.moe) {
      continue;
    }
    const StepGraph graph = build_step_graph(model, recipe(4096, 8), split(1, 1), 1, 8);
    const auto of = [&](const char* name) { return kernel_traffic(graph, name) / (8.0 * 4096); };
    for (const auto& [kind, bytes] : scans) {
      if (model.mixer->kind == kind) {
        EXPECT_NEAR(of("mixer scan") / bytes, 1, 1e-9) << core::to_word(kind);
        EXPECT_NEAR(of("mixer scan backward") / (3 * bytes), 1, 1e-9) << core::to_word(kind);
      }
    }
    // Gate and norm: three arrays of V forward, five backward. Convolution: 2 and 3 of its
    // channels.
    const bool apart = model.mixer->kind != MixerKind::mamba1;  // whose scan does both
    EXPECT_NEAR(of("mixer norm and gate"), apart ? (3 + 5) * 2.0 * 4096 : 0, 1e-6);
    if (model.mixer->kind == MixerKind::mamba2) {
      EXPECT_NEAR(of("mixer convolution"), (2 + 3) * 2.0 * (4096 + 2 * 1024), 1e-6);
    }
  }
}

/// One layer of mamba1 with an MLP: E = 4096 channels, N = 16 states, R = 128.
ModelSpec one_recurrence(bool norm) {
  ModelSpec model = small_models()[20];
  model.layers = 1;
  model.layer_pattern = {L::mixer};
  model.mixer->norm = norm;
  return model;
}

TEST(MixerTraffic, OfASelectiveScanIsThatOfItsArrays) {
  // In 16 bits. x, steps and z read, the output written twice, B and C read; backward x, steps, z,
  // the output and its gradient read, three gradients written, B and C read and the gradients of
  // both summed in fp32 (read and written); the gated output is made again where nothing lies
  // between.
  for (const bool norm : {true, false}) {
    const StepGraph graph =
        build_step_graph(one_recurrence(norm), recipe(4096, 8), split(1, 1), 1, 8);
    const auto of = [&](const char* name) { return kernel_traffic(graph, name) / (8.0 * 4096); };
    EXPECT_NEAR(of("mixer scan"), 2.0 * (5 * 4096 + 2 * 16), 1e-6);
    EXPECT_NEAR(of("mixer scan backward"),
                2.0 * ((norm ? 8 : 9) * 4096 + 2 * 16) + 2 * 4.0 * 2 * 16, 1e-6);
    EXPECT_NEAR(of("mixer selection norms"), norm ? (2 + 3) * 2.0 * (128 + 32) : 0, 1e-6);
    // Without norms the convolution runs again in backward.
    EXPECT_NEAR(of("mixer convolution"), (norm ? 2 + 3 : 2 + 2 + 3) * 2.0 * 4096, 1e-6);
    EXPECT_EQ(of("mixer norm and gate"), 0);
    EXPECT_EQ(of("mixer decay"), 0);
  }
  ModelSpec bare = one_recurrence(true);  // its activation alone: 2 and 3 arrays of the channels
  bare.mixer->convolution = 0;
  const StepGraph graph = build_step_graph(bare, recipe(4096, 8), split(1, 1), 1, 8);
  EXPECT_EQ(kernel_traffic(graph, "mixer convolution"), 0);
  EXPECT_NEAR(kernel_traffic(graph, "mixer activation") / (8.0 * 4096), (2 + 3) * 2.0 * 4096, 1e-6);
}

TEST(MixerFlops, OfAFusedSelectiveScanIncludeTheStepsMadeAgain) {
  const auto work = [](bool norm) {
    return matrix_work(build_step_graph(one_recurrence(norm), recipe(4096, 8), split(1, 1), 1, 8));
  };
  EXPECT_NEAR(work(false) - work(true), 8.0 * 4096 * 2 * 128 * 4096, 1e-9 * work(true));
}

TEST(MixerTensor, SumsWhatChannelsSelect) {
  // R + 2 N = 160 of every token, an all-reduce forward and one backward; no other collective of
  // this kind with sequence parallelism.
  ParallelismSpec parallelism = split(4, 1);
  parallelism.sequence = true;
  const StepGraph graph =
      build_step_graph(one_recurrence(true), recipe(4096, 2), parallelism, 1, 2);
  ModelSpec plain = one_recurrence(true);
  plain.layer_pattern.clear();
  plain.mixer.reset();
  const StepGraph without = build_step_graph(plain, recipe(4096, 2), parallelism, 1, 2);
  const auto reduced = [](const StepGraph& g) {
    return collective_bytes(g, Group::tensor, core::CollectiveKind::all_reduce);
  };
  const double norms = 4 * 160;  // gradients of weights that each tensor rank holds, in fp32
  EXPECT_DOUBLE_EQ(reduced(graph) - reduced(without), 2 * 2 * 2.0 * 4096 * 160 + norms);
}

TEST(MixerContext, TradesTokensForHeads) {
  // Forward z and x of 4096, B and C of 8 groups (copied where there are fewer than ranks), dt of
  // 32 heads, and back 4096: an all-to-all each way, mirrored backward.
  ModelSpec model = small_models()[0];
  model.mixer->key_heads = 2;
  model.layer_pattern = {L::mixer};
  ParallelismSpec parallelism = split(1, 1);
  parallelism.context = 4;
  const StepGraph graph = build_step_graph(model, recipe(4096, 1), parallelism, 1, 1);
  const double in = 2.0 * 4096 + 2.0 * 4 * 128 + 32;
  EXPECT_DOUBLE_EQ(collective_bytes(graph, Group::context, core::CollectiveKind::all_to_all),
                   8 * 2 * 2.0 * 1024 * (in + 4096));
  // Copied groups are worked on by each rank that has them: 2 Q 128 a token and copy.
  ParallelismSpec alone = split(1, 1);
  const double one = matrix_work(build_step_graph(model, recipe(4096, 1), alone, 1, 1));
  const double copies = 8 * 4096 * (4.0 - 2) * (2 * 64 * 128) * 4;  // 3 and made again
  EXPECT_NEAR(4 * matrix_work(graph), one + copies, 1e-9 * one);
}

TEST(MixerContext, TradesTheProjectionsOfDeltaRules) {
  // q and k of 8 heads of 128, v and z of 4096, write strength and decay of 32 heads, and back
  // 4096; no heads of keys are copied, so each rank has a quarter of a layer's work.
  ModelSpec model = small_models()[5];
  model.layer_pattern = {L::mixer};
  ParallelismSpec parallelism = split(1, 1);
  parallelism.context = 4;
  const StepGraph graph = build_step_graph(model, recipe(4096, 1), parallelism, 1, 1);
  const double in = 2.0 * 8 * 128 + 2.0 * 4096 + 2.0 * 32;
  EXPECT_DOUBLE_EQ(collective_bytes(graph, Group::context, core::CollectiveKind::all_to_all),
                   8 * 2 * 2.0 * 1024 * (in + 4096));
  const StepGraph alone = build_step_graph(model, recipe(4096, 1), split(1, 1), 1, 1);
  EXPECT_NEAR(4 * matrix_work(graph), matrix_work(alone), 1e-9 * matrix_work(alone));
  for (const char* name : {"mixer scan backward", "mixer convolution", "mixer query-key norm",
                           "mixer key copies", "mixer decay", "mixer norm and gate"}) {
    EXPECT_NEAR(4 * kernel_traffic(graph, name), kernel_traffic(alone, name), 1) << name;
  }
  // A rank keeps as much of a token of its own as of one whose heads it traded it for.
  const LayerKind kind = layer_kind(model, {}, 0);
  EXPECT_NEAR(4 * saved_per_layer(model, recipe(4096, 8), parallelism, kind).si(),
              saved_per_layer(model, recipe(4096, 8), split(1, 1), kind).si(), 1);
}

TEST(MixerMemory, KeepsWhatBackwardReads) {
  // One token, bytes of 16 bits: norm inputs 4h, inputs of the first matrices 4h, MLP 2 x 3 x ffn,
  // and of the mixer ...
  const auto kept = [](const ModelSpec& model) {
    LayerKind kind = layer_kind(model, {}, 0);
    return saved_per_layer(model, recipe(4096, 8), split(1, 1), kind).si() / 4096;
  };
  std::vector<ModelSpec> models = small_models();
  const double h = 2048;
  const double rest = 2 * 2 * h + 2 * 2 * h + 2 * 3 * 8192;
  // Mamba-2: the first matrix's outputs, the scan's and the gate's, statistics.
  EXPECT_DOUBLE_EQ(kept(models[0]),
                   rest + 2 * (2 * 4096 + 2 * 1024 + 32) + 2 * 4096 + 2 * 4096 + 4 * 32);
  // Gated delta: also normed queries and keys of all heads, values, and the inverse of 64.
  EXPECT_DOUBLE_EQ(kept(models[5]), rest + 2 * (2 * 1024 + 2 * 4096 + 2 * 32) + 2 * 4096 +
                                        2 * 4096 + 4 * 32 + 2 * (3 * 4096) + 2 * 32 * 64);
  // Mamba-1: z and x, the selection and the output, a state of two fp32 every 2,048 tokens; with
  // norms between also the convolution's output, the steps, the normed selection, the gated output.
  const double fused = 2 * (2 * 4096 + 160 + 4096) + 8.0 * 4096 * 16 / 2048;
  ModelSpec recurrence = one_recurrence(false);
  EXPECT_DOUBLE_EQ(kept(recurrence), rest + fused);
  EXPECT_DOUBLE_EQ(kept(models[20]), rest + fused + 2 * (2 * 4096 + 160) + 2 * 4096);
  ParallelismSpec full = split(1, 1);
  full.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(
      saved_per_layer(models[0], recipe(4096, 8), full, layer_kind(models[0], full, 0)).si(),
      2.0 * 4096 * h);
}

TEST(MixerMemory, OfHalvesIsThatOfTheWhole) {
  // A layer whose halves are layers of their own keeps as much as both together.
  ModelSpec whole = small_models()[0];
  ModelSpec halves = whole;
  halves.layer_pattern = {L::mixer_only, L::mlp_only};
  const auto kept = [](const ModelSpec& model, int layer) {
    return saved_per_layer(model, recipe(4096, 8), split(2, 1), layer_kind(model, {}, layer)).si();
  };
  EXPECT_DOUBLE_EQ(kept(halves, 0) + kept(halves, 1), kept(whole, 0));
}

TEST(MixerProblems, KnowWhereAttentionIs) {
  ModelSpec model = small_models()[0];
  for (const L with : {L::attention, L::both, L::attention_only}) {
    model.layer_pattern = {L::mixer, with};
    EXPECT_TRUE(has_attention(model));
  }
  model.layer_pattern = {L::mixer, L::mixer_only, L::mlp_only, L::experts_only};
  EXPECT_FALSE(has_attention(model));
  model.layer_pattern.clear();
  EXPECT_TRUE(has_attention(model));
}

TEST(MixerProblems, AreNamed) {
  const auto said = [](const ModelSpec& model, const ParallelismSpec& parallelism) {
    const auto all = texts(mixer_problems(model, parallelism));
    return all.empty() ? std::string() : all.front();
  };
  ModelSpec model = small_models()[5];
  EXPECT_EQ(said(model, split(8, 1)), "");
  EXPECT_EQ(said(model, split(16, 1)),
            "8 heads of keys of a gated_delta mixer do not divide over 16 tensor-parallel ranks");
  ParallelismSpec parallelism = split(1, 1);
  parallelism.context = 2;
  EXPECT_EQ(said(model, parallelism), "");
  parallelism.tensor = 2;
  parallelism.context = 4;
  EXPECT_EQ(said(model, parallelism), "");
  parallelism.context = 8;  // mamba2 would copy its four groups
  EXPECT_EQ(said(model, parallelism),
            "32 heads and 8 heads of keys of a gated_delta mixer do not divide over tensor 2 x "
            "context 8");
  EXPECT_EQ(said(small_models()[0], parallelism), "");
  parallelism = split(1, 1);
  parallelism.context = 2;
  for (const auto& [index, kind] : {std::pair{10, "kimi_delta"}, {15, "lightning"}}) {
    EXPECT_EQ(said(small_models()[static_cast<std::size_t>(index)], parallelism),
              fmt::format("context parallelism of {} mixers is not simulated: of these mixers "
                          "Megatron-Core has it for mamba2 and gated_delta alone; write context: 1",
                          kind));
  }
  model.layer_pattern = {L::attention};
  EXPECT_EQ(said(model, split(1, 1)),
            "no layer of model 'small' has its mixer; write which do in 'layer_pattern'");
  model.layer_pattern = {L::mixer};
  model.mixer.reset();
  EXPECT_EQ(said(model, split(1, 1)),
            "layer_pattern of model 'small' has layers with a mixer; say which in 'mixer'");
  model = small_models()[2];
  model.layer_pattern.resize(9, L::mlp_only);
  EXPECT_EQ(said(model, split(1, 1)),
            "layer_pattern has 9 entries, but model 'small' has 8 layers");
  model = small_models()[3];
  model.moe->period = 2;
  EXPECT_EQ(said(model, split(1, 1)),
            "'period' and 'leading_dense_layers' count whole layers; model 'small' has single "
            "halves: write experts_only where its experts are");
  model = small_models()[20];
  EXPECT_EQ(said(model, split(8, 1)), "");
  model.mixer->heads = 4100;
  EXPECT_EQ(said(model, split(8, 1)),
            "4100 channels of a mamba1 mixer do not divide over 8 tensor-parallel ranks");
  model.mixer->heads = 4096;
  EXPECT_EQ(
      said(model, parallelism),
      "context parallelism of mamba1 mixers is not simulated: of these mixers Megatron-Core has it "
      "for mamba2 and gated_delta alone; write context: 1");
  model.mixer->step_rank = 0;
  EXPECT_EQ(said(model, split(1, 1)),
            "a mamba1 mixer makes the steps of its channels from a narrower width: write it "
            "(dt_rank, usually hidden / 16)");
  model.mixer->step_rank = 128;
  model.mixer->value_dim = 64;
  EXPECT_EQ(said(model, split(1, 1)),
            "a mamba1 mixer has a state a channel: write its channels in 'heads' and value_dim 1, "
            "not 64");
  model.mixer->value_dim = 1;
  model.mixer->chunk = 128;
  EXPECT_EQ(said(model, split(1, 1)),
            "a mamba1 mixer scans token by token and has no chunks; leave chunk out");
  model.mixer->chunk = 64;
  model.mixer->key_heads = 8;
  EXPECT_EQ(said(model, split(1, 1)),
            "all channels of a mamba1 mixer share one B and one C; leave key_heads out");
  model = small_models()[0];
  model.mixer->step_rank = 128;
  EXPECT_EQ(said(model, split(1, 1)), "a mamba2 mixer has no step_rank; leave it out");
  model = small_models()[15];
  model.mixer->convolution = 4;
  EXPECT_EQ(said(model, split(1, 1)),
            "a lightning mixer has no convolution; write 'convolution: 0'");
}

}  // namespace
}  // namespace headway::workload
