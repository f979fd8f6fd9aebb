// What is left of a replica that lost a part: stages whose peers do its work, tensor groups of
// fewer ranks.
#include "sim/training/degraded/broken_replica.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/training/degraded/degraded_step.h"
#include "sim/training/power/machine_power.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using failures::BrokenReplica;
using Kind = Degradation::Kind;

core::Seconds step_with_replicas(const Scenario& scenario) {
  return simulate_step(check(scenario), {.trace = false, .hash_draws = 0}).time;
}

/// TP 8 x PP 4 x DP 2, 16 micro-batches; a node is one stage of one replica.
Scenario two_replicas() {
  Scenario s = eight_nodes();
  s.parallelism.sharding = workload::Sharding::zero0;
  return s;
}

Scenario with_broken(BrokenReplica word, Scenario s) {
  s.run.recovery.elastic.emplace();
  s.run.recovery.elastic->broken_replica = word;
  return s;
}

core::Seconds step_of_stages(const CheckedScenario& checked,
                             const std::vector<Degradation>& degradations,
                             bool fold) {
  StepOptions options;
  options.fold = fold;
  options.trace = false;
  options.degradations = degradations;
  return simulate_step(checked, options).time;
}

TEST(ReroutedStage, HasTheSameTicksFoldedUnfoldedAndPrepared) {
  const auto checked = check(two_replicas());
  const Degradation first{Kind::stage, 0.5, core::Rank(3)};
  const Degradation last{Kind::stage, 0.5, core::Rank(60)};
  const Degradation gpu{Kind::gpu, 0.8, core::Rank(0)};
  for (const std::vector<Degradation>& state :
       {std::vector{first}, std::vector{first, last}, std::vector{last, gpu}}) {
    const double whole = step_of_stages(checked, state, false).si();
    EXPECT_EQ(step_of_stages(checked, state, true).si(), whole);
    std::vector<core::Rank> places;
    for (const auto& part : state) {
      places.push_back(part.rank);
    }
    EXPECT_EQ(DegradedSteps(prepare_step(checked), places, true).time(state).si(), whole);
  }
}

// All stages that do their work twice make a step twice as long, but for what happens once a step.
TEST(ReroutedStage, DoesItsPassesAndTheirTransfersThatMuchLonger) {
  Scenario s = two_replicas();
  s.parallelism.pipeline = 1;
  s.cluster.nodes = 2;
  s.parallelism.data.value = 2;
  const auto checked = check(s);
  const double healthy = step_of_stages(checked, {}, true).si();
  const double twice = step_of_stages(checked, {{Kind::stage, 0.5, core::Rank(0)}}, true).si();
  EXPECT_LT(twice, 2 * healthy);
  EXPECT_GT(twice, 1.9 * healthy);
}

// m = 16, p = 4, d = 2, f = 1: (p - 1 + m d / (d - f)) / (m + p - 1) = 35 / 19, of equal stages;
// what a step does once, gradients and optimizer, it does once all the same.
TEST(ReroutedStage, IsAsSlowAsThePipelineOfItsMicroBatches) {
  Scenario s = two_replicas();
  s.model.vocabulary = 8192;  // so that the last stage has no more to do than the others
  const auto checked = check(s);
  const double healthy = step_of_stages(checked, {}, true).si();
  for (const std::uint32_t rank : {16U, 32U}) {  // the stages in the middle
    const double slow =
        step_of_stages(checked, {{Kind::stage, 0.5, core::Rank(rank)}}, true).si() / healthy;
    EXPECT_LT(slow, 35.0 / 19);
    EXPECT_GT(slow, 0.85 * 35 / 19);
  }
}

TEST(ReroutedStage, NeedsRoomForTheMicroBatchesOfItsPeers) {
  Scenario s = two_replicas();
  EXPECT_TRUE(rerouting_fits(check(s), 1));
  // Two in flight on the last stage but one where there was one: the first stage has four more.
  const auto memory = predict_memory(check(s));
  s.cluster.node.gpu.memory = s.cluster.node.gpu.memory - memory.capacity + 1.01 * memory.peak;
  ASSERT_TRUE(predict_memory(check(s)).fits);
  EXPECT_FALSE(rerouting_fits(check(s), 1));
}

// Half of its ranks: every rank has the work of a group of half the degree, whose job is a scenario
// of its own. Its transfers are taken as among all eight: 7/8 of what they move passes each, not
// 3/4.
TEST(NarrowReplica, OfHalfItsRanksIsOneOfHalfTheDegree) {
  Scenario s = with_broken(BrokenReplica::narrows, two_replicas());
  s.run.recovery.eviction = failures::Eviction::gpu;
  const double narrow = step_with_replicas(narrowed(check(s), 4, 16)).si();
  Scenario half = two_replicas();
  half.cluster.nodes = 4;
  half.parallelism.tensor = 4;
  half.parallelism.data.value = 2;
  EXPECT_GT(narrow, step_with_replicas(half).si());
  EXPECT_LT(narrow, 7.0 / 6 * step_with_replicas(half).si());
}

// 32 heads and 14,336 columns on seven ranks: five heads and 2,048 columns on the fullest, of four
// and 1,792. Of ranks of two heads of keys and values a group of four keeps two.
TEST(NarrowReplica, HasWholeHeadsAndColumnsOnItsFullestRank) {
  Scenario s = with_broken(BrokenReplica::narrows, two_replicas());
  s.run.recovery.eviction = failures::Eviction::gpu;
  const Scenario seven = narrowed(check(s), 1, 16);
  EXPECT_EQ(seven.model.heads, 8 * 5);
  EXPECT_EQ(seven.model.key_value_heads, 8);
  EXPECT_EQ(seven.model.ffn, 8 * 2048);
  EXPECT_EQ(seven.model.vocabulary, 8 * 18328);  // 18,323 in pieces of eight
  s.parallelism.tensor = 4;
  s.parallelism.data.value = 4;
  const Scenario three = narrowed(check(s), 1, 8);
  EXPECT_EQ(three.model.heads, 4 * 12);  // eleven are not divided by two or three
  EXPECT_EQ(three.model.key_value_heads, 4 * 3);
}

TEST(NarrowReplica, DoesTheMostMicroBatchesThatKeepPace) {
  Scenario s = with_broken(BrokenReplica::narrows, two_replicas());
  s.run.recovery.eviction = failures::Eviction::gpu;
  // Eight replicas, so that waiting for one costs more than what it leaves undone.
  s.cluster.nodes = 32;
  s.training.global_batch = 128;
  s.parallelism.data.value = 8;
  const auto checked = check(s);
  const core::Seconds healthy = step_with_replicas(s);
  const NarrowReplica seven = narrow_replica(checked, healthy, 1);
  ASSERT_TRUE(seven.fits);
  EXPECT_EQ(seven.left, 7);
  EXPECT_EQ(seven.of, 16);
  EXPECT_EQ(seven.stretch, 1);
  const auto step = [&](int k) { return step_with_replicas(narrowed(checked, 1, k)); };
  EXPECT_LE(step(seven.micro_batches), healthy * (1 + 1e-9));
  EXPECT_GT(step(seven.micro_batches + 1), healthy);
  EXPECT_LT(narrow_replica(checked, healthy, 2).micro_batches, seven.micro_batches);
  // Boards with more power do more, and no more than all.
  s.run.recovery.elastic->boost = 1.5;
  const NarrowReplica boosted = narrow_replica(check(s), healthy, 1);
  EXPECT_GT(boosted.micro_batches, seven.micro_batches);
}

TEST(NarrowReplica, IsWaitedForWhereItIsHalfOfTheJob) {
  Scenario s = with_broken(BrokenReplica::narrows, two_replicas());
  s.run.recovery.eviction = failures::Eviction::gpu;
  s.training.global_batch = 4;  // two micro-batches: one of them less is half of its work
  const auto checked = check(s);
  const NarrowReplica seven = narrow_replica(checked, step_with_replicas(s), 1);
  EXPECT_EQ(seven.micro_batches, 2);
  EXPECT_GT(seven.stretch, 1.02);
  EXPECT_LT(seven.stretch, 2 / 1.5);  // else it would leave a micro-batch to the other
}

TEST(NarrowReplica, ThatDoesNotFitDoesNothing) {
  Scenario s = with_broken(BrokenReplica::narrows, two_replicas());
  s.run.recovery.eviction = failures::Eviction::gpu;
  const auto memory = predict_memory(check(s));
  s.cluster.node.gpu.memory = s.cluster.node.gpu.memory - memory.capacity + 1.01 * memory.peak;
  const auto checked = check(s);
  ASSERT_TRUE(predict_memory(checked).fits);
  const NarrowReplica half = narrow_replica(checked, step_with_replicas(s), 4);
  EXPECT_FALSE(half.fits);
  EXPECT_EQ(half.share(), 0);
  EXPECT_GT(half.peak, half.capacity);
}

std::string complaint_of_replicas(const Scenario& scenario) {
  try {
    check(scenario);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(BrokenReplica, WhatIsNotModelledIsRefusedByName) {
  using testing::HasSubstr;
  const Scenario reroutes = with_broken(BrokenReplica::reroutes, two_replicas());
  const Scenario narrows = with_broken(BrokenReplica::narrows, two_replicas());
  EXPECT_EQ(complaint_of_replicas(reroutes), "");
  EXPECT_THAT(complaint_of_replicas(narrows),
              HasSubstr("a lost node takes whole tensor groups with it"));
  Scenario s = narrows;
  s.run.recovery.eviction = failures::Eviction::gpu;
  EXPECT_EQ(complaint_of_replicas(s), "");
  s.model.moe.emplace();
  EXPECT_THAT(complaint_of_replicas(s),
              HasSubstr("'broken_replica: narrows' is modelled for dense decoders"));
  s = reroutes;
  s.parallelism.sharding = workload::Sharding::zero1;
  EXPECT_THAT(complaint_of_replicas(s), HasSubstr("do not hold all of their state"));
  s = reroutes;
  s.run.recovery.eviction = failures::Eviction::parallel_group;
  EXPECT_THAT(complaint_of_replicas(s), HasSubstr("whole groups of nodes leave"));
  s = reroutes;
  s.parallelism.pipeline = 1;
  s.parallelism.data.value = 8;
  EXPECT_THAT(complaint_of_replicas(s), HasSubstr("has no other stages that could go on"));
  s = reroutes;
  s.parallelism.tensor = 1;
  s.parallelism.data.value = 16;
  s.parallelism.rank_order = workload::RankOrder::pipeline_first;
  EXPECT_THAT(complaint_of_replicas(s), HasSubstr("has ranks of several stages"));
  s = reroutes;
  s.parallelism.schedule = workload::ScheduleKind::dual_pipe;
  EXPECT_THAT(complaint_of_replicas(s), HasSubstr("a rank has two stages"));
  // Boosted boards of the 64 GPUs' one replica in two draw 0.2 x 32 x 700 W more.
  s = narrows;
  s.run.recovery.eviction = failures::Eviction::gpu;
  s.run.recovery.elastic->boost = 1.2;
  s.cluster.power.emplace();
  s.cluster.power->facility = core::Watts(1e6);
  EXPECT_EQ(complaint_of_replicas(s), "");
  s.cluster.power->facility = peak_power(s) + core::Watts(1000);
  EXPECT_THAT(complaint_of_replicas(s), HasSubstr("and what feeds the building has 1 kW left"));
  s = reroutes;
  s.run.recovery.elastic->boost = 1.2;
  s.run.recovery.elastic->pack = true;
  EXPECT_THAT(complaint_of_replicas(s), HasSubstr("leave 'boost' out"));
  EXPECT_THAT(complaint_of_replicas(s), HasSubstr("leave 'pack' out"));
}

}  // namespace
}  // namespace headway::training
