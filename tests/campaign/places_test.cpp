// What a failure domain takes with it, by where the job's nodes stand.
#include <gtest/gtest.h>

#include "sim/campaign/job/job_places.h"
#include "sim/campaign/resolve/resolve.h"
#include "sim/campaign/slow/degraded_states.h"
#include "sim/campaign/trials.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/placement.h"

#include "tests/campaign/fixture.h"
#include "tests/training/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;

/// Four replicas of two stages on eight nodes: nodes 0 to 3 are stage 0, 4 to 7 stage 1.
JobModel eight_nodes() {
  JobModel model = small_job();
  model.gpus = 64;
  model.replicas = 4;
  model.replica_of_node = {0, 1, 2, 3, 0, 1, 2, 3};
  return model;
}

/// The same with the nodes of a replica side by side.
JobModel by_rack() {
  JobModel model = eight_nodes();
  model.place_of_node = {0, 2, 4, 6, 1, 3, 5, 7};
  return model;
}

TEST(JobPlaces, ARackOfTwoNodesHoldsPartsOfTwoReplicasOrOneReplica) {
  const JobPlaces packed(eight_nodes());
  EXPECT_EQ(packed.slots_from(2, 2), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(packed.replicas_hit({2, 3}), 2U);
  const JobPlaces racks(by_rack());
  EXPECT_EQ(racks.slots_from(racks.slot_at(4), 2), (std::vector<std::uint64_t>{2, 6}));
  EXPECT_EQ(racks.replicas_hit({2, 6}), 1U);
  EXPECT_EQ(packed.groups_of({1}), (std::vector<std::uint64_t>{1, 5}));
  EXPECT_EQ(packed.units_of({5}, 4), (std::vector<std::uint64_t>{4, 5, 6, 7}));
}

TEST(JobPlaces, NodesThatHoldManySmallReplicasLoseThemAll) {
  JobModel model = small_job();  // two nodes
  model.replicas = 8;
  model.replica_of_node = {0, 4};
  EXPECT_EQ(JobPlaces(model).replicas_hit({1}), 4U);
}

TEST(RackShock, StopsFewerReplicasOfAnElasticJobThatIsPlacedByRack) {
  for (const bool racks : {false, true}) {
    JobModel model = racks ? by_rack() : eight_nodes();
    model.spare_nodes = 2;
    failures::ElasticSpec elastic;
    elastic.stall = Seconds(20);
    elastic.rejoin = Seconds(10);
    model.recovery.elastic = elastic;
    model.hazards = {fault_at("rack power", 253, 2)};
    const auto trial = run_trial(model, JobTicks(model), 0);
    const CampaignResult result = summarize(model, std::vector{trial});
    EXPECT_EQ(result.replicas_hit, racks ? 1 : 2);
    // Alarm at 258 s, the others run from 278 s; what is gone is ready 53 s after the alarm: 33 s
    // at 3/4 or 2/4 of the speed.
    EXPECT_EQ(trial[Account::degraded], ticks(racks ? 33 / 4.0 : 33 / 2.0));
  }
}

TEST(RackShock, LeavesCopiesOnPeersThatStandElsewhere) {
  for (const bool racks : {false, true}) {
    JobModel model = racks ? by_rack() : eight_nodes();
    model.spare_nodes = 2;
    model.stall = Seconds(0);
    model.persist = Seconds(0);
    model.storage_every = 5;
    model.near = {{"peer", Reach::node, 1, Seconds(0), Seconds(0), Seconds(1)}};
    model.hazards = {fault_at("rack power", 250, 2)};
    const auto trial = run_trial(model, JobTicks(model), 0);
    // A peer is the next node of the job: in one rack it dies too, and nothing is in storage yet.
    EXPECT_EQ(trial[Account::lost], ticks(racks ? 50 : 250));
  }
}

TEST(ParallelGroup, LeavesAsAWhole) {
  JobModel model = eight_nodes();
  model.spare_nodes = 1;
  model.recovery.eviction = failures::Eviction::parallel_group;
  model.recovery.retest = Seconds(100);
  model.recovery.repair = Seconds(1e9);
  model.hazards = {fault_at("node", 250)};
  // One spare is ready; the replica's healthy node is back after 100 s.
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::wait], ticks(100));
}

TEST(NodePlaces, FollowThePlacement) {
  training::Scenario s = training::eight_nodes();  // TP 8 x PP 4 x DP 2
  s.cluster.placement = training::Placement::rack;
  const NodePlaces places = node_places(training::check(s));
  EXPECT_EQ(places.position, (std::vector<std::uint16_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(places.replica, (std::vector<std::uint32_t>{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(places.place, (std::vector<std::uint32_t>{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(places.replicas, 2);
}

// Copies of a mixture are those of its other weights: any node of another copy has the lost experts
// too.
TEST(NodePlaces, OfHybridMixturesTellCopiesApart) {
  training::Scenario s = training::eight_nodes();
  s.model.moe = workload::ExpertsSpec{};
  s.model.moe->ffn = 1792;
  s.parallelism.tensor = 1;
  s.parallelism.pipeline = 1;
  s.parallelism.expert = 8;
  s.parallelism.sharding = workload::Sharding::hsdp;
  s.parallelism.shard_group_size = 16;
  s.training.global_batch = 64;
  const training::CheckedScenario checked = training::check(s);
  const NodePlaces places = node_places(checked);
  EXPECT_EQ(places.replicas, 4);
  EXPECT_EQ(places.replica, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(shard_layout(checked).replicas, 4);
  const training::RankLayout ranks = training::rank_layout(checked);
  for (const auto group : {workload::Group::expert_replica, workload::Group::replica}) {
    std::vector<std::uint32_t> copies;
    for (const core::Rank member : ranks.members(group, core::Rank(21))) {
      copies.push_back(places.replica[member.index() / 8]);
    }
    EXPECT_EQ(copies, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  }
}

/// Synchronous saves of 10 s; from 150 s on one drive needs 700 s for its part.
JobModel slow_drive_job(double watchdog) {
  JobModel model = small_job();
  model.spare_nodes = 1;
  model.persist = Seconds(0);
  model.hazards = {slow_at("drive", 150, failures::Effect::slow_drive, 0.01)};
  model.slow_drives = {{0, Seconds(700), Seconds(0), {}, {}}};
  model.recovery.detectors = failures::DetectorsSpec{};
  model.recovery.detectors->watchdog = Seconds(watchdog);
  return model;
}

TEST(SlowDrive, HangsASaveThatOutlastsTheWatchdog) {
  const JobModel model = slow_drive_job(600);
  IncidentLog log;
  const auto trial = run_trial(model, JobTicks(model), 0, &log);
  // One save at 110 s; the next begins at 210 s and is given up after 600 s: back to 100 s of work.
  // 6 s of diagnosis, 7 s for the spare, 40 s of restart, then nine segments of 110 s.
  EXPECT_EQ(trial[Account::detect], ticks(600));
  EXPECT_EQ(trial[Account::lost], ticks(100));
  EXPECT_EQ(trial.wall, ticks(210 + 600 + 6 + 7 + 40 + 990));
  const auto incidents = log.take(trial.wall);
  ASSERT_EQ(incidents.size(), 1U);
  EXPECT_EQ(incidents[0].detector, Detector::watchdog);
  EXPECT_EQ(incidents[0].noticed, ticks(810));
}

TEST(SlowDrive, OnlyLengthensASaveThatTheWatchdogOutlasts) {
  const JobModel model = slow_drive_job(800);
  const auto trial = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(trial[Account::detect], 0);
  EXPECT_EQ(trial[Account::lost], 0);
  EXPECT_EQ(trial.wall, ticks(110 + 9 * (100 + 700)));
}

TEST(SlowDrive, HangsTheNextSaveTooIfTheWrongNodeWasBlamed) {
  JobModel model = slow_drive_job(600);
  model.spare_nodes = 100;
  model.gpus = 80000;
  model.recovery.wrong_blame = 0.999999;
  model.end = {{}, Seconds(3000)};
  const auto trial = run_trial(model, JobTicks(model), 0);
  // 210 s, then every 600 + 6 + 7 + 40 + 100 s again; no headway but the first save's.
  EXPECT_EQ(trial[Account::useful], ticks(100));
  EXPECT_EQ(trial.interruptions[0], 4);
}

}  // namespace
}  // namespace headway::campaign
