// Sparse attention over keys that an indexer chooses.
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;

/// deepseek-ai/DeepSeek-V3.2, config.json: V3 with an indexer of 64 heads of 128.
ModelSpec deepseek_v32() {
  ModelSpec model = deepseek_v3();
  model.sparse = SparseAttentionSpec{64, 128, 2048};
  return model;
}

/// Some layers of it.
ModelSpec few_layers() {
  ModelSpec model = deepseek_v32();
  model.layers = 6;
  model.multi_token_prediction = 0;
  return model;
}

TEST(SparseAttention, AddsAnIndexerToEveryLayer) {
  // modeling of DeepSeek-V3.2: wq_b 1536 x 64 x 128, wk 7168 x 128, weights_proj 7168 x 64, and
  // k_norm of 128 with bias.
  const double indexer = 1536.0 * 64 * 128 + 7168.0 * (128 + 64) + 2 * 128;
  EXPECT_EQ(count_parameters(deepseek_v32()).total(),
            count_parameters(deepseek_v3()).total() + 61 * indexer);
  EXPECT_EQ(count_parameters(deepseek_v32()).prediction,
            count_parameters(deepseek_v3()).prediction + indexer);
  // Each tensor rank has the indexer whole.
  ParallelismSpec parallelism = split(8, 1);
  parallelism.expert = 8;
  const LayerKind kind = prediction_kind(deepseek_v32(), parallelism);
  EXPECT_EQ(layer_parameters_per_rank(deepseek_v32(), parallelism, kind).shared,
            layer_parameters_per_rank(deepseek_v3(), parallelism, kind).shared + indexer);
}

TEST(SparseAttention, MeetsTheChosenKeysInTheirCompressedForm) {
  // 2048 of 16384 tokens leave 2048 (1 - 2048 / 32768) = 1920 keys; a pair is 2 (576 + 512) FLOP a
  // head. The indexer scores all s/2 keys, 2 x 64 x 128 each. Full conventions count twice as much.
  const ForwardFlops forward = forward_flops_per_token(few_layers(), 16384);
  EXPECT_DOUBLE_EQ(forward.attention_core.si(),
                   6 * 2 * (1920 * 2.0 * 128 * (576 + 512) + 8192 * 2.0 * 64 * 128));
  // Sequences shorter than that attend to all.
  EXPECT_DOUBLE_EQ(causal_keys(few_layers(), layer_kind(few_layers(), {}, 0), 2048), 1024);
}

TEST(SparseAttention, WorksAsTheClosedFormSays) {
  const int s = 8192;
  const double keys = 2048.0 * (1 - 2048.0 / (2 * s));
  const double all = s / 2.0;
  const double pair = 2.0 * 128;  // of one element of all heads
  const double index = 2.0 * 64 * 128;
  const ForwardFlops forward = forward_flops_per_token(few_layers(), s);
  const double queries = 2 * 1536.0 * 64 * 128;
  const double index_keys = 2 * 7168.0 * (128 + 64);
  // Matrices three times but those of the indexer, whose input has no gradient.
  const double matrices = 3 * forward.linear().si() - 6 * (queries + index_keys);
  // Attention forward and backward, the target of the indexer, its products over the chosen keys.
  const double attention = keys * pair * (576 + 512 + 3 * 576 + 2 * 512 + 576);
  const double scores = all * index + 3 * keys * index;
  for (const int tensor : {1, 4}) {
    ParallelismSpec parallelism = split(tensor, 1);
    parallelism.expert = tensor;
    const double executed =
        tensor * matrix_work(build_step_graph(few_layers(), recipe(s, 8), parallelism, 1, 8));
    // Every rank scores all keys with queries of its own making.
    const double again = (tensor - 1) * 6 * (scores + 2 * queries);
    EXPECT_NEAR(executed / (8.0 * s * (matrices + 6 * (attention + scores) + again)), 1, 1e-9)
        << tensor;
  }
}

TEST(SparseAttention, MovesScoresInFullAndGathersCompressedKeys) {
  const double tokens = 8.0 * 8192;
  const StepGraph one = build_step_graph(few_layers(), recipe(8192, 8), split(1, 1), 1, 8);
  // Every layer: scores of s / 2 keys in 32 bits, read for the choice; 2048 numbers written.
  EXPECT_DOUBLE_EQ(kernel_traffic(one, "index top-k"), 6 * tokens * 4.0 * (4096 + 2048));
  // Queries of 64 heads and a key of 128 read, scores written; backward over the 1792 chosen keys
  // of the mean, with the gradients of both.
  EXPECT_DOUBLE_EQ(kernel_traffic(one, "index scores"),
                   6 * tokens * (3 * 2.0 * (64 + 1) * 128 + 4.0 * 4096 + 8.0 * 1792));
  ParallelismSpec parallelism = split(4, 1);
  parallelism.expert = 4;
  const auto gathered = [&](const ModelSpec& model, const char* name) {
    return bytes_of(build_step_graph(model, recipe(8192, 8), parallelism, 1, 8), name);
  };
  // In 16 bits: 512 and 64 compressed elements a token; dense attention 64; the indexer's 128 + 64.
  ModelSpec dense = few_layers();
  dense.sparse.reset();
  const double shared = gathered(dense, "gather shared keys") / (6 * tokens * 2);
  EXPECT_DOUBLE_EQ(shared, 64);
  EXPECT_DOUBLE_EQ(gathered(few_layers(), "gather shared keys") / (6 * tokens * 2), 512 + 64);
  EXPECT_DOUBLE_EQ(gathered(few_layers(), "gather index keys") / (6 * tokens * 2), 128 + 64);
  // Probabilities of the 1792 chosen keys of the mean, summed over the heads of all ranks in fp32.
  EXPECT_DOUBLE_EQ(gathered(few_layers(), "reduce index target") / (6 * tokens * 4), 1792);
  EXPECT_EQ(bytes_of(one, "reduce index target"), 0);
}

TEST(SparseAttention, KeepsTheCompressedFormAndTheChoice) {
  const LayerKind kind = layer_kind(few_layers(), {}, 0);
  const TrainingSpec training = recipe(8192, 8);
  const double dense = saved_per_layer(deepseek_v3(), training, split(1, 1), kind).si() / 8192;
  const double sparse = saved_per_layer(few_layers(), training, split(1, 1), kind).si() / 8192;
  // Not queries of 192 and keys and values of 192 and 128 a head, nor outputs of 128; but absorbed
  // queries of 576, outputs of 512, queries of 128 before, values of 128 after, the indexer's
  // arrays and 2048 numbers.
  const double expanded = 2 * 128.0 * (192 + 192 + 128 + 128);
  const double absorbed = 2 * 128.0 * (576 + 512 + 128 + 128);
  EXPECT_DOUBLE_EQ(sparse - dense, absorbed - expanded + 2 * (64.0 * 128 + 128 + 64) + 4 * 2048.0);
}

/// GLM-5.2's division: layers 0, 1, 2 have an indexer, then every fourth.
ModelSpec sharing_indexers(ModelSpec model) {
  model.sparse->period = 4;
  model.sparse->leading_layers = 2;
  return model;
}

// Of 61 layers 0, 1 and 2, 6, ..., 58 have an indexer: 2 + 15. A prediction module has its own.
TEST(SharedIndexers, AreWeightsOfSomeLayersAlone) {
  const double indexer = 1536.0 * 64 * 128 + 7168.0 * (128 + 64) + 2 * 128;
  const ModelSpec model = sharing_indexers(deepseek_v32());
  EXPECT_EQ(count_parameters(model).total(),
            count_parameters(deepseek_v3()).total() + 17 * indexer);
  EXPECT_EQ(count_parameters(model).prediction,
            count_parameters(deepseek_v3()).prediction + indexer);
  const LayerKind last = layer_kind(model, {}, 60);
  EXPECT_TRUE(last.reuses);
  EXPECT_EQ(layer_parameters_per_rank(model, split(8, 1), last).shared,
            layer_parameters_per_rank(deepseek_v3(), split(8, 1), last).shared);
}

// Of six layers 0, 1 and 2 score keys; all six attend to those that were chosen.
TEST(SharedIndexers, ScoreKeysForTheLayersBehindThem) {
  const ModelSpec model = sharing_indexers(few_layers());
  const ForwardFlops forward = forward_flops_per_token(model, 16384);
  EXPECT_DOUBLE_EQ(forward.attention_core.si(),
                   6 * 2 * 1920 * 2.0 * 128 * (576 + 512) + 3 * 2 * 8192 * 2.0 * 64 * 128);
  const double tokens = 8.0 * 8192;
  const StepGraph graph = build_step_graph(model, recipe(8192, 8), split(1, 1), 1, 8);
  EXPECT_DOUBLE_EQ(kernel_traffic(graph, "index top-k"), 3 * tokens * 4.0 * (4096 + 2048));
  const StepGraph all = build_step_graph(few_layers(), recipe(8192, 8), split(1, 1), 1, 8);
  EXPECT_DOUBLE_EQ(kernel_traffic(graph, "index target"), kernel_traffic(all, "index target") / 2);
  const TrainingSpec training = recipe(8192, 8);
  ModelSpec mixtures = model;
  mixtures.moe->leading_dense_layers = 0;
  const auto kept_of_mixture = [&](int layer) {
    return saved_per_layer(mixtures, training, split(1, 1), layer_kind(mixtures, {}, layer)).si() /
           8192;
  };
  EXPECT_DOUBLE_EQ(kept_of_mixture(2) - kept_of_mixture(3),
                   2 * (64.0 * 128 + 128 + 64) + 4 * 2048.0);
}

TEST(SharedIndexers, BeginEveryStage) {
  const ModelSpec model = sharing_indexers(few_layers());
  ParallelismSpec parallelism = split(1, 2);
  const auto problem = layout_problem(model, parallelism);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->path, "parallelism.pipeline");
  EXPECT_EQ(
      problem->text,
      "layer 3 begins a stage and attends to keys that the indexer of an earlier layer chose; "
      "which they are is not sent to another stage: write chunk_layers that begin with layers "
      "0 to 2 or with one of every 4 after it");
  parallelism.chunk_layers = {2, 4};
  EXPECT_FALSE(layout_problem(model, parallelism));
  EXPECT_FALSE(layout_problem(few_layers(), split(1, 2)));
  ModelSpec idle = few_layers();
  idle.sparse->leading_layers = 1;
  EXPECT_EQ(texts(unsupported(idle, recipe(4096, 8), split(1, 1))),
            std::vector<std::string>{"each layer of model 'DeepSeek-V3' has an indexer; "
                                     "leading_layers belongs to a 'period' of 2 or more"});
}

TEST(SparseAttention, IsRefusedWhereItIsNotKnown) {
  const auto said = [](const ModelSpec& model, const ParallelismSpec& parallelism) {
    const auto all = texts(unsupported(model, recipe(4096, 8), parallelism));
    return all.empty() ? std::string() : all.front();
  };
  EXPECT_EQ(said(deepseek_v32(), split(8, 1)), "");
  ParallelismSpec context = split(1, 1);
  context.context = 2;
  EXPECT_EQ(said(deepseek_v32(), context),
            "sparse attention over context ranks needs the keys of whole sequences on each, and "
            "context_kind is ring: which keys are chosen is known on no rank before all have been "
            "scored; write context_kind: all-gather");
  context.context_kind = ContextKind::all_gather;
  EXPECT_EQ(said(deepseek_v32(), context), "");
  ModelSpec plain = llama_8b();
  plain.sparse = SparseAttentionSpec{};
  EXPECT_EQ(said(plain, split(1, 1)),
            "sparse attention of model 'Llama 3.1 8B' needs 'latent' with compressed queries "
            "(query_rank), which its indexer reads");
  ModelSpec windowed = deepseek_v32();
  windowed.window = 4096;
  EXPECT_EQ(said(windowed, split(1, 1)),
            "sparse attention of model 'DeepSeek-V3' with a window is not simulated");
}

}  // namespace
}  // namespace headway::workload
