// What layouts share is worked out once, and nobody can tell: every layout has the bits that it has
// alone.
#include "sim/analytic/known_costs.h"

#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

#include "sim/analytic/analytic.h"

#include "tests/analytic/random_layouts.h"

namespace headway::analytic {
namespace {

// A tier that has seen other layouts gives the same bits as a fresh one.
TEST(KnownCosts, GivesTheSameTimeWhateverItSawBefore) {
  auto s = eight_nodes();
  AnalyticTier tier(s);
  std::vector<double> first;
  for (int round = 0; round < 2; ++round) {
    std::size_t i = 0;
    for (const int tensor : {1, 2, 8}) {
      for (const int micro_batch : {1, 2}) {
        s.parallelism.tensor = tensor;
        s.parallelism.micro_batch = micro_batch;
        const auto checked = check(s);
        const double time = tier.evaluate(checked).time.si();
        EXPECT_EQ(time, AnalyticTier(s).evaluate(checked).time.si());
        if (round == 0) {
          first.push_back(time);
        } else {
          EXPECT_EQ(time, first[i++]);
        }
      }
    }
  }
}

// Passes with experts are remembered by how the groups of experts lie: across replicas inside a
// node, over nodes, and, with fewer data ranks, in fewer domains.
TEST(KnownCosts, RemembersHowExpertsLie) {
  auto s = eight_nodes();
  s.model.moe.emplace();
  s.model.moe->experts = 16;
  s.model.moe->top_k = 2;
  s.model.moe->ffn = 2048;
  s.training.global_batch = 64;
  AnalyticTier tier(s);
  int compared = 0;
  for (const int pipeline : {1, 2, 4}) {
    for (const int tensor : {1, 2, 4, 8}) {
      for (const int expert : {2, 4, 8, 16}) {
        for (const auto order :
             {workload::RankOrder::data_first, workload::RankOrder::pipeline_first}) {
          s.parallelism.pipeline = pipeline;
          s.parallelism.tensor = tensor;
          s.parallelism.expert = expert;
          s.parallelism.expert_tensor = 1;
          s.parallelism.rank_order = order;
          try {
            const auto checked = check(s);
            EXPECT_EQ(tier.evaluate(checked).time, AnalyticTier(s).evaluate(checked).time)
                << pipeline << " " << tensor << " " << expert;
            ++compared;
          } catch (const core::Error&) {
            continue;  // more expert ranks than a stage has
          }
        }
      }
    }
  }
  EXPECT_GE(compared, 60);
}

// Layouts that are asked for together have the bits of each alone, whoever stands beside them: of
// random machines, each with layouts that share an order of passes and such that do not.
TEST(KnownCosts, LayoutsTogetherHaveTheBitsOfEachAlone) {
  std::mt19937 random(7);
  const Draw pick(random);
  int machines = 0;
  for (int tries = 0; tries < 400 && machines < 40; ++tries) {
    const auto first = random_layout(random);
    if (!first) {
      continue;
    }
    std::vector<CheckedScenario> layouts{*first};
    for (int i = 0; i < 60; ++i) {
      Scenario other = first->scenario();
      draw_memory_savings(pick, other.parallelism);
      other.parallelism.sequence = pick(true, false);
      if (i % 5 == 0) {
        other.parallelism.micro_batch = pick(1, 2, 4);
      }
      try {
        layouts.push_back(check(std::move(other)));
      } catch (const core::Error&) {
        continue;
      }
    }
    AnalyticTier alone(first->scenario()), together(first->scenario());
    std::vector<LayoutAsked> asked;
    for (const auto& layout : layouts) {
      asked.push_back(
          {&layout.scenario().parallelism, layout.data_parallel(), layout.micro_batches()});
    }
    std::vector<AnalyticStep> steps(asked.size());
    together.evaluate(asked, steps);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto one =
          alone.evaluate(*asked[i].layout, asked[i].data_parallel, asked[i].micro_batches);
      EXPECT_EQ(steps[i].time, one.time) << describe(layouts[i]);
      EXPECT_EQ(steps[i].pipeline, one.pipeline);
      EXPECT_EQ(steps[i].reduction, one.reduction);
      EXPECT_EQ(steps[i].update, one.update);
    }
    machines += asked.size() > 8 ? 1 : 0;
  }
  EXPECT_EQ(machines, 40);
}

// What layouts share is remembered by what it depends on: a tier that has seen others says what a
// fresh one says.
TEST(KnownCosts, RemembersNothingThatBelongsToAnotherLayout) {
  std::mt19937 random(11);
  const Draw pick(random);
  int compared = 0;
  for (int tries = 0; tries < 400 && compared < 200; ++tries) {
    const auto first = random_layout(random);
    if (!first) {
      continue;
    }
    AnalyticTier used(first->scenario());
    used.evaluate(*first);
    for (int i = 0; i < 8; ++i) {
      Scenario other = first->scenario();
      draw_memory_savings(pick, other.parallelism);
      other.parallelism.sequence = pick(true, false);
      other.parallelism.micro_batch = pick(1, 2);
      try {
        const auto checked = check(std::move(other));
        EXPECT_EQ(used.evaluate(checked).time,
                  AnalyticTier(first->scenario()).evaluate(checked).time)
            << describe(checked);
        ++compared;
      } catch (const core::Error&) {
        continue;
      }
    }
  }
  EXPECT_GE(compared, 200);
}

// Bounds, too: of layouts that share an order of passes each has its own, asked after whichever.
TEST(KnownCosts, BoundsOfOneLayoutAreNotThoseOfTheLast) {
  auto s = eight_nodes();
  AnalyticTier used(s);
  std::set<double> bounds;
  for (const int tensor : {1, 2, 4, 8, 1}) {
    for (const auto order :
         {workload::RankOrder::data_first, workload::RankOrder::pipeline_first}) {
      auto layout = s.parallelism;
      layout.pipeline = 2;
      layout.tensor = tensor;
      layout.rank_order = order;
      const int data = 64 / 2 / tensor;
      const auto bound = used.least(layout, data, 4);
      EXPECT_EQ(bound, AnalyticTier(s).least(layout, data, 4)) << tensor;
      bounds.insert(bound.si());
    }
  }
  EXPECT_GE(bounds.size(), 4U);
}

}  // namespace
}  // namespace headway::analytic
