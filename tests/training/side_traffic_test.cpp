// Saves and loads as flows on the training fabric.
#include "sim/training/step/side_traffic.h"

#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/training/step/step.h"
#include "sim/workload/closed_form.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Seconds;

/// Eight nodes of eight 50 GB/s cards; storage of 4 servers hangs on the same leaves.
Scenario with_servers() {
  Scenario s = eight_nodes();
  s.cluster.storage->path = storage::StoragePath::shared;
  s.cluster.storage->servers = 4;
  s.cluster.storage->latency = Seconds(0);
  s.cluster.storage->client_write_bandwidth = core::BytesPerSecond(40e9);
  s.cluster.storage->client_read_bandwidth = core::BytesPerSecond(40e9);
  return s;
}

storage::ShardLayout shards(double parameters) { return {parameters, 64, 8, 2, true}; }

SideTransfers save(const Scenario& s, double parameters) {
  return {storage::save_transfers(shards(parameters), s.run.checkpoint, *s.cluster.storage),
          Seconds(0)};
}

TEST(SideTransfers, AloneTakeTheClosedForm) {
  Scenario s = with_servers();
  const auto closed = [&](double parameters) {
    return storage::persist_time(shards(parameters), s.run.checkpoint, *s.cluster.storage).si();
  };
  // 8 clients of 40 GB/s, servers of 100 GB/s: the servers decide.
  const auto servers = prepare_step(check(s));
  EXPECT_NEAR(alone(servers, save(s, 8e9)).si(), closed(8e9), 1e-3 * closed(8e9));
  // Clients of 5 GB/s decide.
  s.cluster.storage->client_write_bandwidth = core::BytesPerSecond(5e9);
  const auto clients = prepare_step(check(s));
  EXPECT_NEAR(alone(clients, save(s, 8e9)).si(), closed(8e9), 1e-3 * closed(8e9));
  // All nodes read at once: a restore storm.
  const SideTransfers load{
      storage::load_transfers(shards(8e9), s.run.checkpoint, *s.cluster.storage), Seconds(0)};
  const double storm = storage::load_time(shards(8e9), s.run.checkpoint, *s.cluster.storage).si();
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

// Eight replicas, one a node, that exchange gradients (4 B) and weights (2 B) in the open: R of the
// T seconds of a step; at the cards' full rate it would be r < R. A save that fills the cards alone
// shares them evenly with the exchange, which then takes 2 r, in which r of the save are done. So
// beside the save a step takes T - R + 2 r and does T - R + r of it: a save of eight times that
// lasts eight such steps, each longer by 2 r - R.
TEST(BesideTraining, ASaveAndAReductionShareTheCardsEvenly) {
  Scenario s = with_servers();
  s.cluster.storage->servers = 64;
  s.cluster.storage->write_bandwidth = core::BytesPerSecond(64 * 400e9);
  s.cluster.storage->client_write_bandwidth = core::BytesPerSecond(400e9);
  s.parallelism.pipeline = 1;
  s.training.framework.data_overlap = false;
  const CheckedScenario checked = check(s);
  const StepResult healthy = simulate_step(checked, {.trace = false});
  const auto step = prepare_step(checked);

  const double a_step = healthy.time.si();
  const double exchange = healthy.breakdown[core::Activity::data].si();
  const double parameters = workload::count_parameters(s.model).total() / 8;
  const double at_rate = 7.0 / 8 * parameters * (4 + 2) / (50e9 * s.cluster.fabric.efficiency);
  EXPECT_GT(exchange, at_rate);
  EXPECT_GT(exchange, 0.2 * a_step);
  const double save_of_a_step = a_step - exchange + at_rate;
  const double size = 1e12 * 8 * save_of_a_step / alone(step, save(s, 1e12)).si();

  const auto traffic = beside_training(step, save(s, size), healthy.time);
  EXPECT_FALSE(traffic.scaled);
  EXPECT_NEAR(traffic.lasts.si() / (8 * (save_of_a_step + at_rate)), 1, 5e-3);
  EXPECT_NEAR(traffic.takes.si() / (8 * (2 * at_rate - exchange)), 1, 5e-3);
}

TEST(BesideTraining, ASlowSaveTakesNothing) {
  Scenario s = with_servers();
  s.cluster.storage->client_write_bandwidth = core::BytesPerSecond(1e6);
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
  s.cluster.storage->client_write_bandwidth = core::BytesPerSecond(1e6);
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

// 12,496 nodes take minutes here: how far it has come is told, changes nothing, and can end it.
TEST(BesideTraining, TellsHowFarItHasCome) {
  const Scenario s = with_servers();
  const CheckedScenario checked = check(s);
  const Seconds healthy = simulate_step(checked, {.trace = false}).time;
  const auto step = prepare_step(checked);
  std::size_t told = 0;
  const auto traffic =
      beside_training(step, save(s, 1e9), healthy, [&](std::size_t done, std::size_t total) {
        EXPECT_LE(done, total);
        ++told;
      });
  EXPECT_GT(told, 0U);
  EXPECT_EQ(traffic.takes, beside_training(step, save(s, 1e9), healthy).takes);
  const auto stop = [](std::size_t, std::size_t) { throw core::Error("stopped"); };
  EXPECT_THROW(beside_training(step, save(s, 1e9), healthy, stop), core::Error);
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
