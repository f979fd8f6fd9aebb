// A step whose encoder of images has a pipeline stage of its own.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/training/assumptions/assumptions.h"
#include "sim/training/explain/explain.h"
#include "sim/training/explain/stage_advice.h"
#include "sim/training/imbalance/rank_imbalance.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/step.h"
#include "sim/training/step/step_inputs.h"

#include "tests/training/fixture.h"
#include "tests/training/same_step.h"

namespace headway::training {
namespace {

/// 8 nodes, TP 2; an encoder in front of two stages of eight layers, 24 layers of 1,024.
Scenario three_stages(int data) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 3;
  s.parallelism.tensor = 2;
  s.parallelism.pipeline = 3;
  s.parallelism.data = data;
  workload::VisionSpec vision;
  vision.layers = 24;
  vision.hidden = 1024;
  vision.heads = 16;
  vision.ffn = 4096;
  vision.merge = 2;
  vision.projector_ffn = 4096;
  vision.stage = workload::EncoderStage::own;
  s.model.vision = vision;
  s.training.images = workload::ImagesSpec{4, 0, {{256, 1}}};
  return s;
}

TEST(OwnEncoderStage, FoldedIsRankByRank) {
  for (const auto order : {workload::RankOrder::data_first, workload::RankOrder::pipeline_first}) {
    for (const auto sharding : {workload::Sharding::zero1, workload::Sharding::zero3}) {
      Scenario s = three_stages(4);
      s.parallelism.rank_order = order;
      s.parallelism.sharding = sharding;
      s.model.tied_embeddings = true;
      expect_the_same_step(s);
    }
  }
}

// In steady state a micro-batch more takes what it does on the slowest stage: of its encoder where
// that is large, else of the layers.
TEST(OwnEncoderStage, PacesAPipelineWhereItIsTheSlowest) {
  for (const int layers : {8, 600}) {
    Scenario s = three_stages(4);
    s.model.vision->layers = layers;
    s.training.global_batch = 4 * 24;
    const StepResult few = simulate_step(check(s));
    s.training.global_batch = 4 * 48;
    const StepResult many = simulate_step(check(s));
    std::vector<double> more;  // 24 micro-batches, stage by stage
    for (std::size_t stage = 0; stage < 3; ++stage) {
      more.push_back((many.stage_work[stage] - few.stage_work[stage]).si());
    }
    const auto slowest = std::max_element(more.begin(), more.end());
    EXPECT_EQ(slowest - more.begin(), layers == 600 ? 0 : 2);
    EXPECT_NEAR((many.time - few.time).si() / *slowest, 1, 0.02) << layers;
  }
}

// The encoder's work is the same on its own stage as on the first one.
TEST(OwnEncoderStage, TakesTheEncodersWorkOffTheFirst) {
  Scenario s = three_stages(4);
  const StepResult own = simulate_step(check(s));
  s.model.vision->stage = workload::EncoderStage::first;
  s.parallelism.pipeline = 2;
  s.cluster.nodes = 2;
  const StepResult first = simulate_step(check(s));
  const auto work = [](const StepResult& step, std::size_t stage) {
    return step.stage_work[stage].si();
  };
  EXPECT_NEAR((work(own, 0) + work(own, 1)) / work(first, 0), 1, 0.02);
  EXPECT_NEAR(work(own, 2) / work(first, 1), 1, 0.01);
  EXPECT_LT(own.time, first.time);
}

TEST(OwnEncoderStage, IsNotAmongThoseWithATiedTable) {
  Scenario s = three_stages(4);
  const RankLayout layout = rank_layout(check(s));
  const core::Rank head = layout.rank({.data = 1, .pipeline = 2});
  const auto both = layout.members(workload::Group::embedding, head);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(layout.coordinates(both[0]).pipeline, 1);
  EXPECT_EQ(both[1], head);
  EXPECT_EQ(layout.leader(workload::Group::embedding, head), both[0]);
  const RankLayout pair(s.parallelism, 4, 0, {}, 1, 2);  // the last stage has both
  EXPECT_EQ(pair.members(workload::Group::embedding, head).size(), 1U);
}

// Advice moves layers between the stages that have some, whatever the encoder's has to do.
TEST(OwnEncoderStage, GetsNoLayersByAdvice) {
  Scenario s = three_stages(4);
  s.model.vision->layers = 2;
  s.model.vocabulary = 512000;
  s.training.global_batch = 128;
  const auto checked = check(s);
  const auto advice = stage_advice(checked, simulate_step(checked));
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->chunk_layers.front(), 0);
  EXPECT_LT(advice->chunk_layers.back(), 8);
  EXPECT_LT(advice->after, advice->before);
}

TEST(OwnEncoderStage, IsAssumedAloud) {
  const Scenario s = three_stages(4);
  const auto step = simulate_step(check(s));
  const auto line = std::find_if(step.assumptions.begin(), step.assumptions.end(),
                                 [](const auto& one) { return one.key == "model.vision.stage"; });
  ASSERT_NE(line, step.assumptions.end());
  // 4 x 256 tokens x 4,096 x 2 bytes.
  EXPECT_EQ(line->value, "8.389 MB of image tokens a micro-batch to the next stage");
}

// Its kernels alone vary; what it has to spare beside a slower stage is used up first.
TEST(OwnEncoderStage, WaitsForImagesOnceItsTimeToSpareIsUsedUp) {
  Scenario s = three_stages(4);
  s.training.images->deviation = 2;
  const MicroBatchSpread own = micro_batch_spread(s, s.parallelism);
  EXPECT_EQ(own.language.deviation, 0);
  EXPECT_GT(own.encoder.spare, 0);  // eight layers of 4,096 beside 24 of 1,024
  Scenario beside = s;
  beside.model.vision->stage = workload::EncoderStage::first;
  beside.parallelism.pipeline = 2;
  const MicroBatchSpread first = micro_batch_spread(beside, beside.parallelism);
  EXPECT_EQ(first.encoder.deviation, 0);
  // Inserting tokens, a share of a percent, is the next stage's.
  EXPECT_NEAR(own.encoder.deviation / first.language.deviation, 1, 0.01);
  // As large as the slowest stage it has nothing to spare, and the others have.
  s.model.vision->layers = 600;
  const MicroBatchSpread large = micro_batch_spread(s, s.parallelism);
  EXPECT_EQ(large.encoder.spare, 0);
  EXPECT_GT(large.language.spare, 0);
  const WaitFactors factors = wait_factors({4, 1});
  EXPECT_EQ(longest_wait(factors, 8, large).deviation, large.encoder.deviation);
  EXPECT_NEAR(rank_imbalance(s, s.parallelism, 4, 8).si() /
                  (large.encoder.deviation * std::sqrt(8.0) * factors.root),
              1, 1e-9);
}

/// Mean over steps of how much longer the slowest of `ranks` is than one of mean work: each the
/// longer of m micro-batches of its encoder, of mean 1, and m of another stage.
double drawn_with_spare(int ranks, int m, double deviation, double other) {
  constexpr std::uint32_t kSteps = 2000;
  double sum = 0;
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    const core::RandomStream stream(1, "own stage test", step);
    std::uint64_t at = 0;
    double slowest = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      double encoder = 0;
      for (int k = 0; k < m; ++k) {
        encoder += 1 + deviation * (stream.uniform(at++) - 0.5) * std::sqrt(12.0);
      }
      slowest = std::max({slowest, encoder, m * other});
    }
    sum += slowest - std::max<double>(m, m * other);
  }
  return sum / kSteps;
}

// With no time to spare, some, and more than images ever use.
TEST(OwnEncoderStage, WaitsAsDrawsDo) {
  constexpr int kRanks = 64, kMicroBatches = 16;
  const WaitFactors factors = wait_factors({kRanks, 1});
  for (const double other : {1.0, 1.1, 1.2, 2.0}) {
    const double form = expected_wait(factors, kMicroBatches, {0.5, other - 1}).si();
    const double drawn = drawn_with_spare(kRanks, kMicroBatches, 0.5, other);
    EXPECT_NEAR(form, drawn, 0.05 * expected_wait(factors, kMicroBatches, {0.5, 0}).si()) << other;
  }
  EXPECT_EQ(expected_wait(factors, kMicroBatches, {0.5, 1}).si(), 0);
}

}  // namespace
}  // namespace headway::training
