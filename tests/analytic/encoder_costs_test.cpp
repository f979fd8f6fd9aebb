// An encoder of images as the analytic tier reads it off probes.
#include "sim/analytic/encoder_costs.h"

#include <gtest/gtest.h>
#include <iostream>

#include "sim/analytic/chunk_costs.h"

#include "tests/analytic/random_layouts.h"

namespace headway::analytic {
namespace {

TEST(EncoderCosts, LengthenThePassesOfTheFirstChunk) {
  RankCosts rank;
  rank.forward = {0, 1, 2};
  rank.backward = {0, 2, 4};
  rank.weight_gradient = {0, 0, 0};
  rank.encoder_forward = {0, 0.5, 3.5, 4};
  rank.encoder_backward = {0, 7, 8};
  ChunkClass chunk;
  chunk.layers = 2;
  Timeline line;
  const auto time = [&](workload::Pass pass) {
    return chunk_costs(chunk, rank, {}, line).passes[static_cast<std::size_t>(pass)];
  };
  EXPECT_DOUBLE_EQ(time(workload::Pass::forward), 2);
  chunk.embedding = true;
  EXPECT_DOUBLE_EQ(time(workload::Pass::forward), 2 + 4);
  EXPECT_DOUBLE_EQ(time(workload::Pass::backward), 4 + 8);
}

/// An encoder beside a random layout, or nothing where it does not fit.
std::optional<CheckedScenario> seeing(std::mt19937& random) {
  const auto layout = random_layout(random);
  if (!layout) {
    return std::nullopt;
  }
  const Draw pick(random);
  Scenario s = layout->scenario();
  workload::VisionSpec vision;
  vision.layers = pick(4, 8);
  vision.hidden = pick(1024, 1280);
  vision.heads = 16;
  vision.ffn = pick(4096, 3424);
  vision.gated_mlp = pick(true, false);
  vision.rotary = true;
  vision.frames = 2;
  vision.window = pick(0, 64);
  vision.window_period = pick(1, 4);
  vision.merge = 2;
  vision.projector_ffn = pick(0, 4096);
  vision.projectors = pick(1, 2);
  vision.trained = pick(workload::EncoderTraining::all, workload::EncoderTraining::all,
                        workload::EncoderTraining::projector, workload::EncoderTraining::none);
  vision.tensor = pick(workload::EncoderTensor::split, workload::EncoderTensor::whole);
  s.model.vision = vision;
  s.training.images = workload::ImagesSpec{pick(0.5, 2.0, 3.5), 1, {{256, 3}, {400, 1}}};
  if (vision.trained != workload::EncoderTraining::none && pick(true, false, false)) {
    s.model.frozen = workload::FrozenSpec{s.model.layers, true, true};
    s.model.tied_embeddings = false;
    s.model.multi_token_prediction = 0;
    s.parallelism.offload = workload::Offload::none;
  }
  s.parallelism.context = 1;
  try {
    return check(s);
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

// Both tiers see it: its passes, its gathers, its reductions, the wait for the slowest rank.
TEST(AnalyticTier, AgreesWithTheSimulationOfWhatSees) {
  std::mt19937 random(19);
  Agreement agreement;
  int staged = 0, sharded = 0, frozen = 0, whole = 0;
  while (agreement.compared() < 80) {
    const auto layout = seeing(random);
    if (!layout || !agreement.compare(*layout)) {
      continue;
    }
    const auto& s = layout->scenario();
    staged += s.parallelism.pipeline > 2 ? 1 : 0;
    sharded += s.parallelism.sharding >= workload::Sharding::zero3 ? 1 : 0;
    frozen += s.model.frozen ? 1 : 0;
    whole += s.model.vision->tensor == workload::EncoderTensor::whole ? 1 : 0;
  }
  EXPECT_GT(staged, 10);
  EXPECT_GT(sharded, 10);
  EXPECT_GT(frozen, 5);
  EXPECT_GT(whole, 10);
  std::cout << agreement.text();
}

// Alone and together, and whatever was asked before.
TEST(AnalyticTier, WaitsForTheSlowestRankWhicheverWayItIsAsked) {
  Scenario s = eight_nodes();
  s.training.documents = {{512, 8}, {4096, 1}};
  s.parallelism.pipeline = 1;
  const auto checked = check(s);
  AnalyticTier tier(s);
  const AnalyticStep alone = tier.evaluate(checked);
  EXPECT_GT(alone.imbalance.si(), 0);
  EXPECT_NEAR((alone.pipeline + alone.reduction + alone.update + alone.imbalance) / alone.time, 1,
              1e-12);
  const LayoutAsked asked{&s.parallelism, checked.data_parallel(), checked.micro_batches()};
  std::vector<AnalyticStep> steps(1);
  tier.evaluate(std::span(&asked, 1), steps);
  EXPECT_EQ(steps[0].time.si(), alone.time.si());
  EXPECT_LE(tier.least(s.parallelism, checked.data_parallel(), checked.micro_batches()),
            alone.time);
  s.training.balanced_ranks = true;
  EXPECT_EQ(AnalyticTier(s).evaluate(check(s)).imbalance.si(), 0);
}

}  // namespace
}  // namespace headway::analytic
