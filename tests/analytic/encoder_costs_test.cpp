// An encoder of images as the analytic tier reads it off probes.
#include "sim/analytic/encoder_costs.h"

#include <gtest/gtest.h>
#include <iostream>

#include "sim/analytic/chunk_costs.h"
#include "sim/workload/vision/encoder.h"

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
  ChunkScratch scratch;
  const auto time = [&](workload::Pass pass) {
    return chunk_costs(chunk, {}, rank, {}, scratch).passes[static_cast<std::size_t>(pass)];
  };
  EXPECT_DOUBLE_EQ(time(workload::Pass::forward), 2);
  chunk.encoder = true;
  EXPECT_DOUBLE_EQ(time(workload::Pass::forward), 2 + 4);
  EXPECT_DOUBLE_EQ(time(workload::Pass::backward), 4 + 8);
}

// In front of the stage with the embedding, which receives tokens of images.
TEST(EncoderCosts, AreAllOfAStageOfItsOwn) {
  RankCosts rank;
  rank.forward = {0, 1, 2};
  rank.backward = {0, 2, 4};
  rank.weight_gradient = {0, 0, 0};
  rank.encoder_forward = {0, 0.5, 3.5, 4};
  rank.encoder_backward = {0, 7, 8};
  rank.receive = 0.1;
  rank.receive_images = 0.01;
  ChunkClass chunk;
  ChunkScratch scratch;
  const auto time = [&](workload::Pass pass) {
    return chunk_costs(chunk, {}, rank, {}, scratch).passes[static_cast<std::size_t>(pass)];
  };
  chunk.encoder = true;
  EXPECT_DOUBLE_EQ(time(workload::Pass::forward), 4);
  EXPECT_DOUBLE_EQ(time(workload::Pass::backward), 8 + 0.01);
  chunk.encoder = false;
  chunk.embedding = true;
  chunk.layers = 2;
  EXPECT_DOUBLE_EQ(time(workload::Pass::forward), 2 + 0.01);
  EXPECT_DOUBLE_EQ(time(workload::Pass::backward), 4 + 0.1);
}

/// A stage of its own in front of one or more that share the layers.
void give_own_stage(const Draw& pick, Scenario& s) {
  auto& p = s.parallelism;
  s.model.vision->stage = workload::EncoderStage::own;
  p.virtual_stages = 1;
  // GPipe with sharded gradients is among the tier's limits (sim/analytic/README.md).
  const bool gpipe = pick(false, false, true) && p.sharding <= workload::Sharding::zero1;
  p.schedule = gpipe ? workload::ScheduleKind::gpipe : workload::ScheduleKind::one_f_one_b;
  p.first_stage_layers = p.last_stage_layers = 0;
  s.model.layers = std::max(1, p.pipeline - 1) * pick(4, 6, 8);
  if (p.pipeline > 2 && pick(true, false)) {  // the last holds fewer, beside the head
    const int each = s.model.layers / (p.pipeline - 1);
    s.model.layers -= 2;
    p.last_stage_layers = each - 2;
  }
  if (s.model.frozen) {
    s.model.frozen->layers = s.model.layers;
  }
}

/// An encoder beside a random layout, or nothing where it does not fit.
/// @param own  on a stage of its own
std::optional<CheckedScenario> seeing(std::mt19937& random, bool own) {
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
  vision.context = pick(workload::EncoderContext::split, workload::EncoderContext::whole);
  s.model.vision = vision;
  s.training.images = workload::ImagesSpec{pick(0.5, 2.0, 3.5), 1, {{256, 3}, {400, 1}}};
  if (vision.trained != workload::EncoderTraining::none && pick(true, false, false)) {
    s.model.frozen = workload::FrozenSpec{s.model.layers, true, true};
    s.model.tied_embeddings = false;
    s.model.multi_token_prediction = 0;
    s.parallelism.offload = workload::Offload::none;
  }
  if (own) {
    give_own_stage(pick, s);
  }
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
  int staged = 0, sharded = 0, frozen = 0, whole = 0, dealt = 0, alike = 0;
  while (agreement.compared() < 80) {
    const auto layout = seeing(random, false);
    if (!layout || !agreement.compare(*layout)) {
      continue;
    }
    const auto& s = layout->scenario();
    staged += s.parallelism.pipeline > 2 ? 1 : 0;
    sharded += s.parallelism.sharding >= workload::Sharding::zero3 ? 1 : 0;
    frozen += s.model.frozen ? 1 : 0;
    whole += s.model.vision->tensor == workload::EncoderTensor::whole ? 1 : 0;
    const bool deals = workload::deals_images(s.model, s.parallelism);
    dealt += deals ? 1 : 0;
    alike += s.parallelism.context > 1 && !deals ? 1 : 0;
  }
  EXPECT_GT(staged, 10);
  EXPECT_GT(sharded, 10);
  EXPECT_GT(frozen, 5);
  EXPECT_GT(whole, 10);
  EXPECT_GT(dealt, 3);
  EXPECT_GT(alike, 3);
  std::cout << agreement.text();
}

// A stage of the encoder's own: its passes, the messages to the next, its reductions and gathers.
TEST(AnalyticTier, AgreesWithTheSimulationOfAnEncodersOwnStage) {
  std::mt19937 random(23);
  Agreement agreement;
  int deep = 0, sharded = 0, still = 0, blocking = 0, tied = 0, dealt = 0;
  while (agreement.compared() < 80) {
    const auto layout = seeing(random, true);
    if (!layout || !agreement.compare(*layout)) {
      continue;
    }
    const auto& s = layout->scenario();
    deep += s.parallelism.pipeline > 4 ? 1 : 0;
    sharded += s.parallelism.sharding >= workload::Sharding::zero3 ? 1 : 0;
    still += s.model.vision->trained == workload::EncoderTraining::none ? 1 : 0;
    blocking += s.training.framework.pipeline_overlap ? 0 : 1;
    tied += s.model.tied_embeddings && s.parallelism.pipeline > 2 ? 1 : 0;
    dealt += workload::deals_images(s.model, s.parallelism) ? 1 : 0;
  }
  EXPECT_GT(deep, 5);
  EXPECT_GT(sharded, 5);
  EXPECT_GT(still, 5);
  EXPECT_GT(blocking, 5);
  EXPECT_GT(tied, 5);
  EXPECT_GT(dealt, 3);
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
