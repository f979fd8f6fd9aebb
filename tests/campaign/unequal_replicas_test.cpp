// Jobs whose broken replicas go on with what is left of them, against hand arithmetic and closed
// forms.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "sim/campaign/job/gaps.h"
#include "sim/campaign/resolve/resolve.h"
#include "sim/campaign/trials.h"
#include "sim/campaign/unequal_form.h"
#include "sim/training/step/step.h"

#include "tests/campaign/fixture.h"
#include "tests/training/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using failures::BrokenReplica;

/// Four replicas of two stages on eight nodes of eight GPUs: nodes 0 to 3 are stage 0.
JobModel four_replicas(BrokenReplica word) {
  JobModel model = small_job();
  model.gpus = 64;
  model.replicas = 4;
  model.replica_of_node = {0, 1, 2, 3, 0, 1, 2, 3};
  model.class_of_node = {0, 0, 0, 0, 1, 1, 1, 1};
  model.tensor = 8;
  failures::ElasticSpec elastic;
  elastic.stall = Seconds(20);
  elastic.rejoin = Seconds(10);
  elastic.broken_replica = word;
  model.recovery.elastic = elastic;
  model.most_rerouted = 2;
  // One rank less: 3/4 of its micro-batches; two: half of them, and all wait a little.
  model.narrowed = {{0.75, 1, Seconds(4)}, {0.5, 1.1, Seconds(6)}};
  return model;
}

TEST(Gaps, OfAStageCountItsPeersOnce) {
  const JobModel model = four_replicas(BrokenReplica::reroutes);
  const JobPlaces places(model);
  Gaps gaps(model, places);
  EXPECT_TRUE(gaps.stages().empty());
  const auto first = gaps.open(1);
  ASSERT_EQ(gaps.stages().size(), 1U);
  EXPECT_EQ(gaps.stages()[0].keeps, 0.75);
  EXPECT_EQ(gaps.stages()[0].position, 0);
  gaps.open(5);  // the other stage of the same replica
  ASSERT_EQ(gaps.stages().size(), 2U);
  EXPECT_EQ(gaps.stages()[1].keeps, 0.75);
  EXPECT_EQ(gaps.longer(), 1);
  EXPECT_TRUE(gaps.holds(1));
  EXPECT_TRUE(gaps.bearable_without({2}));
  EXPECT_FALSE(gaps.bearable_without({2, 3}));  // memory has room for two that are gone
  gaps.close(first);
  ASSERT_EQ(gaps.stages().size(), 1U);
  EXPECT_EQ(gaps.stages()[0].position, 1);
}

TEST(Gaps, OfTensorGroupsGoByTheGroupThatLostMost) {
  const JobModel model = four_replicas(BrokenReplica::narrows);
  const JobPlaces places(model);
  Gaps gaps(model, places);
  const auto one = gaps.open(0, 0);
  EXPECT_DOUBLE_EQ(gaps.longer(), 4 / 3.75);
  EXPECT_EQ(gaps.moved(one).si(), 4);
  gaps.open(4, 0);  // the other stage: the replica does what it did
  EXPECT_DOUBLE_EQ(gaps.longer(), 4 / 3.75);
  const auto two = gaps.open(4, 0);
  EXPECT_DOUBLE_EQ(gaps.longer(), 1.1 * 4 / 3.5);
  EXPECT_EQ(gaps.moved(two).si(), 6);
  gaps.open(1, 0);
  EXPECT_DOUBLE_EQ(gaps.longer(), 1.1 * 4 / 3.25);
  gaps.open(2);  // a whole group: its replica leaves
  EXPECT_DOUBLE_EQ(gaps.longer(), 1.1 * 4 / 2.25);
  EXPECT_TRUE(gaps.bearable_without({3}));
  EXPECT_TRUE(gaps.stages().empty());
  gaps.forget_gpus({4});
  EXPECT_FALSE(gaps.has(two));
  EXPECT_TRUE(gaps.has(one));
  EXPECT_DOUBLE_EQ(gaps.longer(), 4 / 2.5);
}

// Two groups a replica: those that lost most share the first one.
TEST(Gaps, ArePackedIntoAsFewReplicasAsCanBe) {
  JobModel model = four_replicas(BrokenReplica::narrows);
  model.recovery.elastic->pack = true;
  model.dealt_anew = Seconds(30);
  const JobPlaces places(model);
  Gaps gaps(model, places);
  const auto one = gaps.open(0, 0);
  EXPECT_EQ(gaps.moved(one).si(), 30);
  gaps.open(1, 0);
  EXPECT_DOUBLE_EQ(gaps.longer(), 4 / 3.75);
  gaps.open(2, 0);
  gaps.open(2, 0);
  EXPECT_DOUBLE_EQ(gaps.longer(), 1.1 * 4 / (2 + 0.5 + 0.75));
}

// A group wider than a node loses all of the node's ranks; one narrower than a node all of its own.
TEST(Gaps, OfNodesTakeTheRanksThatTheyHave) {
  JobModel model = four_replicas(BrokenReplica::narrows);
  model.tensor = 16;
  model.replicas = 2;
  model.replica_of_node = {0, 0, 1, 1, 0, 0, 1, 1};
  model.narrowed.assign(8, {0.25, 1, Seconds(9)});
  const JobPlaces places(model);
  Gaps wide(model, places);
  wide.open(0);
  EXPECT_DOUBLE_EQ(wide.longer(), 2 / 1.25);
  wide.open(1);  // all of that group
  EXPECT_DOUBLE_EQ(wide.longer(), 2);
  model.tensor = 4;
  EXPECT_EQ(Gaps(model, places).groups_of_node(), 2U);
}

/// The step is as long as the stage with the fewest ranks left.
StepTimes by_stage() { return StepTimes(waits_for_the_slowest); }

TEST(UnequalReplicas, RerouteWhatAStageLost) {
  JobModel model = four_replicas(BrokenReplica::reroutes);
  model.spare_nodes = 1;
  model.hazards = {fault_at("crash", 253)};
  StepTimes times = by_stage();
  const JobTicks counted(model);
  const TrialResult result = run_trial(model, counted, times, 0);
  // As a job that goes on without the replica (ElasticJob of degraded_test.cpp): alarm at 258 s,
  // again from 278 s, and 33 s at 3/4 of the speed until the node is ready.
  EXPECT_EQ(result[Account::lost], ticks(2));
  EXPECT_EQ(result[Account::degraded], ticks(33 - 24.75));
  EXPECT_EQ(result[Account::restart], ticks(30));
  EXPECT_EQ(result[Account::load], 0);
  EXPECT_EQ(result.wall, ticks(321 + 744.25 + 80 + 30));
}

TEST(UnequalReplicas, NarrowAtAGpuAndTakeOverWhatItHeld) {
  JobModel model = four_replicas(BrokenReplica::narrows);
  model.hazards = {fault_at("gpu", 253, 0)};
  model.hazards[0].swapped = true;
  model.end = {.work = {}, .wall = Seconds(500)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // 233 s are done, 231 s of whole steps; alarm at 258 s, 20 s of stall, 4 s in which the ranks
  // left take over: from 282 s on 3.75 of 4. It is repaired in 1,000 s in the mean; if that is
  // after the end, 218 s less two saves of 10 s are at 15/16 of the speed.
  EXPECT_EQ(result[Account::restart], ticks(20));
  EXPECT_EQ(result[Account::load], ticks(4));
  EXPECT_EQ(result[Account::detect], ticks(5));
  EXPECT_EQ(result[Account::wait] + result[Account::diagnose], 0);
  EXPECT_GT(result[Account::degraded], ticks(10));
  EXPECT_LT(result[Account::degraded], ticks(218 / 16.0 + 1));
}

TEST(UnequalReplicas, StopWhereTooManyAreGone) {
  JobModel model = four_replicas(BrokenReplica::reroutes);
  model.most_rerouted = 1;
  model.hazards = {fault_at("one", 100, 1), fault_at("two", 160, 2)};
  model.end = {.work = {}, .wall = Seconds(3000)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // The second fault leaves a stage with two peers fewer: the job waits for nodes.
  EXPECT_GT(result[Account::wait], 0);
}

// What is missing cannot break again: a node that is out is struck for nothing.
TEST(UnequalReplicas, AreNotBrokenWhereNothingIs) {
  JobModel model = four_replicas(BrokenReplica::reroutes);
  model.gpus = 16;
  model.replicas = 2;
  model.replica_of_node = {0, 1};
  model.class_of_node = {0, 0};
  model.end = {.work = {}, .wall = Seconds(4000)};
  model.recovery.repair = Seconds(1e9);
  failures::Hazard often = fault_at("often", 0);
  often.recorded.clear();
  often.rate = core::PerSecond(1.0 / 100);
  model.hazards = {often};
  model.most_rerouted = 1;
  // The first fault of either node opens a gap; then that of the other stops the job for good.
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result.interruptions[0], 2);
}

// GPUs of four replicas break at rate r each and are mended after L in the mean: of n GPUs
// n r L / (1 + r L) are out, few enough here that no two are in one replica; each leaves a quarter
// of its replica's work to the others. Four standard errors and second order.
TEST(UnequalReplicas, LoseTheShareOfTimeThatGpusAreOut) {
  JobModel model = four_replicas(BrokenReplica::narrows);
  model.end = {.work = {}, .wall = Seconds(4e6)};
  model.recovery.elastic->stall = Seconds(0);
  model.recovery.elastic->rejoin = Seconds(0);
  model.recovery.detection = Seconds(0);
  model.recovery.repair = Seconds(1000);
  model.narrowed = {{0.75, 1, Seconds(0)}};
  failures::Hazard gpu = fault_at("gpu", 0, 0);
  gpu.recorded.clear();
  gpu.swapped = true;
  gpu.rate = core::PerSecond(1.0 / 50'000);
  model.hazards = {gpu};
  const auto trials = run_trials(model, 40, 0);
  double degraded = 0, ran = 0;
  for (const auto& trial : trials) {
    degraded += static_cast<double>(trial[Account::degraded]);
    ran += static_cast<double>(trial[Account::degraded] + trial[Account::useful] +
                               trial[Account::lost]);
  }
  // A part is missing until it is mended and prepared (6 + 15 + 20 + 5 s).
  const double out = 1046.0 / 50'000;
  EXPECT_NEAR(degraded / ran / (out * 0.25 / 4), 1, 0.1);
}

TEST(RerouteForm, IsThatOfThePipeline) {
  // Six micro-batches, four stages, three replicas, one rank gone: 3 + 9 passes of 9.
  const LostPeers lost{6, 4, 3, 1};
  EXPECT_DOUBLE_EQ(rerouted_step(lost), 12.0 / 9);
  EXPECT_DOUBLE_EQ(rerouted_into_bubbles(lost), 1);  // nine passes are free
  EXPECT_DOUBLE_EQ(rerouted_into_bubbles({6, 4, 2, 1}), 12.0 / 9);
  EXPECT_DOUBLE_EQ(rerouted_step({6, 1, 3, 1}), 1.5);  // no pipeline: the replica leaves
}

// NTP (arXiv 2504.06095): tensor groups of 32 with 30 ranks left, 128 heads, FFN 81,920; 16 K
// tokens at a width of 20,480 give attention 0.375 of a layer.
TEST(NarrowForm, OfThePublishedJob) {
  const TensorGroup group{32, 128, 81'920, 0.375};
  EXPECT_NEAR(narrow_pass(group, 30), 0.375 * 1.25 + 0.625 * 2731 * 32 / 81'920.0, 1e-12);
  EXPECT_EQ(narrow_pass(group, 32), 1);
  EXPECT_EQ(micro_batches_in_pace(8, 8, narrow_pass(group, 30)), 6);
  EXPECT_EQ(micro_batches_in_pace(8, 8, narrow_pass(group, 28)), 5);
  EXPECT_EQ(micro_batches_in_pace(8, 8, 1), 8);
  EXPECT_EQ(micro_batches_in_pace(8, 8, 20), 0);
}

TEST(PackedForm, IsTheShareOfBrokenDomainsIfReplicasLeave) {
  const auto leaves = [](int) { return 0.0; };
  EXPECT_NEAR(packed_throughput(64, 0.001, leaves), std::pow(0.999, 64), 1e-12);
  EXPECT_NEAR(packed_throughput(32, 0.004, leaves), std::pow(0.996, 32), 1e-12);
  EXPECT_DOUBLE_EQ(packed_throughput(32, 0.004, [](int) { return 1.0; }), 1);
}

training::Scenario eight_nodes_that(BrokenReplica word) {
  using namespace core::literals;
  training::Scenario s = training::eight_nodes();
  s.parallelism.sharding = workload::Sharding::zero0;
  s.run.until.emplace();
  s.run.until->wall = 1_days;
  s.run.failures.emplace();
  failures::HazardSpec hazard;
  hazard.name = "GPU";
  hazard.component = failures::ComponentClass::gpu;
  hazard.per = failures::Population::gpu;
  hazard.mtbf = 10_days;
  s.run.failures->hazards = {hazard};
  s.run.recovery.elastic.emplace();
  s.run.recovery.elastic->broken_replica = word;
  return s;
}

TEST(UnequalReplicas, AreSimulatedForTheScenario) {
  training::Scenario s = eight_nodes_that(BrokenReplica::narrows);
  s.run.recovery.eviction = failures::Eviction::gpu;
  const auto checked = training::check(s);
  const auto narrow = resolve_job(checked, training::simulate_step(checked));
  EXPECT_EQ(narrow.job.tensor, 8);
  ASSERT_EQ(narrow.job.narrowed.size(), 4U);
  for (std::size_t lost = 1; lost < 4; ++lost) {
    // Two replicas: what the one leaves undone, the other does, or waits for.
    const auto longer = [](const NarrowedReplica& one) {
      return one.stretch * 2 / (1 + one.share);
    };
    EXPECT_GE(longer(narrow.job.narrowed[lost]), longer(narrow.job.narrowed[lost - 1]));
  }
  // A seventh of what a rank holds, to each of seven.
  EXPECT_NEAR(narrow.job.narrowed[0].moved / narrow.job.dealt_anew, 1.0 / 7, 1e-9);
  const auto told = [](const ResolvedJob& job) {
    for (const auto& assumption : job.assumptions) {
      if (assumption.key == "run.recovery.elastic.broken_replica") {
        return assumption.why;
      }
    }
    return std::string();
  };
  EXPECT_THAT(told(narrow), testing::HasSubstr("with 7 of 8 tensor ranks it does"));
  const auto other = training::check(eight_nodes_that(BrokenReplica::reroutes));
  const auto reroutes = resolve_job(other, training::simulate_step(other));
  EXPECT_EQ(reroutes.job.most_rerouted, 1);
  EXPECT_THAT(told(reroutes), testing::HasSubstr("2 times as long (d / (d - f), f lost of d)"));
}

}  // namespace
}  // namespace headway::campaign
