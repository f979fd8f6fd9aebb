// Steps of mixtures of experts: what their exchange costs, and that folding changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/training/lower.h"
#include "sim/training/step.h"
#include "sim/workload/expert_shape.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Activity;

/// 64 ranks with whole layers of 64 experts, `expert` ranks an expert group.
Scenario mixture(int expert) {
  Scenario s = eight_nodes();
  s.model.moe = workload::ExpertsSpec{};
  s.model.moe->experts = 64;
  s.model.moe->top_k = 4;
  s.model.moe->ffn = 1792;
  s.model.ffn = 0;
  s.parallelism.tensor = 1;
  s.parallelism.pipeline = 1;
  s.parallelism.expert = expert;
  s.training.global_batch = 64;
  s.training.framework.data_overlap = false;  // nothing else on the links beside the exchange
  return s;
}

/// Mean seconds of a step that ranks wait for expert communication.
double exposed(const Scenario& s) {
  return simulate_step(check(s)).breakdown[Activity::expert].si();
}

TEST(ExpertExchange, TakesFourCollectivesALayerAndMicroBatch) {
  // All ranks start together, so each takes its time alone: 4 x 16 layers x 1 micro-batch.
  const Scenario s = mixture(8);
  const auto fabric = build_fabric(s.cluster);
  const auto parameters = network::make_parameters(fabric.input(), network::NcclGeneration::hopper);
  const double bytes = 2.0 * 4096 * 4 * 4096;
  const auto alone =
      network::collective_time({core::CollectiveKind::all_to_all, core::Bytes(bytes), {}, {}},
                               network::regular_group(8, 8, parameters, 8), parameters);
  EXPECT_NEAR(exposed(s) / (4 * 16 * alone.total.si()), 1, 1e-6);
}

TEST(ExpertExchange, IsDearerBetweenNodesAndCheaperWithOneCopyANode) {
  Scenario s = mixture(64);
  const double copies = exposed(s);
  EXPECT_GT(copies, 3 * exposed(mixture(8)));
  s.training.framework.expert_dispatch = workload::ExpertDispatch::deduplicated;
  const double nodes = exposed(s);
  // 4 copies a token become one for each of 8 nodes visited; an eighth of them stays inside.
  const double fewer = workload::expected_places(*s.model.moe, 8) / 4;
  EXPECT_NEAR(nodes / copies, fewer, 0.05);
  s.model.moe->routing_groups = 8;
  s.model.moe->group_limit = 2;
  EXPECT_NEAR(exposed(s) / nodes, workload::expected_places(*s.model.moe, 8) / (4 * fewer), 0.05);
}

TEST(ExpertExchange, GrowsWithTheLoadOfTheBusiestRank) {
  Scenario s = mixture(64);
  const double balanced = exposed(s);
  s.model.moe->imbalance = 1.5;
  EXPECT_NEAR(exposed(s) / balanced, 1.5, 0.02);
}

// Beside the work of another micro-batch only what computation does not cover is left, and what
// interference adds.
TEST(ExpertExchange, HidesBehindComputationWhereTheSoftwareOverlaps) {
  Scenario s = mixture(8);
  const StepResult before = simulate_step(check(s));
  s.training.framework.expert_overlap = true;
  const StepResult beside = simulate_step(check(s));
  EXPECT_LT(beside.breakdown[Activity::expert].si(), 0.2 * before.breakdown[Activity::expert].si());
  s.training.framework.expert_interference = 0.5;
  const StepResult slowed = simulate_step(check(s));
  const double exchanges = before.breakdown[Activity::expert].si();
  EXPECT_GT(slowed.time.si(), beside.time.si() + 0.4 * exchanges);
  EXPECT_LT(slowed.time.si(), before.time.si());
}

TEST(ExpertSteps, FoldedAndUnfoldedGiveTheSameTicks) {
  for (const auto dispatch :
       {workload::ExpertDispatch::all_to_all, workload::ExpertDispatch::deduplicated}) {
    Scenario s = mixture(8);
    s.parallelism.tensor = 2;
    s.parallelism.pipeline = 2;
    s.parallelism.expert_tensor = 2;
    s.training.framework.expert_dispatch = dispatch;
    s.training.framework.data_overlap = true;
    s.model.moe->leading_dense_layers = 1;
    s.model.moe->shared_experts = 1;
    s.model.ffn = 14336;
    const auto checked = check(s);
    const StepResult folded = simulate_step(checked, {.fold = true});
    const StepResult unfolded = simulate_step(checked, {.fold = false});
    EXPECT_EQ(folded.time, unfolded.time) << core::to_word(dispatch);
    EXPECT_EQ(folded.result_digest, unfolded.result_digest) << core::to_word(dispatch);
    EXPECT_LT(folded.rank_classes, folded.ranks);
  }
}

TEST(ExpertChecks, PointAtTheExpertDegree) {
  const core::SourceMarks marks{{"parallelism.expert", {"a.yaml", 9, 11, 1, "  expert: 48"}}};
  try {
    check(mixture(48), marks);
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr("a.yaml:9:11: 64 experts do not divide over 48 expert-parallel ranks"));
    EXPECT_THAT(error.what(),
                testing::HasSubstr("expert 48 x expert_tensor 1 = 48 does not divide"));
  }
}

}  // namespace
}  // namespace headway::training
