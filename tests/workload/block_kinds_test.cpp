// Parallel blocks, norms, windows in pieces, dropout and optimizer states, each by its algebra.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/kernels.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/optimizer_state.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;

ModelSpec side_by_side(int norms) {
  ModelSpec model = llama_8b();
  model.parallel_block = true;
  model.norms = norms;
  return model;
}

double tensor_bytes(const ModelSpec& model,
                    const ParallelismSpec& parallelism,
                    CollectiveKind kind) {
  const StepGraph graph = build_step_graph(model, recipe(8192, 16), parallelism, 2, 8);
  return collective_bytes(graph, Group::tensor, kind);
}

TEST(ParallelBlock, DoesTheWorkOfASerialOne) {
  const ParallelismSpec parallelism = split(8, 1);
  const double serial =
      matrix_work(build_step_graph(llama_8b(), recipe(8192, 16), parallelism, 2, 8));
  for (const int norms : {1, 2}) {
    const auto graph = build_step_graph(side_by_side(norms), recipe(8192, 16), parallelism, 2, 8);
    EXPECT_DOUBLE_EQ(matrix_work(graph), serial) << norms;
  }
}

// A serial layer reduces twice forward and twice backward, a parallel one once each: over 32 layers
// and 8 micro-batches of 8,192 tokens, 2 x 2 B x 8,192 x 4,096 less.
TEST(ParallelBlock, ReducesOnceEachWay) {
  ParallelismSpec parallelism = split(8, 1);
  parallelism.sequence = false;
  const double array = 2.0 * 8192 * 4096;
  const auto serial = tensor_bytes(llama_8b(), parallelism, CollectiveKind::all_reduce);
  const auto parallel = tensor_bytes(side_by_side(1), parallelism, CollectiveKind::all_reduce);
  EXPECT_NEAR((serial - parallel) / (32 * 8 * 2 * array), 1, 1e-12);
  // Two norms: the gradients of their outputs are different arrays.
  const auto two = tensor_bytes(side_by_side(2), parallelism, CollectiveKind::all_reduce);
  EXPECT_NEAR((serial - two) / (32 * 8 * 1 * array), 1, 1e-12);
}

// Gathers of a serial layer: 2 forward, 2 of gradients, 2 again for weight gradients; of a parallel
// one with one norm: 1 + 1 + 1. Scatters: 4 against 2.
TEST(ParallelBlock, GathersHalfAsOftenWithSequenceParallelism) {
  const ParallelismSpec parallelism = split(8, 1);
  const double array = 2.0 * 8192 * 4096;
  const auto less = [&](CollectiveKind kind) {
    return (tensor_bytes(llama_8b(), parallelism, kind) -
            tensor_bytes(side_by_side(1), parallelism, kind)) /
           (32 * 8 * array);
  };
  EXPECT_NEAR(less(CollectiveKind::all_gather), 3, 1e-9);
  EXPECT_NEAR(less(CollectiveKind::reduce_scatter), 2, 1e-9);
}

TEST(ParallelBlock, RunsInEveryScheduleWithEveryRecompute) {
  for (const ScheduleKind schedule : {ScheduleKind::one_f_one_b, ScheduleKind::zero_bubble_h1}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      ParallelismSpec parallelism = split(2, 4);
      parallelism.schedule = schedule;
      parallelism.recompute = recompute;
      const auto serial = build_step_graph(llama_8b(), recipe(8192, 16), parallelism, 2, 8);
      const auto parallel = build_step_graph(side_by_side(1), recipe(8192, 16), parallelism, 2, 8);
      EXPECT_DOUBLE_EQ(matrix_work(parallel), matrix_work(serial));
    }
  }
}

// Without a second norm the residual stream between the halves and the second norm's output are not
// kept: 2 x 2 B x 8,192 x 4,096 bytes a layer on one rank.
TEST(BlockMemory, OfOneNormKeepsTwoArraysLess) {
  const auto kept = [](const ModelSpec& model) {
    return saved_per_layer(model, recipe(8192, 16), split(1, 1), {}).si();
  };
  const double array = 2.0 * 8192 * 4096;
  EXPECT_DOUBLE_EQ(kept(llama_8b()) - kept(side_by_side(1)), 2 * array);
  ModelSpec four = llama_8b();
  four.norms = 4;
  EXPECT_DOUBLE_EQ(kept(four) - kept(llama_8b()), 2 * array);
  ModelSpec normed = llama_8b();
  normed.query_key_norm = true;  // queries of 4,096, keys of 1,024 before their norms
  EXPECT_DOUBLE_EQ(kept(normed) - kept(llama_8b()), 2.0 * 8192 * (4096 + 1024));
}

TEST(BlockParameters, CountTheNorms) {
  ModelSpec four = llama_8b();
  four.norms = 4;
  EXPECT_DOUBLE_EQ(count_parameters(four).total() - count_parameters(llama_8b()).total(),
                   32 * 2 * 4096.0);
}

// Pieces of w tokens see w/2 keys on average; a rest of r tokens r/2: 20,000 = 2 x 8,192 + 3,616.
TEST(ChunkedWindow, AttendsWithinItsPieces) {
  EXPECT_DOUBLE_EQ(mean_causal_keys(recipe(16384, 8), {8192, true}), 4096);
  EXPECT_DOUBLE_EQ(mean_causal_keys(recipe(20000, 8), {8192, true}),
                   (2 * 8192.0 * 8192 + 3616.0 * 3616) / (2 * 20000));
  EXPECT_DOUBLE_EQ(mean_causal_keys(recipe(4096, 8), {8192, true}), 2048);
  // A window that slides sees up to all of its tokens.
  EXPECT_GT(mean_causal_keys(recipe(16384, 8), {8192, false}), 4096);
}

TEST(Dropout, IsTheModelsOwnWhereItSaysSo) {
  ModelSpec model = gpt_175b();
  EXPECT_TRUE(rank_shape(model, recipe(2048, 8), split(8, 1)).dropout);
  model.dropout = false;
  EXPECT_FALSE(rank_shape(model, recipe(2048, 8), split(8, 1)).dropout);
}

TEST(Rotary, IsLeftOutWithAlibi) {
  ModelSpec model = llama_8b();
  const RankShape shape = rank_shape(model, recipe(2048, 8), split(8, 1));
  EXPECT_EQ(rotary(model, shape, {}, false).size(), 2U);
  model.rotary = false;
  EXPECT_TRUE(rotary(model, shape, {}, false).empty());
}

// Master weight 4 B and moments 8, 4, 2 + 8/256, 4 B; read and written, and 2 B of the 16-bit
// weight.
TEST(OptimizerState, HasItsBytes) {
  EXPECT_DOUBLE_EQ(optimizer_bytes(OptimizerState::adam_fp32), 12);
  EXPECT_DOUBLE_EQ(optimizer_bytes(OptimizerState::adam_bf16), 8);
  EXPECT_DOUBLE_EQ(optimizer_bytes(OptimizerState::adam_8bit), 6.03125);
  EXPECT_DOUBLE_EQ(optimizer_bytes(OptimizerState::sgd_momentum), 8);
  EXPECT_DOUBLE_EQ(update_bytes(OptimizerState::adam_fp32), 26);
  EXPECT_DOUBLE_EQ(update_bytes(OptimizerState::adam_bf16), 18);
}

TEST(OptimizerState, FillsTheStagesMemory) {
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1, Sharding::zero2}) {
    ParallelismSpec parallelism = split(8, 1);
    parallelism.sharding = sharding;
    TrainingSpec training = recipe(8192, 16);
    const double full = stage_memory(llama_8b(), training, parallelism, 2, 8)[0].optimizer.si();
    training.optimizer_state = OptimizerState::adam_bf16;
    const double half = stage_memory(llama_8b(), training, parallelism, 2, 8)[0].optimizer.si();
    EXPECT_NEAR(half / full, 8.0 / 12.0, 1e-12);
  }
}

TEST(Unsupported, NamesWhatBlocksCannotBe) {
  using testing::Contains;
  using testing::HasSubstr;
  ModelSpec model = llama_8b();
  model.norms = 1;
  EXPECT_THAT(texts(unsupported(model, recipe(8192, 16), split(8, 1))),
              Contains(HasSubstr("only parallel blocks share it")));
  ModelSpec mixture = mixtral_8x7b();
  mixture.parallel_block = true;
  EXPECT_THAT(texts(unsupported(mixture, recipe(8192, 16), split(8, 1))),
              Contains(HasSubstr("parallel blocks of model")));
  TrainingSpec training = recipe(8192, 16);
  training.optimizer_state = OptimizerState::muon;
  ParallelismSpec parallelism = split(8, 1);
  EXPECT_TRUE(unsupported(llama_8b(), training, parallelism).empty());
  parallelism.sharding = Sharding::zero2;
  EXPECT_THAT(texts(unsupported(llama_8b(), training, parallelism)),
              Contains(HasSubstr("optimizer_state muon with sharding zero2 is not simulated")));
}

}  // namespace
}  // namespace headway::workload
