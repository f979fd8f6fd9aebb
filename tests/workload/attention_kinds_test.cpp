// Latent attention, sliding windows, packed documents, multi-token prediction, recomputation by
// part.
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/kernels.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;

/// Executed work of `micro_batches` of one sequence: 3 x linear, and of core attention the causal
/// half, forward as counted and backward (3 d + 2 d_v) / (d + d_v) times.
double expected_work(const ModelSpec& model, int sequence, int micro_batches) {
  const ForwardFlops forward = forward_flops_per_token(model, sequence);
  const double d = model.latent ? model.latent->no_rope_dim + model.latent->rope_dim : 1;
  const double dv = model.latent ? model.latent->value_dim : 1;
  const double core = 0.5 * (1 + (3 * d + 2 * dv) / (d + dv));
  return 1.0 * micro_batches * sequence *
         (3.0 * forward.linear().si() + core * forward.core().si());
}

TEST(LatentAttention, WorksAsTheClosedFormSays) {
  ModelSpec model = deepseek_v3();
  model.layers = 8;
  model.multi_token_prediction = 0;
  for (const int query_rank : {0, 1536}) {
    model.latent->query_rank = query_rank;
    const StepGraph graph = build_step_graph(model, recipe(4096, 8), split(1, 1), 1, 8);
    EXPECT_NEAR(matrix_work(graph) / expected_work(model, 4096, 8), 1, 1e-9);
  }
}

TEST(LatentAttention, CompressesOnEachTensorRanksTokensAndExpandsItsHeads) {
  // Compression is divided by tokens, everything else by columns: t ranks do the same work.
  ModelSpec model = deepseek_v3();
  model.layers = 8;
  ParallelismSpec parallelism = split(4, 1);
  parallelism.expert = 4;
  const StepGraph graph = build_step_graph(model, recipe(4096, 8), parallelism, 1, 8);
  EXPECT_NEAR(4 * matrix_work(graph) / expected_work(model, 4096, 8), 1, 1e-9);
  // Gathered a layer forward: compressed queries (1536), keys and values (512), shared keys (64).
  double gathered = 0;
  const Block forward = layer_forward(
      {model, recipe(4096, 8), parallelism, rank_shape(model, recipe(4096, 8), parallelism), {}});
  for (const Operation& operation : forward.operations) {
    if (operation.kind == OperationKind::collective &&
        operation.collective == CollectiveKind::all_gather) {
      gathered += operation.bytes.si();
    }
  }
  EXPECT_DOUBLE_EQ(gathered, 2.0 * 4096 * (1536 + 512 + 64 + 7168));
}

TEST(LatentAttention, HoldsTheModelsParameters) {
  // Tensor 4 and expert 8: shared parts over 4 ranks, but norms, routers and the compressing
  // matrices with their norms on each; experts over 8. Prediction: one module of each.
  const ModelSpec model = deepseek_v3();
  ParallelismSpec parallelism = split(4, 1);
  parallelism.expert = 8;
  const RankParameters rank =
      stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
  const double compress = 7168.0 * (1536 + 512 + 64) + 1536 + 512;
  const double layers = 62 * (2.0 * 7168 + compress) + 59 * 7168.0 * 256;
  const double copies = 3 * (layers + 7168.0 + 3 * 7168.0);
  const ParameterCount count = count_parameters(model);
  // The module's three norms are not split; 2 of a layer are in `layers`.
  EXPECT_NEAR(4 * rank.shared + 8 * rank.experts, count.total() + count.prediction + copies, 1);
}

TEST(SlidingWindow, WorksAsTheClosedFormSays) {
  for (const int period : {1, 2, 3}) {
    ModelSpec model = llama_8b();
    model.window = 1024;
    model.window_period = period;
    const StepGraph graph = build_step_graph(model, recipe(8192, 8), split(2, 1), 1, 8);
    EXPECT_NEAR(2 * matrix_work(graph) / expected_work(model, 8192, 8), 1, 1e-9) << period;
  }
}

TEST(SlidingWindow, RunsAKernelOfShorterSequencesWithTheSamePairs) {
  // 1024 of 8192 tokens: 1024 (1 - 1024 / 16384) = 960 keys a query, as sequences of 1920.
  ModelSpec model = llama_8b();
  model.window = 1024;
  LayerKind kind;
  kind.windowed = true;
  const RankShape shape = rank_shape(model, recipe(8192, 8), split(1, 1), kind);
  const core::Kernel kernel = flash_forward(shape, shape.own_attention());
  EXPECT_EQ(kernel.sequence, 1920);
  EXPECT_EQ(kernel.batch, 4);  // 8192 / 1920, rounded
  EXPECT_DOUBLE_EQ(kernel.work.si(), 4.0 * 8192 * 960 * 32 * 128);
}

/// Layers with a window of 1,024 tokens and, every third, without, whose 32 query heads are 256
/// wide and share 4 of keys, which are values too; with it 128 wide, sharing 8.
ModelSpec own_heads() {
  ModelSpec model = llama_8b();
  model.layers = 6;
  model.window = 1024;
  model.window_period = 3;
  model.full_attention = FullAttentionSpec{4, 256, true};
  return model;
}

TEST(FullAttention, WorksAsTheClosedFormSays) {
  for (const bool shared : {true, false}) {
    ModelSpec model = own_heads();
    model.full_attention->shared_values = shared;
    const StepGraph graph = build_step_graph(model, recipe(8192, 8), split(2, 1), 1, 8);
    EXPECT_NEAR(2 * matrix_work(graph) / expected_work(model, 8192, 8), 1, 1e-9) << shared;
  }
  // 2 FLOP a matrix element: 4 layers h 128 (2 x 32 + 2 x 8), 2 layers h 256 (2 x 32 + 1 x 4); core
  // attention in full, twice the causal 4 x 32 x 128 x 960 keys of the window and 4 x 32 x 256 x
  // 4096.
  const ForwardFlops forward = forward_flops_per_token(own_heads(), 8192);
  EXPECT_DOUBLE_EQ(forward.projections.si(),
                   2 * 4096.0 * (4 * 128 * (64 + 16) + 2 * 256 * (64 + 4)));
  EXPECT_DOUBLE_EQ(forward.attention_core.si(), 2 * 4 * 32.0 * (4 * 128 * 960 + 2 * 256 * 4096));
}

TEST(FullAttention, TensorRanksHoldTheModelOnceButForCopiedKeys) {
  const ModelSpec model = own_heads();
  const double norms = 6 * 2 * 4096.0 + 4096;
  for (const int t : {1, 2, 4, 8}) {
    const ParallelismSpec parallelism = split(t, 1);
    const RankParameters rank =
        stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
    // With 8 ranks the 4 key heads of 2 layers are each on two.
    const double copied = t > 4 ? 2 * 4096.0 * 4 * 256 : 0;
    EXPECT_NEAR(t * rank.total(), count_parameters(model).total() + (t - 1) * norms + copied, 1)
        << t;
  }
}

TEST(FullAttention, MatricesAreTheParametersOfTheirLayer) {
  const ModelSpec model = own_heads();
  for (const bool windowed : {true, false}) {
    LayerKind kind;
    kind.windowed = windowed;
    const LayerParameters layer = layer_parameters(model, kind);
    for (const int t : {1, 4}) {
      EXPECT_DOUBLE_EQ(t * matrix_elements(layer_matrices(model, split(t, 1), kind)),
                       layer.attention + layer.mlp);
    }
  }
}

// A rank of 2 holds 4 key heads of a windowed layer, 2 of the others. All-gather takes those of the
// three other context ranks: 3 x keys and values of 2,048 tokens in 2 B.
TEST(FullAttention, ContextRanksTradeTheKeysOfTheirLayer) {
  ParallelismSpec parallelism = split(2, 1);
  parallelism.context = 4;
  parallelism.context_kind = ContextKind::all_gather;
  const auto bytes = [&](bool windowed) {
    return context_bytes_per_layer(own_heads(), recipe(8192, 8), parallelism, windowed)
        .forward.si();
  };
  EXPECT_DOUBLE_EQ(bytes(true), 3.0 * 2 * 2 * 2048 * 4 * 128);
  EXPECT_DOUBLE_EQ(bytes(false), 3.0 * 2 * 2 * 2048 * 2 * 256);
  // Whole heads: 2 of keys on a rank and 4 context ranks divide each other, 3 and 4 do not.
  parallelism.context_kind = ContextKind::all_to_all;
  ModelSpec model = own_heads();
  EXPECT_TRUE(context_problems(model, recipe(8192, 8), parallelism).empty());
  model.full_attention->key_value_heads = 6;
  EXPECT_EQ(texts(context_problems(model, recipe(8192, 8), parallelism)),
            (std::vector<std::string>{
                "3 key-value heads of a tensor rank and context 4 do not divide each other; choose "
                "context_kind ring or all-gather"}));
}

TEST(FullAttention, KernelsHaveTheHeadsOfTheirLayer) {
  LayerKind windowed;
  windowed.windowed = true;
  const RankShape with = rank_shape(own_heads(), recipe(8192, 8), split(2, 1), windowed);
  const RankShape without = rank_shape(own_heads(), recipe(8192, 8), split(2, 1));
  EXPECT_EQ(with.key_value_heads, 4);
  EXPECT_EQ(with.qkv_width(), (16 + 2 * 4) * 128);
  const core::Kernel kernel = flash_forward(without, without.own_attention());
  EXPECT_EQ(kernel.head_dim, 256);
  EXPECT_EQ(kernel.key_value_heads, 2);
  EXPECT_EQ(without.qkv_width(), (16 + 2) * 256);
  // Keys and values are two arrays all the same: norms and rotation set them apart.
  EXPECT_EQ(without.key_elements(), without.value_elements());
}

TEST(FullAttention, IsRefusedWhereItMeansNothing) {
  ModelSpec model = own_heads();
  model.window_period = 1;
  EXPECT_EQ(texts(unsupported(model, recipe(8192, 8), split(1, 1))),
            (std::vector<std::string>{
                "full_attention of model 'Llama 3.1 8B' is what layers without the window have "
                "beside others with it: set 'window', and 'window_period' or "
                "'leading_full_layers', or leave it out"}));
  model = own_heads();
  model.full_attention->key_value_heads = 6;
  EXPECT_EQ(texts(violations(model, recipe(8192, 8), split(4, 1), 1, 8)),
            (std::vector<std::string>{
                "6 key-value heads and 4 tensor-parallel ranks do not divide each other",
                "32 attention heads do not divide over 6 key-value heads"}));
}

TEST(Documents, AttendOnlyWithinThemselves) {
  // Half of the documents 2048 tokens, half 6144: mean keys = (2048^2 + 6144^2) / (2 (2048 +
  // 6144)).
  TrainingSpec training = recipe(8192, 8);
  training.documents = {{2048, 1}, {6144, 1}};
  const double keys = (2048.0 * 2048 + 6144.0 * 6144) / (2.0 * 8192);
  EXPECT_DOUBLE_EQ(mean_causal_keys(training, 0), keys);
  const StepGraph graph = build_step_graph(llama_8b(), training, split(1, 1), 1, 8);
  const ForwardFlops forward = forward_flops_per_token(llama_8b(), 8192);
  const double core = forward.core().si() * keys / 4096;
  EXPECT_NEAR(matrix_work(graph) / (8.0 * 8192 * (3 * forward.linear().si() + 1.75 * core)), 1,
              1e-9);
  const TrainingFlops flops = training_flops_per_token(llama_8b(), training, split(1, 1));
  EXPECT_DOUBLE_EQ(flops.mfu.si(), 3 * (forward.linear().si() + core));
  // A window shorter than every document: w (1 - w / 2s) in each, weighted by tokens.
  EXPECT_DOUBLE_EQ(mean_causal_keys(training, 512),
                   (2048 * 512.0 * (1 - 512.0 / 4096) + 6144 * 512.0 * (1 - 512.0 / 12288)) / 8192);
}

TEST(Documents, AsLongAsTheSequenceChangeNothing) {
  TrainingSpec training = recipe(8192, 8);
  const double whole = mean_causal_keys(training, 0);
  training.documents = {{8192, 1}, {20000, 3}};
  EXPECT_EQ(mean_causal_keys(training, 0), whole);
}

TEST(MultiTokenPrediction, AddsALayerAMatrixAndAHead) {
  ModelSpec model = llama_8b();
  model.multi_token_prediction = 2;
  const StepGraph graph = build_step_graph(model, recipe(4096, 8), split(2, 2), 1, 8);
  EXPECT_NEAR(2 * matrix_work(graph) / expected_work(model, 4096, 8), 1, 1e-9);
}

TEST(MultiTokenPrediction, ReducesTheCopyOfTheTableItReads) {
  ModelSpec model = llama_8b();
  const auto tables = [&model] {
    return collective_bytes(build_step_graph(model, recipe(4096, 64), split(1, 2), 8, 8),
                            Group::embedding, CollectiveKind::all_reduce);
  };
  EXPECT_EQ(tables(), 0);
  model.multi_token_prediction = 1;
  EXPECT_DOUBLE_EQ(tables(), 2 * 4.0 * 128256 * 4096);  // both stages call it
}

TEST(RecomputeParts, AreTheHardwareFlops) {
  // What is executed beyond the model FLOPs' own kernels: the parts' forwards. Core attention
  // counts in full in hfu and half in the kernels, so latent_up and mlp are compared.
  ModelSpec model = deepseek_v3();
  model.layers = 6;
  model.multi_token_prediction = 0;
  const auto extra = [&model](std::vector<RecomputePart> parts, int period) {
    ParallelismSpec none = split(1, 1);
    ParallelismSpec some = none;
    some.recompute = Recompute::selective;
    some.recompute_parts = std::move(parts);
    some.recompute_period = period;
    const TrainingSpec training = recipe(4096, 8);
    const double executed = matrix_work(build_step_graph(model, training, some, 1, 8)) -
                            matrix_work(build_step_graph(model, training, none, 1, 8));
    const double counted = training_flops_per_token(model, training, some).hfu.si() -
                           training_flops_per_token(model, training, none).hfu.si();
    EXPECT_NEAR(executed / (8.0 * 4096 * counted), 1, 1e-9);
    return executed / (8.0 * 4096);
  };
  // 2 (1536 a 192 + 512 a 256) a layer; dense MLP of the 3 leading layers 6 h f; period 2: layers
  // 0, 2, 4.
  const double up = 2.0 * 128 * (1536.0 * 192 + 512.0 * 256);
  EXPECT_NEAR(extra({RecomputePart::latent_up}, 1) / (6 * up), 1, 1e-9);
  EXPECT_NEAR(extra({RecomputePart::latent_up}, 2) / (3 * up), 1, 1e-9);
  EXPECT_NEAR(extra({RecomputePart::mlp}, 1) / (3 * 6.0 * 7168 * 18432), 1, 1e-9);
  extra({RecomputePart::experts}, 1);
}

// What is told at a glance of models with one kind of layer is what each layer says.
TEST(LayerRuns, AreThoseOfTheLayersOneByOne) {
  ParallelismSpec parallelism = split(1, 1);
  parallelism.recompute = Recompute::full;
  for (int first : {0, 3}) {
    for (const int period : {1, 3}) {
      for (const int layers : {1, 2, 3}) {
        ParallelismSpec some = parallelism;
        some.recompute_period = period;
        some.recompute_layers = std::min(layers, period);
        for (ModelSpec model : {llama_8b(), mixtral_8x7b()}) {
          model.window_period = layers;
          model.window = layers > 2 ? 1024 : 0;
          std::vector<LayerKind> told;
          for (const LayerRun& run : layer_runs(model, some, first, 7)) {
            told.insert(told.end(), static_cast<std::size_t>(run.layers), run.kind);
          }
          ASSERT_EQ(told.size(), 7U);
          for (int layer = 0; layer < 7; ++layer) {
            EXPECT_EQ(told[static_cast<std::size_t>(layer)],
                      layer_kind(model, some, first + layer));
          }
        }
      }
    }
  }
  EXPECT_TRUE(layer_runs(llama_8b(), parallelism, 0, 0).empty());
}

TEST(Remade, KeepsTheLayersBetweenPeriods) {
  ParallelismSpec parallelism = split(1, 1);
  parallelism.recompute = Recompute::full;
  parallelism.recompute_period = 3;
  EXPECT_EQ(layer_runs(llama_8b(), parallelism, 0, 5),
            (std::vector<LayerRun>{{{false, false, false}, 1},
                                   {{false, false, true}, 2},
                                   {{false, false, false}, 1},
                                   {{false, false, true}, 1}}));
  EXPECT_FALSE(remade(FrameworkSpec{}, parallelism, {false, false, true}).all);
  EXPECT_TRUE(remade(FrameworkSpec{}, parallelism, {}).all);
}

TEST(ChunkLayers, DivideTheModelAsListed) {
  // DeepSeek-V3 on 4 stages of 4 chunks: 15 of 4 layers, the last with one layer beside prediction
  // and loss.
  ParallelismSpec parallelism = split(1, 4);
  parallelism.virtual_stages = 4;
  parallelism.chunk_layers = std::vector<int>(15, 4);
  parallelism.chunk_layers.push_back(1);
  const StageLayout layout(deepseek_v3(), parallelism);
  EXPECT_EQ(layout.at(3, 3).layers, 1);
  EXPECT_EQ(layout.at(3, 3).first_layer, 60);
  EXPECT_EQ(layout.layers(0), 16);
  parallelism.chunk_layers.back() = 2;
  EXPECT_EQ(text(layout_problem(deepseek_v3(), parallelism)),
            "chunk_layers adds up to 62 layers, but the model has 61");
  parallelism.chunk_layers.pop_back();
  EXPECT_EQ(text(layout_problem(deepseek_v3(), parallelism)),
            "chunk_layers has 15 entries, but a micro-batch meets 16 chunks");
}

}  // namespace
}  // namespace headway::workload
