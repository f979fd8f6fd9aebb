// Layers in proportion to the speed of GPUs of several kinds, and the layouts that have them.
#include "sim/plan/proportion.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "sim/plan/search.h"
#include "sim/training/step/step.h"
#include "sim/workload/layout.h"

#include "tests/training/fixture.h"

namespace headway::plan {
namespace {

using namespace core::literals;
using ::testing::ElementsAre;

double slowest(const std::vector<StageCost>& stages, const std::vector<int>& layers) {
  double most = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    most = std::max(most, stages[i].rest + layers[i] * stages[i].layer);
  }
  return most;
}

TEST(BalancedLayers, GoInProportionToSpeed) {
  EXPECT_THAT(balanced_layers({{1, 0}, {3, 0}}, 16), ElementsAre(12, 4));
  EXPECT_THAT(balanced_layers({{1, 0}, {1, 0}, {2, 0}, {2, 0}}, 12), ElementsAre(4, 4, 2, 2));
  // What the last stage holds beside its layers counts as three of them.
  EXPECT_THAT(balanced_layers({{1, 0}, {1, 3}}, 9), ElementsAre(6, 3));
}

/// No division of 13 layers over three stages has a faster slowest stage.
TEST(BalancedLayers, AreTheBestOfAllDivisions) {
  const std::vector<std::vector<StageCost>> cases{
      {{1, 0.3}, {1.7, 0}, {2.9, 1.4}}, {{1, 0}, {1, 0}, {1, 5}}, {{0.4, 2}, {3, 0}, {1.1, 0}}};
  for (const auto& stages : cases) {
    double best = 1e300;
    for (int a = 1; a < 13; ++a) {
      for (int b = 1; a + b < 13; ++b) {
        best = std::min(best, slowest(stages, {a, b, 13 - a - b}));
      }
    }
    EXPECT_DOUBLE_EQ(slowest(stages, balanced_layers(stages, 13)), best);
  }
}

TEST(ChunksOfStages, KeepTheLayersOfEveryStage) {
  using workload::ScheduleKind;
  ParallelismSpec p;
  p.pipeline = 3;
  for (const auto& [schedule, chunks] : {std::pair{ScheduleKind::one_f_one_b, 1},
                                         {ScheduleKind::interleaved, 3},
                                         {ScheduleKind::zero_bubble_v, 1},
                                         {ScheduleKind::dual_pipe_v, 1}}) {
    p.schedule = schedule;
    p.virtual_stages = chunks;
    p.chunk_layers = workload::chunks_of_stages(p, {11, 7, 4});
    workload::ModelSpec model = training::eight_nodes().model;
    model.layers = 22;
    const workload::StageLayout layout(model, p);
    EXPECT_THAT((std::vector{layout.layers(0), layout.layers(1), layout.layers(2)}),
                ElementsAre(11, 7, 4));
    EXPECT_THAT(workload::layers_of_stages(p), ElementsAre(11, 7, 4));
  }
}

/// Eight nodes of which the last four have GPUs of a third of the speed.
training::Scenario a_third() {
  training::Scenario s = training::eight_nodes();
  s.cluster.other_nodes = {{4, s.cluster.node}};
  auto& gpu = s.cluster.other_nodes[0].node.gpu;
  gpu.peak.bf16 *= 1 / 3.0;
  gpu.peak.fp16 *= 1 / 3.0;
  gpu.memory_bandwidth *= 1 / 3.0;
  s.parallelism.pipeline = 2;
  s.search.vary = {training::SearchAxis::stage_layers, training::SearchAxis::pipeline,
                   training::SearchAxis::micro_batch, training::SearchAxis::rank_order};
  return s;
}

TEST(LayersInProportion, AreWhatAPlanChooses) {
  const training::Scenario s = a_third();
  const auto result = search(s, {});
  ASSERT_FALSE(result.plans.empty());
  const auto& best = result.plans.front();
  const auto layers = workload::layers_of_stages(best.layout);
  ASSERT_GE(layers.size(), 2U);
  EXPECT_GT(layers.front(), 2 * layers.back());
  const auto even = training::simulate_step(training::check(training::Scenario(s))).time;
  EXPECT_LT(best.step.time, 0.7 * even);
}

/// Held stages are as the scenario has them.
TEST(LayersInProportion, AreNotTriedWhereStagesAreHeld) {
  training::Scenario s = a_third();
  s.search.vary = {training::SearchAxis::pipeline, training::SearchAxis::micro_batch};
  for (const auto& plan : search(s, {}).plans) {
    EXPECT_TRUE(plan.layout.chunk_layers.empty());
  }
}

/// A small GPU holds fewer layers than its speed asks for: the best plan that fits is found among
/// the steps towards it.
TEST(LayersInProportion, GoOnlyAsFarAsMemoryDoes) {
  training::Scenario s = a_third();
  s.search.vary = {training::SearchAxis::stage_layers};
  const auto roomy = search(s, {});
  ASSERT_FALSE(roomy.plans.empty());
  s.cluster.node.gpu.memory = roomy.plans.front().step.memory.stage_peak[0] * 0.97;
  const auto tight = search(s, {});
  ASSERT_FALSE(tight.plans.empty());
  EXPECT_LT(workload::layers_of_stages(tight.plans.front().layout)[0],
            workload::layers_of_stages(roomy.plans.front().layout)[0]);
  EXPECT_TRUE(tight.plans.front().step.memory.fits);
}

}  // namespace
}  // namespace headway::plan
