// What a save over the training fabric costs the job: what the flows beside the steps say.
#include "sim/campaign/saves/simulated_saves.h"

#include <gtest/gtest.h>

#include "sim/training/step/side_traffic.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;

training::Scenario saving(storage::StoragePath path) {
  training::Scenario s = training::eight_nodes();
  s.cluster.storage->path = path;
  s.cluster.storage->servers = 4;
  s.run.until = training::UntilSpec{};
  s.run.until->steps = 1000;
  s.run.checkpoint.interval = Seconds(600);
  return s;
}

JobModel job_of(const training::Scenario& s) {
  const auto checked = training::check(s);
  return resolve_job(checked, training::simulate_step(checked)).job;
}

training::SideTraffic beside(const training::Scenario& s, const training::SideTransfers& side) {
  const auto checked = training::check(s);
  return training::beside_training(training::prepare_step(checked), side,
                                   training::simulate_step(checked).time);
}

TEST(SimulatedSaves, StallForTheSnapshotAndForWhatTheStepsLose) {
  const auto s = saving(storage::StoragePath::shared);
  const auto layout = shard_layout(training::check(s));
  const auto flows =
      beside(s, {storage::save_transfers(layout, s.run.checkpoint, *s.cluster.storage),
                 s.cluster.storage->latency});
  const JobModel shared = job_of(s);
  const JobModel dual = job_of(saving(storage::StoragePath::dual));
  EXPECT_GT(flows.takes.si(), 0);
  EXPECT_DOUBLE_EQ(shared.stall.si(), (dual.stall + flows.takes).si());
  EXPECT_DOUBLE_EQ(shared.persist.si(), flows.lasts.si());
}

// Tensor 8 x pipeline 4 hold the weights once, with both directions twice: every copy is loaded.
TEST(ShardLayout, CountsBothCopiesOfTheWeightsUnderDualPipe) {
  auto s = saving(storage::StoragePath::dual);
  EXPECT_EQ(shard_layout(training::check(s)).replicas, 2);
  s.parallelism.schedule = workload::ScheduleKind::dual_pipe;
  EXPECT_EQ(shard_layout(training::check(s)).replicas, 4);
}

TEST(SimulatedSaves, ToPeersTakeTheSameFromTheSteps) {
  auto s = saving(storage::StoragePath::dual);
  storage::CheckpointLevelSpec level;
  level.place = storage::NearPlace::peer;
  s.run.checkpoint.levels = {level};
  const auto checked = training::check(s);
  const auto layout = shard_layout(checked);
  const auto flows =
      beside(s, {storage::peer_transfers(layout, s.run.checkpoint, level, node_network(checked)),
                 Seconds(0)});
  const auto closed =
      storage::near_times(layout, s.run.checkpoint, level, s.cluster.node.gpu.host_bandwidth,
                          node_network(checked), true);
  const JobModel job = job_of(s);
  ASSERT_EQ(job.near.size(), 1U);
  EXPECT_GT(flows.takes.si(), 0);
  EXPECT_DOUBLE_EQ(job.near[0].stall.si(), (closed.stall + flows.takes).si());
  EXPECT_DOUBLE_EQ(job.near[0].persist.si(), flows.lasts.si());
}

}  // namespace
}  // namespace headway::campaign
