// A block of replicas lowered for all that stand alike gives the step of all ranks.
#include "sim/training/orbits/replica_orbits.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <random>

#include "sim/core/error.h"
#include "sim/training/orbits/rank_orbits.h"
#include "sim/training/step/lower.h"

#include "tests/training/draw.h"
#include "tests/training/fixture.h"
#include "tests/training/same_step.h"

namespace headway::training {
namespace {

ReplicaOrbits orbits_of(const Scenario& s) {
  const auto checked = check(Scenario(s));
  const network::Fabric fabric = build_fabric(s.cluster);
  return replica_orbits(checked, fabric.input(), fabric.shape());
}

/// 32 nodes of 8 GPUs on leaves of four nodes, two leaves a pod, a rail each; TP 8, DP 32.
Scenario pods_of_eight() {
  Scenario s = eight_nodes();
  s.cluster.nodes = 32;
  s.cluster.fabric.tiers = 3;
  s.cluster.fabric.topology = network::Topology::rail_only;
  s.cluster.fabric.ports_per_leaf = 4;
  s.cluster.fabric.leaves_per_pod = 2;
  s.parallelism.pipeline = 1;
  s.training.global_batch = 64;
  return s;
}

TEST(ReplicaOrbits, OneBlockStandsForAllWherePodsAreWhole) {
  const Scenario s = pods_of_eight();
  const network::Fabric fabric = build_fabric(s.cluster);
  ASSERT_EQ(fabric.shape().pods_per_tree, 4U);
  const ReplicaOrbits orbits = orbits_of(s);
  EXPECT_EQ(orbits.kept_share(), 1.0 / 32);
  EXPECT_EQ(orbits.size_of(0), 32U);
  const auto nic = orbits.of_link(fabric, fabric.nic_link(29, 3, 0, true));
  EXPECT_EQ(nic.first, fabric.nic_link(0, 3, 0, true));
  EXPECT_EQ(nic.links, 32U);
  const std::uint32_t leaf = fabric.leaf_of(29, 3, 0);
  const auto uplink = orbits.of_link(fabric, fabric.leaf_link(leaf, 0, false));
  EXPECT_EQ(uplink.first, fabric.leaf_link(fabric.leaf_of(0, 3, 0), 0, false));
  EXPECT_EQ(uplink.links, 8U);
  const auto spine = orbits.of_link(fabric, fabric.spine_link(fabric.pod_of(leaf), 0, 0, true));
  EXPECT_EQ(spine.first, fabric.spine_link(fabric.pod_of(fabric.leaf_of(0, 3, 0)), 0, 0, true));
  EXPECT_EQ(spine.links, 4U);
}

// Four stages of 8 nodes on leaves of 16: two stages share a leaf, whose blocks are exchanged; no
// leaf is one stage's alone.
TEST(ReplicaOrbits, StagesThatShareALeafKeepIt) {
  Scenario s = pods_of_eight();
  s.cluster.fabric.ports_per_leaf = 16;
  s.cluster.fabric.tiers = 2;
  s.cluster.fabric.leaves_per_pod = 0;
  s.parallelism.pipeline = 4;
  const ReplicaOrbits orbits = orbits_of(s);
  EXPECT_EQ(orbits.kept_share(), 1.0 / 8);
  const network::Fabric fabric = build_fabric(s.cluster);
  const core::LinkId uplink = fabric.leaf_link(fabric.leaf_of(20, 0, 0), 0, true);
  EXPECT_EQ(orbits.of_link(fabric, uplink).first, uplink);
  EXPECT_EQ(orbits.of_link(fabric, uplink).links, 1U);
}

// Stages of 5 nodes on leaves of 4: block 0 of stage 1 is on leaf 1, of stage 0 on leaf 0, ...
TEST(ReplicaOrbits, BlocksThatALeafPartsInOneStageStayApart) {
  Scenario s = pods_of_eight();
  s.cluster.nodes = 10;
  s.cluster.fabric.tiers = 2;
  s.cluster.fabric.leaves_per_pod = 0;
  s.parallelism.pipeline = 2;
  s.training.global_batch = 10;
  // Leaves of stage 0: 0 0 0 0 1; of stage 1 (nodes 5 to 9): 1 1 1 2 2. Alike: {0, 1, 2}, {3}, {4}.
  EXPECT_EQ(orbits_of(s).kept_share(), 3.0 / 5);
  expect_the_same_step(s);
}

TEST(ReplicaOrbits, NoneWhereReplicasCanBeToldApart) {
  Scenario s = pods_of_eight();
  s.cluster.fabric.routing = network::Routing::ecmp;
  EXPECT_TRUE(orbits_of(s).empty());
  s = pods_of_eight();
  s.cluster.placement = Placement::random;
  EXPECT_TRUE(orbits_of(s).empty());
  s = pods_of_eight();
  s.parallelism.pipeline = 32;  // one replica
  s.model.layers = 32;
  EXPECT_TRUE(orbits_of(s).empty());
}

// A tree loads its root and its last node less than the others, and on leaves with few uplinks some
// leaves less than others: colours part them.
TEST(ReplicaOrbits, ColoursPartWhatATreeLoadsUnequally) {
  Scenario s = pods_of_eight();
  s.cluster.fabric.leaf_oversubscription = 2;
  s.cluster.fabric.spine_oversubscription = 2;
  const auto checked = check(Scenario(s));
  const network::Fabric fabric = build_fabric(s.cluster);
  const RankOrbits orbits = rank_orbits(checked, fabric);
  const auto lowered = lower(checked, step_graph(checked), fabric, {.orbits = &orbits});
  EXPECT_GT(lowered.problem.actors.size(), 1U);
  EXPECT_LT(lowered.problem.actors.size(), 32U);
  expect_the_same_step(s);
}

// 64 nodes in pods of 8, a replica each. A ring is followed through two pods at each end, nodes 0
// to 15 and 48 to 63; pods 2 to 5 are like pod 1.
TEST(ReplicaOrbits, ARingIsNotFollowedThroughTheMiddle) {
  Scenario s = pods_of_eight();
  s.cluster.nodes = 64;
  s.cluster.fabric.leaf_oversubscription = 2;
  s.cluster.fabric.spine_oversubscription = 2;
  const auto checked = check(Scenario(s));
  const network::Fabric fabric = build_fabric(s.cluster);
  const RankOrbits orbits = rank_orbits(checked, fabric);
  const std::vector<int> ends = orbits.replica.without_middle();
  ASSERT_EQ(ends.size(), 32U);
  EXPECT_EQ(ends[15], 15);
  EXPECT_EQ(ends[16], 48);
  const auto lowered = lower(checked, step_graph(checked), fabric, {.orbits = &orbits});
  EXPECT_TRUE(std::any_of(
      lowered.collectives.begin(), lowered.collectives.end(), [](const CollectiveUse& use) {
        return use.shape.domains == 64 && network::between_neighbours(use.call, use.alone);
      }));
  expect_the_same_step(s);
}

/// A random scenario on a random fabric, or nothing where the draw breaks a rule.
std::optional<Scenario> random_cluster(std::mt19937& random) {
  const Draw pick(random);
  Scenario s = eight_nodes();
  auto& f = s.cluster.fabric;
  s.cluster.nodes = pick(6, 8, 12, 16, 24, 32);
  f.topology = pick(network::Topology::rail_optimized, network::Topology::rail_only,
                    network::Topology::fat_tree);
  f.tiers = pick(2, 3);
  f.ports_per_leaf = f.topology == network::Topology::fat_tree ? pick(8, 16, 32) : pick(2, 4, 8);
  f.leaves_per_pod =
      f.tiers == 3 ? pick(1, 2, 4) * (f.topology == network::Topology::rail_optimized ? 8 : 1) : 0;
  f.leaf_oversubscription = pick(1.0, 2.0);
  f.spine_oversubscription = f.tiers == 3 ? pick(1.0, 2.0) : 1.0;
  f.planes = pick(1, 1, 2);
  if (pick(false, false, true)) {
    s.model.moe.emplace();
    s.model.moe->experts = 16;
    s.model.moe->ffn = 2048;
  }
  auto& p = s.parallelism;
  p.tensor = pick(1, 2, 4, 8);
  p.pipeline = pick(1, 2, 4);
  p.context = pick(1, 1, 2);
  p.expert = s.model.moe ? pick(1, 2, 8) : 1;
  p.rank_order = pick(workload::RankOrder::data_first, workload::RankOrder::pipeline_first);
  using workload::Sharding;
  p.sharding = pick(Sharding::zero0, Sharding::zero1, Sharding::zero3, Sharding::hsdp);
  p.shard_group_size = p.sharding == Sharding::hsdp ? pick(2, 4, 8) : 0;
  p.schedule = pick(workload::ScheduleKind::one_f_one_b, workload::ScheduleKind::dual_pipe);
  s.training.global_batch = 192;
  try {
    check(Scenario(s));
    build_fabric(s.cluster);
  } catch (const core::Error&) {
    return std::nullopt;
  }
  return s;
}

TEST(ReplicaOrbits, GiveTheStepOfAllRanksOnRandomFabrics) {
  std::mt19937 random(20261123);
  int taken = 0;
  for (int draw = 0; draw < 400 && taken < 60; ++draw) {
    const auto s = random_cluster(random);
    if (!s || orbits_of(*s).empty()) {
      continue;
    }
    const auto& f = s->cluster.fabric;
    const auto& p = s->parallelism;
    SCOPED_TRACE(fmt::format(
        "draw {}: {} nodes, {} of {} tiers, {} ports, {} leaves a pod, {} and {} to 1, {} planes; "
        "tensor {} context {} pipeline {} expert {} {} {} {}",
        draw, s->cluster.nodes, core::to_word(f.topology), f.tiers, f.ports_per_leaf,
        f.leaves_per_pod, f.leaf_oversubscription, f.spine_oversubscription, f.planes, p.tensor,
        p.context, p.pipeline, p.expert, core::to_word(p.sharding), p.shard_group_size,
        core::to_word(p.rank_order)));
    ++taken;
    expect_the_same_step(*s);
    if (HasFailure()) {
      break;
    }
  }
  EXPECT_EQ(taken, 60);
}

}  // namespace
}  // namespace headway::training
