#include "sim/network/fabric/storage_flows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/fabric/fabric_report.h"
#include "sim/network/fabric/route.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::CollectiveKind;
using core::GpuId;

/// dgx_h100 with `targets` servers of 40 GB/s writing, 60 GB/s reading; no latencies.
FabricInput with_storage(int nodes, int targets) {
  FabricInput in = dgx_h100(nodes);
  in.fabric.link_latency = in.nic.latency = core::Seconds{0};
  in.storage = {targets, 60_GBps, 40_GBps};
  return in;
}

std::vector<GpuId> first_of_nodes(int nodes) {
  std::vector<GpuId> list;
  for (int n = 0; n < nodes; ++n) {
    list.emplace_back(static_cast<std::uint32_t>(8 * n));
  }
  return list;
}

/// Seconds until each transfer is complete, all launched at zero, one actor each.
std::vector<double> ends(Problem problem, const std::vector<std::uint32_t>& groups) {
  problem.programs.push_back({{StepCode::arrive}, {StepCode::wait}});
  for (const auto group : groups) {
    Actor actor;
    actor.groups = {group};
    problem.actors.push_back(actor);
  }
  RunOptions options;
  options.fold = false;
  const auto result = run(problem, options);
  std::vector<double> seconds;
  for (const auto tick : result.actor_end) {
    seconds.push_back(core::Clock::step().to_seconds(tick).si());
  }
  return seconds;
}

double alone(const Fabric& fabric, const StorageCall& call, const std::vector<GpuId>& members) {
  Problem problem;
  LinkNumbers numbers(fabric);
  const auto group = append(emit_storage(fabric, call, members), 1, core::Activity::checkpoint, 0,
                            numbers, problem);
  return ends(problem, {group})[0];
}

TEST(StorageFlows, AWriterIsBoundByItsCardThenByTheServersThenByItsClient) {
  const auto one = first_of_nodes(1);
  // 8 servers take 320 GB/s, the card sends 50: 5e9 / 50e9.
  EXPECT_NEAR(alone(Fabric(with_storage(4, 8)), {5_GB, true, {}, {}}, one), 0.1, 1e-9);
  // One server takes 40.
  EXPECT_NEAR(alone(Fabric(with_storage(4, 1)), {4_GB, true, {}, {}}, one), 0.1, 1e-9);
  // The client makes 10 GB/s.
  EXPECT_NEAR(alone(Fabric(with_storage(4, 8)), {1_GB, true, 10_GBps, {}}, one), 0.1, 1e-9);
  // Reading from one server: the card takes 50 of its 60.
  EXPECT_NEAR(alone(Fabric(with_storage(4, 1)), {5_GB, false, {}, {}}, one), 0.1, 1e-9);
}

TEST(StorageFlows, ManyWritersShareTheServers) {
  // 8 nodes write 1 GB each through one card to 2 servers: 8e9 / 80e9, less than 8 cards send.
  const Fabric fabric(with_storage(8, 2));
  EXPECT_NEAR(alone(fabric, {1_GB, true, {}, {}}, first_of_nodes(8)), 0.1, 1e-6);
}

TEST(StorageFlows, ACheckpointOnTheSharedFabricStretchesACollectiveOnTheSameCards) {
  const Fabric fabric(with_storage(4, 16));
  const auto members = first_of_nodes(4);
  const auto machine = make_parameters(fabric.input(), NcclGeneration::hopper);
  const CollectiveCall call{CollectiveKind::all_reduce, 1_GB, Algorithm::ring, Protocol::simple};
  const auto time = collective_time(call, group_shape(fabric, members), machine);
  Problem problem;
  LinkNumbers numbers(fabric);
  const auto ring = append(emit_collective(fabric, call, members, time), 1, core::Activity::data, 0,
                           numbers, problem);
  const auto quiet = ends(problem, {ring})[0];
  EXPECT_NEAR(quiet, time.total.si(), 1e-9);
  // Members write so much that they write all the while. A card is shared fairly: 25 GB/s each, or
  // what the ring's own bound leaves.
  const auto save = append(emit_storage(fabric, {100_GB, true, {}, {}}, members), 1,
                           core::Activity::checkpoint, 0, numbers, problem);
  const auto busy = ends(problem, {ring, save});
  const double sent = time.nic_bytes.si();
  EXPECT_NEAR(busy[0], time.alpha.si() + sent / 25e9, 1e-6 + 1e-3 * busy[0]);
  EXPECT_GT(busy[0], 1.5 * quiet);
  EXPECT_GT(busy[1], 100 / 50.0);
}

TEST(StorageRoute, WritesClimbToTheServersLeafAndReadsComeBack) {
  const Fabric fabric(with_storage(8, 2));  // 2 groups of leaves x 8 rails; servers on leaf 0 and 8
  EXPECT_EQ(fabric.storage_leaf(0, 0), 0U);
  EXPECT_EQ(fabric.storage_leaf(1, 0), 8U);
  const auto tiers = [&](const Route& r) {
    std::vector<Tier> list;
    for (const auto& hop : r.hops) {
      list.push_back(fabric.link(hop.link).tier);
    }
    return list;
  };
  EXPECT_EQ(tiers(storage_route(fabric, GpuId(0), 0, true)),
            (std::vector{Tier::host, Tier::nic, Tier::storage}));
  EXPECT_EQ(
      tiers(storage_route(fabric, GpuId(0), 1, true)),
      (std::vector{Tier::host, Tier::nic, Tier::leaf_spine, Tier::leaf_spine, Tier::storage}));
  EXPECT_EQ(
      tiers(storage_route(fabric, GpuId(0), 1, false)),
      (std::vector{Tier::storage, Tier::leaf_spine, Tier::leaf_spine, Tier::nic, Tier::host}));
}

TEST(StorageRoute, ADeadServerIsRefusedByName) {
  Fabric fabric(with_storage(4, 2));
  fabric.degrade(fabric.storage_link(1, false), 0);
  EXPECT_NO_THROW(storage_route(fabric, GpuId(0), 1, false));  // still reads
  try {
    storage_route(fabric, GpuId(0), 1, true);
    FAIL() << "a dead server was written to";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("no path from GPU 0 to storage: storage target 1"));
  }
}

TEST(StorageRoute, EveryPlaneAndRailReachesTheServers) {
  FabricInput in = with_storage(8, 3);
  in.fabric.planes = 2;
  for (const auto topology : {Topology::rail_only, Topology::multi_plane, Topology::dragonfly}) {
    in.fabric.topology = topology;
    const Fabric fabric(in);
    for (const std::uint32_t gpu : {0U, 5U, 63U}) {
      for (const bool write : {true, false}) {
        const auto way = storage_route(fabric, GpuId(gpu), 2, write);
        std::uint32_t nic_share = 0;
        for (const auto& hop : way.hops) {
          nic_share += fabric.link(hop.link).tier == Tier::nic ? hop.coefficient : 0;
        }
        EXPECT_EQ(nic_share, kCoefficientUnit) << core::to_word(topology);  // over both planes
      }
    }
  }
}

TEST(StorageFabric, ServersCanFillALeafsUplinks) {
  // Non-blocking for 4 hosts of 50 GB/s; a server of 60 GB/s on the leaf makes the pool able to
  // bind.
  const Fabric without(with_storage(8, 0));
  const Fabric with(with_storage(8, 1));
  EXPECT_TRUE(without.link(without.leaf_link(0, 0, true)).never_binds);
  EXPECT_FALSE(with.link(with.leaf_link(0, 0, true)).never_binds);
  EXPECT_TRUE(with.link(with.leaf_link(1, 0, true)).never_binds);
}

TEST(StorageFabric, ServersAreCountedAndDrawn) {
  const Fabric fabric(with_storage(8, 3));
  const auto r = report(fabric);
  EXPECT_EQ(r.storage_targets, 3U);
  EXPECT_EQ(r.tiers.back().name, "storage");
  EXPECT_TRUE(r.connected);
  EXPECT_THAT(to_dot(fabric), testing::HasSubstr("storage2"));
  EXPECT_EQ(fabric.describe(fabric.storage_link(2, true)), "storage target 2 -> its leaf");
}

TEST(StorageFlows, AFabricWithoutServersRefusesStorageTraffic) {
  const Fabric fabric(with_storage(4, 0));
  EXPECT_THROW(emit_storage(fabric, {1_GB, true, {}, {}}, first_of_nodes(1)), core::Error);
}

}  // namespace
}  // namespace headway::network
