// Saves and loads as flows on the training fabric.
#include "sim/training/step/side_traffic.h"

#include <gtest/gtest.h>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Seconds;

/// Eight nodes of eight 50 GB/s cards; storage of 4 servers hangs on the same leaves.
Scenario with_servers() {
  Scenario s = eight_nodes();
  s.cluster.storage.path = storage::StoragePath::shared;
  s.cluster.storage.servers = 4;
  s.cluster.storage.latency = Seconds(0);
  s.cluster.storage.client_write_bandwidth = core::BytesPerSecond(40e9);
  s.cluster.storage.client_read_bandwidth = core::BytesPerSecond(40e9);
  return s;
}

storage::ShardLayout shards(double parameters) { return {parameters, 64, 8, 2, true}; }

SideTransfers save(const Scenario& s, double parameters) {
  return {storage::save_transfers(shards(parameters), s.run.checkpoint, s.cluster.storage),
          Seconds(0)};
}

TEST(SideTransfers, AloneTakeTheClosedForm) {
  Scenario s = with_servers();
  const auto closed = [&](double parameters) {
    return storage::persist_time(shards(parameters), s.run.checkpoint, s.cluster.storage).si();
  };
  // 8 clients of 40 GB/s, servers of 100 GB/s: the servers decide.
  const auto servers = prepare_step(check(s));
  EXPECT_NEAR(alone(servers, save(s, 8e9)).si(), closed(8e9), 1e-3 * closed(8e9));
  // Clients of 5 GB/s decide.
  s.cluster.storage.client_write_bandwidth = core::BytesPerSecond(5e9);
  const auto clients = prepare_step(check(s));
  EXPECT_NEAR(alone(clients, save(s, 8e9)).si(), closed(8e9), 1e-3 * closed(8e9));
  // All nodes read at once: a restore storm.
  const SideTransfers load{
      storage::load_transfers(shards(8e9), s.run.checkpoint, s.cluster.storage), Seconds(0)};
  const double storm = storage::load_time(shards(8e9), s.run.checkpoint, s.cluster.storage).si();
  EXPECT_NEAR(alone(clients, load).si(), storm, 1e-3 * storm);
}

TEST(SideTransfers, ToPeersTakeTheBytesOverTheCards) {
  const Scenario s = eight_nodes();
  const auto step = prepare_step(check(s));
  const SideTransfers copies{
      storage::peer_transfers(shards(8e9), s.run.checkpoint, {}, core::BytesPerSecond(400e9)),
      Seconds(0)};
  // 8e9 x 14 B / 8 nodes over 8 cards of 50 GB/s, less what the fabric's efficiency leaves.
  const double rate = 400e9 * s.cluster.fabric.efficiency;
  EXPECT_NEAR(alone(step, copies).si(), 14e9 / rate, 1e-3 * 14e9 / rate);
}

TEST(BesideTraining, ASaveSlowsStepsAndStepsSlowTheSave) {
  Scenario s = with_servers();
  s.cluster.storage.write_bandwidth = core::BytesPerSecond(4e12);
  s.cluster.storage.client_write_bandwidth = core::BytesPerSecond(400e9);
  const CheckedScenario checked = check(s);
  const Seconds healthy = simulate_step(checked, {.trace = false}).time;
  const auto step = prepare_step(checked);
  const auto once = beside_training(step, save(s, 100e9), healthy);
  EXPECT_GT(once.takes.si(), 0);
  EXPECT_GT(once.lasts, alone(step, save(s, 100e9)));
  // No more than if training stood still meanwhile.
  EXPECT_LT(once.takes, once.lasts);
  // Twice the bytes take about twice as much.
  const auto twice = beside_training(step, save(s, 200e9), healthy);
  EXPECT_NEAR(twice.takes / once.takes, 2, 0.5);
}

TEST(BesideTraining, ASlowSaveTakesNothing) {
  Scenario s = with_servers();
  s.cluster.storage.client_write_bandwidth = core::BytesPerSecond(1e6);
  const CheckedScenario checked = check(s);
  const Seconds healthy = simulate_step(checked, {.trace = false}).time;
  const auto step = prepare_step(checked);
  const auto traffic = beside_training(step, save(s, 1e9), healthy);
  // 14 GB by 8 nodes of 1 MB/s: 1,750 s, of which a part is simulated.
  EXPECT_TRUE(traffic.scaled);
  EXPECT_NEAR(traffic.lasts.si(), 1750, 2);
  EXPECT_LT(traffic.takes.si(), 0.01 * traffic.lasts.si());
}

// Opening files moves nothing: it adds its own time, be it of many steps, and takes nothing of the
// steps beside it.
TEST(BesideTraining, OpeningFilesLastsAsLongAsItDoes) {
  Scenario s = with_servers();
  s.cluster.storage.client_write_bandwidth = core::BytesPerSecond(1e6);
  const CheckedScenario checked = check(s);
  const Seconds healthy = simulate_step(checked, {.trace = false}).time;
  const auto step = prepare_step(checked);
  const auto at_once = beside_training(step, save(s, 1e9), healthy);
  SideTransfers late = save(s, 1e9);
  for (const double steps : {1.0, 40.0, 1000.0}) {
    late.latency = steps * healthy;
    const auto traffic = beside_training(step, late, healthy);
    EXPECT_NEAR(traffic.lasts / healthy, at_once.lasts / healthy + steps, 1e-6 * steps);
    EXPECT_NEAR(traffic.takes.si(), at_once.takes.si(), 1e-3 * at_once.lasts.si());
  }
}

TEST(StorageOnTheFabric, LeavesTheStepWithoutSavesAsItIs) {
  EXPECT_NEAR(simulate_step(check(with_servers()), {.trace = false}).time.si(),
              simulate_step(check(eight_nodes()), {.trace = false}).time.si(), 1e-9);
}

TEST(StorageTargets, DivideTheUnitOfShares) {
  EXPECT_EQ(storage_targets(7500, 64), 63);
  EXPECT_EQ(storage_targets(4, 64), 4);
  EXPECT_EQ(storage_targets(11, 64), 10);
  EXPECT_EQ(storage_targets(1, 1), 1);
}

}  // namespace
}  // namespace headway::training
