// Values narrower than keys, layers without the window at the front, light prediction modules:
// MiMo-V2-Flash.
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/kernels.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/trained/adapter_shape.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;

/// XiaomiMiMo/MiMo-V2-Flash, config.json, 2025.
ModelSpec mimo_v2_flash() {
  ModelSpec model = llama("MiMo-V2-Flash", 48, 4096, 64, 16384);
  model.vocabulary = 152576;
  model.head_dim = 192;
  model.value_dim = 128;
  model.attention = AttentionKind::sliding_window;
  model.window = 128;
  model.window_period = 6;
  model.leading_full_layers = 1;
  model.full_attention = FullAttentionSpec{4, 192, false, 128};
  model.moe = ExpertsSpec{256, 8, 0, 2048, 1};
  model.multi_token_prediction = 3;
  model.dense_prediction = model.windowed_prediction = true;
  return model;
}

/// Two layers without the window (0 and 2) and two with it; 32 query heads, keys 192 and values 128
/// wide, of 4 and 8 groups; no experts.
ModelSpec few_narrow() {
  ModelSpec model = mimo_v2_flash();
  model.layers = 4;
  model.heads = 32;
  model.window = 1024;
  model.window_period = 3;
  model.moe.reset();
  model.dense_prediction = false;
  model.multi_token_prediction = 2;
  return model;
}

LayerKind with_window() {
  LayerKind kind;
  kind.windowed = true;
  return kind;
}

/// Columns and rows of attention's matrices beside h: queries, keys, values, output.
double widths(double heads, double groups) { return heads * (192 + 128) + groups * (192 + 128); }

// h = 4096, 64 query heads, keys 192 and values 128 wide:
//     without the window  h (64 x 192 + 4 x 192 + 4 x 128 + 64 x 128) = h x 21,760 =  89,128,960
//     with it             h (64 x 192 + 8 x 192 + 8 x 128 + 64 x 128) = h x 23,040 =  94,371,840
//     experts             256 x 3 h 2048 + 256 h                      = 6,443,499,520
//     the first MLP       3 h 16384                                   = 201,326,592
//     tables              2 x 152,576 h                               = 1,249,902,592
// 9 layers without the window (0, 5, 11, ..., 47), 39 with it, 47 of experts: 308.8 billion, "309B"
// on the model card; a token meets 8 of 256 experts: 15.4, "15B". A module: attention with the
// window, a dense MLP, 2 h^2: 0.329, "0.33B"; with three 309.8.
TEST(NarrowValues, OfMiMoV2FlashGiveItsPublishedParameters) {
  const double h = 4096;
  const double expert = 3 * h * 2048;
  const double full = h * 21760;
  const double windowed = h * 23040;
  const double mlp = 3 * h * 16384;
  const double norms = (2 * 48 + 1) * h;
  const auto total = [&](double experts) {
    return 9 * full + 39 * windowed + 47 * (experts * expert + 256 * h) + mlp + 2 * 152576 * h +
           norms;
  };
  const ParameterCount count = count_parameters(mimo_v2_flash());
  EXPECT_DOUBLE_EQ(count.total(), total(256));
  EXPECT_DOUBLE_EQ(count.active, total(8));
  EXPECT_DOUBLE_EQ(count.prediction, 3 * (windowed + mlp + 2 * h * h + 5 * h));
  EXPECT_NEAR(count.total() / 309e9, 1, 0.001);
  EXPECT_NEAR(count.active / 15e9, 1, 0.035);
  EXPECT_NEAR(count.prediction / 3 / 0.33e9, 1, 0.003);
}

TEST(NarrowValues, LayersWithoutTheWindowAreTheFirstAndTheLastOfEachPeriod) {
  const ModelSpec model = mimo_v2_flash();
  for (int layer = 0; layer < 48; ++layer) {
    const LayerKind kind = layer_kind(model, {}, layer);
    EXPECT_EQ(kind.windowed, layer != 0 && layer % 6 != 5) << layer;
    EXPECT_EQ(kind.experts, layer != 0) << layer;
  }
  ModelSpec all = llama_8b();
  all.window = 1024;
  all.leading_full_layers = 2;  // all others have it
  EXPECT_EQ(layer_runs(all, {}, 0, 4), (std::vector<LayerRun>{{{}, 2}, {with_window(), 2}}));
}

// A token forward: 2 FLOP an element of the matrices; core attention in full, which is twice the
// causal keys: s of all, 2 x 128 (1 - 128/2s) of the window, each 2 a (192 + 128).
TEST(NarrowValues, ForwardFlopsAreTheClosedForm) {
  const ModelSpec model = mimo_v2_flash();
  const double h = 4096;
  const double s = 32768;
  const double width = 64 * (192.0 + 128);
  const double seen = 128 * (1 - 128 / (2 * s));
  const ForwardFlops forward = forward_flops_per_token(model, 32768);
  EXPECT_DOUBLE_EQ(forward.projections.si(), 2 * h * (9 * widths(64, 4) + 39 * widths(64, 8)));
  EXPECT_DOUBLE_EQ(forward.attention_core.si(), 2 * width * (9 * s + 39 * 2 * seen));
  EXPECT_DOUBLE_EQ(forward.mlp.si(), 2 * (3 * h * 16384 + 47 * (8 * 3 * h * 2048 + 256 * h)));
  // A module: as a layer with the window and a dense MLP, its joined inputs, a head.
  EXPECT_DOUBLE_EQ(forward.prediction.si(),
                   3 * 2 * (h * widths(64, 8) + 3 * h * 16384 + 2 * h * h + h * 152576));
  EXPECT_DOUBLE_EQ(forward.prediction_core.si(), 3 * 2 * width * 2 * seen);
}

/// Executed work a step of `micro_batches` sequences: three times the linear forward; core
/// attention causal, backward three products of d and two of d_v beside one of each forward.
double work_of(const ModelSpec& model, int sequence, int micro_batches) {
  const ForwardFlops forward = forward_flops_per_token(model, sequence);
  const double core = 0.5 * (1 + (3 * 192.0 + 2 * 128) / (192 + 128));
  return 1.0 * micro_batches * sequence * (3 * forward.linear().si() + core * forward.core().si());
}

TEST(NarrowValues, GraphsWorkAsTheClosedFormSays) {
  for (const int t : {1, 2, 4}) {
    const StepGraph graph = build_step_graph(few_narrow(), recipe(8192, 8), split(t, 1), 1, 8);
    EXPECT_NEAR(t * matrix_work(graph) / work_of(few_narrow(), 8192, 8), 1, 1e-9) << t;
  }
  ModelSpec mixture = mimo_v2_flash();  // dense modules beside a last layer of experts
  mixture.layers = 6;
  const StepGraph graph = build_step_graph(mixture, recipe(8192, 8), split(1, 2), 1, 8);
  EXPECT_NEAR(matrix_work(graph) / work_of(mixture, 8192, 8), 1, 1e-9);
}

TEST(NarrowValues, PredictionModulesAreAsLightAsTheModelSays) {
  ModelSpec model = mimo_v2_flash();
  EXPECT_TRUE(layer_kind(model, {}, 47).experts);
  EXPECT_FALSE(layer_kind(model, {}, 47).windowed);
  EXPECT_FALSE(prediction_kind(model, {}).experts);
  EXPECT_TRUE(prediction_kind(model, {}).windowed);
  model.dense_prediction = model.windowed_prediction = false;
  EXPECT_EQ(prediction_kind(model, {}), layer_kind(model, {}, 47));
}

// A prediction layer is as the last one, here a mixer, and a window is of attention.
TEST(NarrowValues, PredictionOfAMixerHasNoWindow) {
  ModelSpec model = few_narrow();
  model.mixer.emplace();
  model.layer_pattern = {LayerContent::attention, LayerContent::mixer};
  const LayerKind kind = prediction_kind(model, {});
  EXPECT_EQ(kind.mixing, Mixing::mixer);
  EXPECT_FALSE(kind.windowed);
}

// With 8 ranks the 4 key heads of layers 0 and 2 are each on two: h 4 (192 + 128) more a layer. A
// module has two norms of a layer, two of its inputs and one behind.
TEST(NarrowValues, TensorRanksHoldTheModelOnceButForCopiedKeys) {
  const ModelSpec model = few_narrow();
  const double norms = (4 * 2 + 1 + 2 * 5) * 4096.0;
  const ParameterCount count = count_parameters(model);
  for (const int t : {1, 2, 4, 8}) {
    const ParallelismSpec parallelism = split(t, 1);
    const RankParameters rank =
        stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
    const double copied = t > 4 ? 2 * 4096.0 * 4 * (192 + 128) : 0;
    EXPECT_NEAR(t * rank.total(), count.total() + count.prediction + (t - 1) * norms + copied, 1)
        << t;
  }
}

TEST(NarrowValues, MatricesAreTheParametersOfTheirLayer) {
  for (const LayerKind& kind : {LayerKind{}, with_window()}) {
    const LayerParameters layer = layer_parameters(few_narrow(), kind);
    for (const int t : {1, 4}) {
      EXPECT_DOUBLE_EQ(t * matrix_elements(layer_matrices(few_narrow(), split(t, 1), kind)),
                       layer.attention + layer.mlp);
    }
  }
}

TEST(NarrowValues, BiasesAreThoseOfTheColumns) {
  ModelSpec model = few_narrow();
  const double matrices = layer_parameters(model, with_window()).attention;
  model.biases = true;
  EXPECT_DOUBLE_EQ(layer_parameters(model, with_window()).attention - matrices,
                   32 * 192 + 8 * (192 + 128) + 4096);
}

// 16 query heads on each of two ranks, and 4 of the 8 groups or 2 of the 4.
TEST(NarrowValues, KernelsHaveBothWidths) {
  const RankShape shape = rank_shape(few_narrow(), recipe(8192, 8), split(2, 1), with_window());
  EXPECT_EQ(shape.qkv_width(), 16 * 192 + 4 * (192 + 128));
  EXPECT_EQ(shape.attention_parts(), (std::array<std::int64_t, 3>{16 * 192, 4 * 192, 4 * 128}));
  EXPECT_EQ(shape.projection_width(), 16 * 128);
  const RankShape full = rank_shape(few_narrow(), recipe(8192, 8), split(2, 1));
  EXPECT_EQ(full.qkv_width(), 16 * 192 + 2 * (192 + 128));
  const core::Kernel kernel = flash_forward(full, full.own_attention());
  EXPECT_EQ(kernel.head_dim, 192);
  EXPECT_DOUBLE_EQ(kernel.work.si(), 2.0 * 8192 * 4096 * 16 * (192 + 128));
  // Queries, keys, values and outputs in 2 B, a statistic of 4 B a row.
  EXPECT_DOUBLE_EQ(kernel.traffic.si(), 8192.0 * (2 * (16 + 2) * (192 + 128) + 4 * 16));
  EXPECT_DOUBLE_EQ(executed_attention_per_layer(few_narrow(), recipe(8192, 8), split(2, 1)).si(),
                   4096.0 * 8192 * 16 * (8 * 192 + 6 * 128));
}

// Of the three other ranks of four: keys and values of 2,048 tokens in 2 B, of 4 groups of a
// rank of two with the window, else 2. All-to-all trades queries and outputs too, of 16 heads, and
// of keys 4 heads at least; 3/4 of each leave the rank.
TEST(NarrowValues, ContextRanksTradeKeysAndValuesOfTheirWidths) {
  ParallelismSpec parallelism = split(2, 1);
  parallelism.context = 4;
  const auto bytes = [&](ContextKind kind, bool windowed) {
    parallelism.context_kind = kind;
    return context_bytes_per_layer(few_narrow(), recipe(8192, 8), parallelism, windowed)
        .forward.si();
  };
  const double head = 2.0 * 2048 * (192 + 128);
  EXPECT_DOUBLE_EQ(bytes(ContextKind::all_gather, true), 3 * 4 * head);
  EXPECT_DOUBLE_EQ(bytes(ContextKind::all_gather, false), 3 * 2 * head);
  EXPECT_DOUBLE_EQ(bytes(ContextKind::all_to_all, false), 0.75 * head * (16 + 4));
  const auto sent = [&](ContextKind kind) {
    parallelism.context_kind = kind;
    ModelSpec model = few_narrow();
    model.layers = 2;  // without the window, with it
    model.multi_token_prediction = 0;
    const StepGraph graph = build_step_graph(model, recipe(8192, 1), parallelism, 1, 1);
    return collective_bytes(graph, Group::context,
                            kind == ContextKind::all_to_all ? core::CollectiveKind::all_to_all
                                                            : core::CollectiveKind::all_gather);
  };
  // Collectives are called with whole arrays, forward and backward.
  EXPECT_DOUBLE_EQ(sent(ContextKind::all_gather), 2 * 4 * (2 + 4) * head);
  EXPECT_DOUBLE_EQ(sent(ContextKind::all_to_all), 2 * 2 * head * (16 + 4));
}

// Kept of a token in 2 B: keys and values of the groups, and the output of the query heads, which
// the projection reads. Values of 128 in place of 192 leave 64 (8 + 32) of them out.
TEST(NarrowValues, LessIsKeptOfThem) {
  const auto kept = [](int value_dim) {
    ModelSpec model = few_narrow();
    model.value_dim = value_dim;
    return saved_per_layer(model, recipe(8192, 8), split(1, 1), with_window()).si();
  };
  EXPECT_DOUBLE_EQ(kept(192) - kept(128), 2.0 * 8192 * 64 * (8 + 32));
  EXPECT_DOUBLE_EQ(kept(0), kept(192));
}

// Context ranks that exchange heads hold the largest of what they trade: the output, where its
// values are wider than queries.
TEST(NarrowValues, ExchangedOutputsMayBeTheWidest) {
  ParallelismSpec exchanged = split(1, 1);
  exchanged.context = 2;
  exchanged.context_kind = ContextKind::all_to_all;
  const auto working = [&](int value_dim) {
    ModelSpec model = few_narrow();
    model.value_dim = value_dim;
    model.ffn = 64;  // attention has the larger working set
    const auto of = [&](const ParallelismSpec& layout, int tokens) {
      return backward_working_set(model, recipe(tokens, 8), layout, with_window()).si();
    };
    return of(exchanged, 8192) - of(split(1, 1), 4096);  // as many tokens a rank
  };
  EXPECT_DOUBLE_EQ(working(384) - working(192), 2.0 * 4096 * 32 * (384 - 192));
}

TEST(NarrowValues, AdaptersHaveTheWidthsOfTheirProducts) {
  ModelSpec model = llama_8b();
  model.value_dim = 64;
  model.adapters = AdaptersSpec{16, {AdaptedProduct::value, AdaptedProduct::output}};
  const AdapterWidths split_in_two = adapter_widths(model, split(2, 1));
  EXPECT_EQ(split_in_two.keys, 4 * 128);
  EXPECT_EQ(split_in_two.values, 4 * 64);
  EXPECT_EQ(split_in_two.attended, 16 * 64);
  LayerKind kind;
  kind.learning = Learning::adapters;
  // 16 (h + 8 x 64) of values and 16 (32 x 64 + h) of the output.
  EXPECT_DOUBLE_EQ(active_adapter_weights(model, kind),
                   16.0 * (4096 + 8 * 64) + 16.0 * (32 * 64 + 4096));
}

std::vector<std::string> refused(const ModelSpec& model) {
  return texts(unsupported(model, recipe(8192, 8), split(1, 1)));
}

TEST(NarrowValues, AreRefusedWhereTheyMeanNothing) {
  using Texts = std::vector<std::string>;
  ModelSpec model = few_narrow();
  model.attention_gate = true;
  EXPECT_EQ(refused(model),
            (Texts{"value_dim of model 'MiMo-V2-Flash' beside 'attention_gate', a gate as wide as "
                   "queries, is not simulated; leave one of the two out"}));
  model = few_narrow();
  model.full_attention->shared_values = true;
  EXPECT_EQ(refused(model), (Texts{"values 128 wide cannot be the keys, which are 192 wide: leave "
                                   "'value_dim' or 'shared_values' out"}));
  model = few_narrow();
  model.attention_gate = true;
  model.value_dim = 192;  // as wide as keys; those of layers without the window are not
  EXPECT_EQ(refused(model).size(), 1U);
  model.full_attention->value_dim = 192;
  EXPECT_EQ(refused(model), Texts{});
  model = deepseek_v3();
  model.value_dim = 128;
  EXPECT_EQ(refused(model),
            (Texts{"values of model 'DeepSeek-V3' have their width in 'latent': write "
                   "'latent.value_dim' and leave this one out"}));
  model = few_narrow();
  model.leading_full_layers = 4;
  EXPECT_EQ(refused(model),
            (Texts{"leading_full_layers 4 leave none of the 4 layers of model 'MiMo-V2-Flash' with "
                   "the window; write fewer, or 'window: 0'"}));
}

TEST(NarrowValues, WindowsAndModulesNeedWhatTheyAreOf) {
  using Texts = std::vector<std::string>;
  ModelSpec model = llama_8b();
  model.leading_full_layers = 1;
  model.windowed_prediction = model.dense_prediction = true;
  EXPECT_EQ(refused(model),
            (Texts{"no layer of model 'Llama 3.1 8B' has experts, so prediction layers have a "
                   "dense MLP anyway: leave dense_prediction out, or set 'moe'",
                   "windowed_prediction of model 'Llama 3.1 8B' needs the window: set 'window', or "
                   "leave it out",
                   "leading_full_layers of model 'Llama 3.1 8B' stand before layers with a window: "
                   "set 'window', or leave it out"}));
  model = mimo_v2_flash();
  model.ffn = 0;
  EXPECT_EQ(refused(model), (Texts{"dense_prediction of model 'MiMo-V2-Flash' needs the width of "
                                   "its MLP: set 'ffn' to 1 or more"}));
}

TEST(NarrowValues, RanksThatDoNotDivideTheHeadsAreRefused) {
  EXPECT_EQ(texts(violations(few_narrow(), recipe(8192, 8), split(3, 1), 1, 8)),
            (std::vector<std::string>{
                "32 attention heads do not divide over 3 tensor-parallel ranks",
                "16384 MLP columns do not divide over 3 tensor-parallel ranks",
                "8 key-value heads and 3 tensor-parallel ranks do not divide each other",
                "4 key-value heads and 3 tensor-parallel ranks do not divide each other",
                "8192 tokens of a sequence do not divide over 3 tensor-parallel ranks"}));
}

}  // namespace
}  // namespace headway::workload
