#include "sim/workload/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"

#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;

TEST(StageLayout, PutsEmbeddingFirstAndHeadLast) {
  const StageLayout layout(llama_8b(), split(1, 4));
  EXPECT_TRUE(layout.at(0, 0).embedding);
  EXPECT_TRUE(layout.at(3, 0).head);
  EXPECT_FALSE(layout.at(1, 0).embedding || layout.at(1, 0).head);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(layout.layers(stage), 8);
    EXPECT_EQ(layout.at(stage, 0).first_layer, 8 * stage);
  }
}

TEST(StageLayout, GivesShortEndStagesAsLlama405bHas) {
  ParallelismSpec parallelism = split(8, 16);
  EXPECT_EQ(text(layout_problem(llama_405b(), parallelism)),
            "126 layers do not divide over 16 pipeline stages; set first_stage_layers and "
            "last_stage_layers to 7");
  EXPECT_THROW(StageLayout(llama_405b(), parallelism), core::Error);
  parallelism.first_stage_layers = parallelism.last_stage_layers = 7;
  parallelism.virtual_stages = 8;
  const StageLayout layout(llama_405b(), parallelism);
  EXPECT_EQ(layout.at(0, 0).layers, 0);  // only the embedding
  EXPECT_EQ(layout.at(0, 1).layers, 1);
  EXPECT_EQ(layout.at(15, 7).layers, 0);  // only the head
  int sum = 0;
  for (int stage = 0; stage < 16; ++stage) {
    sum += layout.layers(stage);
  }
  EXPECT_EQ(sum, 126);
}

TEST(StageLayout, RefusesChunksThatDoNotDivide) {
  ParallelismSpec parallelism = split(1, 4);
  parallelism.virtual_stages = 3;
  EXPECT_EQ(text(layout_problem(llama_8b(), parallelism)),
            "the 8 layers of pipeline stage 1 do not divide over 3 virtual stages");
}

// A layer multiplies by 4 x 2,048^2 + 3 x 2,048 x 8,192 = 67.1 M weights, the head by 131,072 x
// 2,048 = 268.4 M, as 4 layers: 20 in all. Two stages are full at 10, four at 5, 10, 15; eight at
// 2.5, 5, 7.5, ..., 17.5, where 16 layers end.
TEST(LayersByCost, CountsTheHeadAsTheLayersItIsWorth) {
  ModelSpec model = llama("1B", 16, 2048, 32, 8192);
  model.key_value_heads = 32;
  model.head_dim = 64;
  model.vocabulary = 131072;
  EXPECT_THAT(layers_by_cost(model, 1), testing::ElementsAre(16));
  EXPECT_THAT(layers_by_cost(model, 2), testing::ElementsAre(10, 6));
  EXPECT_THAT(layers_by_cost(model, 4), testing::ElementsAre(5, 5, 5, 1));
  EXPECT_THAT(layers_by_cost(model, 8), testing::ElementsAre(3, 2, 3, 2, 3, 2, 1, 0));
  EXPECT_THAT(layers_by_cost(model, 17), testing::Each(testing::Le(1)));
}

TEST(Chunks, FormOneChainInEverySchedule) {
  using K = ScheduleKind;
  for (const K kind :
       {K::one_f_one_b, K::interleaved, K::zero_bubble_v, K::dual_pipe, K::dual_pipe_v}) {
    const int chunks = chunks_per_stage(kind, kind == K::interleaved ? 3 : 1);
    const int length = kind == K::dual_pipe ? 4 : 4 * chunks;
    StageChunk at{0, 0};
    int steps = 1;
    for (auto next = next_chunk(kind, 4, chunks, at); next;
         next = next_chunk(kind, 4, chunks, at)) {
      EXPECT_EQ(previous_chunk(kind, 4, chunks, *next), at);
      at = *next;
      ++steps;
    }
    EXPECT_EQ(steps, length) << core::to_word(kind);
  }
}

// Stage i holds what stage i of 1F1B holds, and what stage p-1-i holds; both ends have the
// embedding and the head. A stage is one chunk for each direction, so odd numbers of layers do.
TEST(StageLayout, OfTwoDirectionsHoldsEveryLayerOnAStageAndItsMirror) {
  ModelSpec model = llama_405b();
  model.layers = 12;
  ParallelismSpec parallelism = split(1, 4);
  parallelism.schedule = ScheduleKind::dual_pipe;
  EXPECT_EQ(text(layout_problem(model, parallelism)), "");
  EXPECT_EQ(copies_of_layers(parallelism), 2);
  EXPECT_TRUE(ends_share_stage(model, parallelism));
  const StageLayout layout(model, parallelism);
  EXPECT_EQ(layout.chunks(), 2);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(layout.at(stage, 0), (ChunkLayout{stage, 0, 3 * stage, 3, stage == 0, stage == 3}));
    EXPECT_EQ(layout.at(stage, 1),
              (ChunkLayout{stage, 1, 3 * (3 - stage), 3, stage == 3, stage == 0}));
    EXPECT_EQ(layout.layers(stage), 6);
  }
  parallelism.chunk_layers = {4, 4, 3, 1};
  EXPECT_EQ(StageLayout(model, parallelism).at(3, 0).layers, 1);
  EXPECT_EQ(StageLayout(model, parallelism).at(3, 1).layers, 4);
  parallelism.schedule = ScheduleKind::dual_pipe_v;
  EXPECT_EQ(copies_of_layers(parallelism), 1);
}

}  // namespace
}  // namespace headway::workload
