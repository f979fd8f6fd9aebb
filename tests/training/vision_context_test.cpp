// Steps of a model that sees beside context ranks, which encode all images or each its own.
#include <gtest/gtest.h>

#include "sim/training/imbalance/rank_imbalance.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"
#include "tests/training/same_step.h"

namespace headway::training {
namespace {

using workload::EncoderContext;

/// One node, TP 2 x CP 2 x DP 2; eight images of 256 tokens before eight layers.
Scenario seeing_node(EncoderContext context) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 1;
  s.model.layers = 8;
  s.parallelism.tensor = 2;
  s.parallelism.context = 2;
  s.parallelism.pipeline = 1;
  workload::VisionSpec vision;
  vision.layers = 24;
  vision.hidden = 1024;
  vision.heads = 16;
  vision.ffn = 4096;
  vision.merge = 2;
  vision.projector_ffn = 4096;
  vision.projectors = 2;
  vision.context = context;
  s.model.vision = vision;
  s.training.images = workload::ImagesSpec{8, 0, {{256, 1}}};
  return s;
}

TEST(EncoderBesideContext, FoldedIsRankByRank) {
  for (const EncoderContext context : {EncoderContext::whole, EncoderContext::split}) {
    for (const auto kind : {workload::ContextKind::ring, workload::ContextKind::all_gather}) {
      Scenario s = seeing_node(context);
      s.parallelism.context_kind = kind;
      expect_the_same_step(s);
      s.parallelism.sharding = workload::Sharding::zero3;
      s.model.vision->trained = workload::EncoderTraining::none;
      expect_the_same_step(s);
    }
    Scenario own = seeing_node(context);
    own.cluster.nodes = 3;
    own.parallelism.pipeline = 3;
    own.model.vision->stage = workload::EncoderStage::own;
    expect_the_same_step(own);
    own.model.vision->trained = workload::EncoderTraining::projector;
    own.parallelism.rank_order = workload::RankOrder::pipeline_first;
    expect_the_same_step(own);
  }
}

double exposed(const StepResult& step, core::Activity activity) {
  return step.breakdown.values[static_cast<std::size_t>(activity)].si();
}

// Half of the images a rank: less is computed, and B bytes of tokens are gathered and their
// gradients summed over two ranks of one node: B / 2 and B bytes in and out of each at 450 GB/s at
// best, for two projectors and sixteen micro-batches.
TEST(EncoderBesideContext, DealtComputesLessAndExchangesTokens) {
  const StepResult whole = simulate_step(check(seeing_node(EncoderContext::whole)));
  const StepResult dealt = simulate_step(check(seeing_node(EncoderContext::split)));
  EXPECT_LT(dealt.time, whole.time);
  EXPECT_LT(exposed(dealt, core::Activity::compute), exposed(whole, core::Activity::compute));
  const double bytes = 2.0 * 8 * 256 * 4096;
  const double least = 16 * 2 * 1.5 * bytes / 450e9;
  const double more =
      exposed(dealt, core::Activity::context) - exposed(whole, core::Activity::context);
  EXPECT_GT(more, least);
  EXPECT_LT(more, 5 * least);
}

// With one size of images and their number varying, a rank's time varies with its share of them.
TEST(EncoderBesideContext, WaitsForImagesOfTheRankWithTheMost) {
  const auto deviation = [](EncoderContext context, double images) {
    Scenario s = seeing_node(context);
    s.training.images->per_sequence = images;
    s.training.images->deviation = 2;
    return micro_batch_spread(s, s.parallelism).language.deviation;
  };
  EXPECT_NEAR(deviation(EncoderContext::split, 8) / deviation(EncoderContext::whole, 8), 1.0 / 2,
              0.05);
  EXPECT_NEAR(deviation(EncoderContext::split, 3) / deviation(EncoderContext::whole, 3), 2.0 / 3,
              0.05);
}

TEST(EncoderBesideContext, IsAssumedAloud) {
  const auto value = [](EncoderContext context) {
    const StepResult step = simulate_step(check(seeing_node(context)));
    const auto line =
        std::find_if(step.assumptions.begin(), step.assumptions.end(),
                     [](const auto& one) { return one.key == "model.vision.context"; });
    return line == step.assumptions.end() ? std::string() : line->value;
  };
  EXPECT_EQ(value(EncoderContext::whole), "whole: 2 context ranks encode the same images");
  EXPECT_EQ(value(EncoderContext::split), "split: 4 of 8 images on the context rank with the most");
}

}  // namespace
}  // namespace headway::training
