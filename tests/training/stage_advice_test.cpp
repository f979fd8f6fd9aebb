#include "sim/training/explain/stage_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

/// 32 layers on four stages, 64 micro-batches, a head of 256,000 words.
Scenario wide_head() {
  Scenario s = eight_nodes();
  s.model.layers = 32;
  s.model.vocabulary = 256000;
  s.training.global_batch = 128;
  return s;
}

// The head has 256,000 x 4,096 weights, a layer 218 million, so the last stage has 4.8 layers more
// than its eight: the advice moves three of them, and the layout it
// names takes the time it says.
TEST(StageAdvice, TakesLayersFromTheStageWithTheHead) {
  Scenario s = wide_head();
  const auto checked = check(s);
  const StepResult step = simulate_step(checked);
  const auto advice = stage_advice(checked, step);
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->stage, 3);
  EXPECT_GT(advice->excess, 0.05);
  EXPECT_LT(advice->chunk_layers.back(), 8);
  EXPECT_EQ(std::accumulate(advice->chunk_layers.begin(), advice->chunk_layers.end(), 0), 32);
  s.parallelism.chunk_layers = advice->chunk_layers;
  const StepResult better = simulate_step(check(s));
  EXPECT_EQ(better.time, advice->after);
  EXPECT_LT(better.time, 0.97 * step.time);
  EXPECT_LT(better.breakdown[core::Activity::stage_imbalance],
            0.6 * step.breakdown[core::Activity::stage_imbalance]);
}

TEST(StageAdvice, SaysNothingWhereStagesAreEqual) {
  Scenario s = wide_head();
  s.model.vocabulary = 8;
  const auto checked = check(s);
  EXPECT_FALSE(stage_advice(checked, simulate_step(checked)).has_value());
}

TEST(StageAdvice, IsOneSentenceInTheFieldsOfTheScenario) {
  workload::ParallelismSpec layout;
  layout.pipeline = 4;
  const StageAdvice ends{3, 0.182, {9, 8, 8, 7}, core::Seconds(6.36), core::Seconds(5.92), {}};
  EXPECT_EQ(sentence_of(ends, layout),
            "Stage 3, the last, has 18.2 % more work than the mean of the stages: with "
            "parallelism.first_stage_layers: 9 and parallelism.last_stage_layers: 7 a step takes "
            "5.92 s instead of 6.36 s (-6.9 %).");
  const StageAdvice others{1, 0.1, {8, 7, 9, 8}, core::Seconds(2), core::Seconds(1.9), {}};
  EXPECT_THAT(sentence_of(others, layout),
              testing::HasSubstr("Stage 1 has 10 % more work than the mean of the stages: with "
                                 "parallelism.chunk_layers: [8, 7, 9, 8] a step takes"));
}

}  // namespace
}  // namespace headway::training
