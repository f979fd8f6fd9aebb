// What a machine draws, part by part.
#include "sim/training/power/machine_power.h"

#include <gtest/gtest.h>

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

/// Ten nodes of eight GPUs of 700 W, 100 W at rest.
ClusterSpec ten_nodes() {
  ClusterSpec cluster = eight_nodes().cluster;
  cluster.nodes = 10;
  cluster.spares = 2;
  cluster.node.gpu.idle_power = core::Watts(100);
  cluster.node.host_power = core::Watts(2000);
  return cluster;
}

TEST(MachinePower, IsTheSumOfItsParts) {
  ClusterSpec cluster = ten_nodes();
  cluster.fabric.leaf_oversubscription = 2;
  cluster.fabric.switch_power_per_port = core::Watts(25);
  // 96 NICs: 96 leaf ports, 48 cables to the spine with two ports each.
  EXPECT_DOUBLE_EQ(switch_ports(cluster, cluster.spares), 96 + 96);
  cluster.fabric.tiers = 3;
  cluster.fabric.spine_oversubscription = 4;
  EXPECT_DOUBLE_EQ(switch_ports(cluster, cluster.spares), 96 + 96 + 24);
  const MachinePower power = machine_power(cluster, cluster.spares, 0.5);
  const double rest = 16 * 100 + 12 * 2000 + 216 * 25;
  EXPECT_DOUBLE_EQ(power.standing.si(), 80 * 100 + rest);
  EXPECT_DOUBLE_EQ(power.training.si(), 80 * 400 + rest);
}

TEST(MachinePower, OfUnequalNodesIsThatOfEachKind) {
  ClusterSpec cluster = ten_nodes();
  NodeSpec old = cluster.node;
  old.gpu.power = core::Watts(400);
  old.gpu.idle_power = core::Watts(50);
  old.host_power = core::Watts(1000);
  const MachinePower of_one = machine_power(cluster, 2, 0.5);
  cluster.other_nodes = {{4, old}};
  // 32 of 80 GPUs draw 225 W instead of 400 W at half of their range, and 50 W instead of 100 W at
  // rest; 4 of 12 hosts 1 kW less; spares are of the first kind.
  const MachinePower power = machine_power(cluster, 2, 0.5);
  EXPECT_DOUBLE_EQ(power.training.si(), of_one.training.si() - 32 * (400 - 225) - 4 * 1000);
  EXPECT_DOUBLE_EQ(power.standing.si(), of_one.standing.si() - 32 * (100 - 50) - 4 * 1000);
  // Each kind by its own share: the 48 new ones compute all the time, the old ones never.
  EXPECT_DOUBLE_EQ(machine_power(cluster, 2, {1, 0}).training.si(),
                   power.standing.si() + 48 * (700 - 100));
}

}  // namespace
}  // namespace headway::training
