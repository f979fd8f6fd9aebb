// Steps of mixtures of experts: what their exchange costs, and that folding changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/training/fixture.h"

namespace headway::training {

using analytic::AnalyticTier;

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

// Gathered tokens come as two all-gathers and go as two reduce-scatters a layer.
TEST(ExpertExchange, OfGatheredTokensTakesTheTimeOfItsCollectives) {
  Scenario s = mixture(8);
  s.training.framework.expert_dispatch = workload::ExpertDispatch::all_gather;
  const auto fabric = build_fabric(s.cluster);
  const auto parameters = network::make_parameters(fabric.input(), network::NcclGeneration::hopper);
  const auto alone = [&](core::CollectiveKind kind) {
    return network::collective_time({kind, core::Bytes(2.0 * 4096 * 8 * 4096), {}, {}},
                                    network::regular_group(8, 8, parameters, 8), parameters)
        .total.si();
  };
  const double layer =
      2 * alone(core::CollectiveKind::all_gather) + 2 * alone(core::CollectiveKind::reduce_scatter);
  EXPECT_NEAR(exposed(s) / (16 * layer), 1, 1e-6);
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

// 1,024 of 4,096 columns travel; with as many experts that do nothing half of the rows do.
TEST(ExpertExchange, IsOfTheLatentWidthAndOfExpertsWithWork) {
  Scenario s = mixture(64);
  const double whole = exposed(s);
  s.model.moe->latent = 1024;
  EXPECT_NEAR(exposed(s) / whole, 0.25, 0.05);
  s.model.moe->latent = 0;
  s.model.moe->null_experts = 64;
  EXPECT_NEAR(exposed(s) / whole, 0.5, 0.05);
}

TEST(ExpertSteps, OfLatentAndNullExpertsFoldToTheSameTicks) {
  Scenario s = mixture(8);
  s.parallelism.tensor = 2;
  s.parallelism.expert_tensor = 2;
  s.model.moe->latent = 1024;
  s.model.moe->null_experts = 32;
  s.model.moe->shared_experts = 1;
  s.model.multi_token_prediction = 1;
  const auto checked = check(s);
  const StepResult folded = simulate_step(checked, {.fold = true});
  const StepResult unfolded = simulate_step(checked, {.fold = false});
  EXPECT_EQ(folded.time, unfolded.time);
  EXPECT_EQ(folded.result_digest, unfolded.result_digest);
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
       {workload::ExpertDispatch::all_to_all, workload::ExpertDispatch::deduplicated,
        workload::ExpertDispatch::all_gather}) {
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

/// Copies of 16 GPUs, two nodes each, with experts over 8.
Scenario hybrid_mixture() {
  Scenario s = mixture(8);
  s.parallelism.sharding = workload::Sharding::hsdp;
  s.parallelism.shard_group_size = 16;
  return s;
}

TEST(HybridMixture, TakesTheCollectivesOfItsGroupsOneAfterAnother) {
  // Nothing overlaps. Of each of 16 layers (a bucket) the dense part lies over a copy's 16 ranks
  // and the experts over 2 of them, a GPU of each node; 4 copies.
  const Scenario s = hybrid_mixture();
  const auto fabric = build_fabric(s.cluster);
  const auto parameters = network::make_parameters(fabric.input(), network::NcclGeneration::hopper);
  const auto& p = s.parallelism;
  const auto layer = workload::layer_parameters_per_rank(s.model, p, {true});
  const double embedding = workload::embedding_parameters_per_rank(s.model, p);
  const double head = workload::head_parameters_per_rank(s.model, p);
  const auto alone = [&](core::CollectiveKind kind, double bytes, int ranks, int per_node) {
    const auto shape = network::regular_group(ranks, per_node, parameters, 8);
    return network::collective_time({kind, core::Bytes(bytes), {}, {}}, shape, parameters)
        .total.si();
  };
  const auto gather = [&](double count, int ranks, int per_node) {
    return alone(core::CollectiveKind::all_gather, 2 * count, ranks, per_node);
  };
  const double wire = s.training.framework.reduce_bytes;
  const auto reduce = [&](double count, int ranks, int per_node) {
    return alone(core::CollectiveKind::reduce_scatter, wire * count, ranks, per_node) +
           alone(core::CollectiveKind::all_reduce, wire * count / ranks, 4, 1);
  };
  const double layers = 2 * (gather(layer.shared, 16, 8) + gather(layer.experts, 2, 1)) +
                        reduce(layer.shared, 16, 8) + reduce(layer.experts, 2, 1);
  const double ends = gather(embedding, 16, 8) + gather(head, 16, 8) + reduce(embedding, 16, 8) +
                      reduce(head, 16, 8);
  const double exposed =
      simulate_step(check(s), {.contention = false}).breakdown[Activity::data].si();
  EXPECT_NEAR(exposed / (16 * layers + ends), 1, 0.01);
}

TEST(HybridMixture, OfAllTiersTakesTheSameTime) {
  for (const bool overlap : {false, true}) {
    Scenario s = hybrid_mixture();
    s.training.framework.data_overlap = overlap;
    s.parallelism.tensor = 2;
    s.parallelism.pipeline = 2;
    // Passes long enough to hide what overlaps: then transfers do not contend, and the tier's word
    // holds.
    s.parallelism.micro_batch = overlap ? 8 : 1;
    s.training.global_batch = 256;
    const auto checked = check(s);
    const StepResult folded = simulate_step(checked, {.fold = true});
    const StepResult unfolded = simulate_step(checked, {.fold = false});
    EXPECT_EQ(folded.time, unfolded.time);
    EXPECT_EQ(folded.result_digest, unfolded.result_digest);
    EXPECT_LT(folded.rank_classes, folded.ranks);
    const double alone = simulate_step(checked, {.trace = false, .contention = false}).time.si();
    EXPECT_NEAR(AnalyticTier(s).evaluate(checked).time.si() / alone, 1, 0.03)
        << overlap << ", with contention " << folded.time.si() / alone;
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
