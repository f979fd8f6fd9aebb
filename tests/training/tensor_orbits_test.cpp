// One tensor rank lowered for all gives the step of all ranks, healthy and not.
#include "sim/training/orbits/tensor_orbits.h"

#include <gtest/gtest.h>

#include "sim/training/step/lower.h"

#include "tests/training/fixture.h"
#include "tests/training/same_step.h"

namespace headway::training {
namespace {

TensorOrbits tensor_orbits_of(const Scenario& s) {
  return tensor_orbits(check(Scenario(s)), build_fabric(s.cluster));
}

TEST(TensorOrbits, OneIndexStandsForAllOnAHealthyCluster) {
  const auto orbits = tensor_orbits_of(eight_nodes());
  EXPECT_EQ(orbits.kept, (std::vector<int>{0}));
  EXPECT_EQ(orbits.size_of(0), 8U);
}

TEST(TensorOrbits, ASlowCardStandsForItselfAlone) {
  const auto checked = check(eight_nodes());
  auto fabric = build_fabric(checked.scenario().cluster);
  for (const core::LinkId link : card_links(fabric, core::GpuId(16))) {
    fabric.degrade(link, 0.5);
  }
  const auto slow_port = tensor_orbits(checked, fabric);
  EXPECT_EQ(slow_port.kept, (std::vector<int>{0, 1}));
  EXPECT_EQ(slow_port.size_of(0), 1U);
}

TEST(TensorOrbits, NoneWhereIndicesCanBeToldApart) {
  auto s = eight_nodes();
  s.cluster.fabric.routing = network::Routing::ecmp;
  EXPECT_TRUE(tensor_orbits_of(s).empty());
  s = eight_nodes();
  s.cluster.node.nic.count = 4;  // two GPUs a rail
  EXPECT_TRUE(tensor_orbits_of(s).empty());
  s = eight_nodes();
  s.parallelism.tensor = 1;
  EXPECT_TRUE(tensor_orbits_of(s).empty());
  s = eight_nodes();
  s.cluster.fabric.topology = network::Topology::dragonfly;
  s.cluster.fabric.leaves_per_pod = 4;
  EXPECT_TRUE(tensor_orbits_of(s).empty());
}

TEST(TensorOrbits, GiveTheStepOfAllRanks) {
  expect_the_same_step(eight_nodes());
  for (const auto topology : {network::Topology::rail_only, network::Topology::fat_tree}) {
    auto s = eight_nodes();
    s.cluster.fabric.topology = topology;
    expect_the_same_step(s);
  }
  auto s = eight_nodes();
  s.parallelism.tensor = 4;
  s.parallelism.context = 2;
  s.parallelism.pipeline = 2;
  expect_the_same_step(s);
  s = eight_nodes();
  s.parallelism.tensor = 2;
  s.parallelism.pipeline = 2;
  s.parallelism.sharding = workload::Sharding::zero3;
  expect_the_same_step(s);
}

// Leaves of four ports with half the uplinks: pools that several rails share do bind.
TEST(TensorOrbits, GiveTheStepOfAllRanksWhereTheyShareUplinks) {
  for (const auto topology : {network::Topology::rail_optimized, network::Topology::fat_tree}) {
    for (const int tensor : {8, 4, 2}) {
      auto s = eight_nodes();
      s.cluster.fabric.topology = topology;
      s.cluster.fabric.ports_per_leaf = topology == network::Topology::fat_tree ? 16 : 2;
      s.cluster.fabric.leaf_oversubscription = 2;
      s.parallelism.tensor = tensor;
      s.parallelism.pipeline = 2;
      EXPECT_FALSE(tensor_orbits_of(s).empty());
      expect_the_same_step(s);
    }
  }
}

TEST(TensorOrbits, GiveTheStepOfAllRanksWithSlowParts) {
  using Kind = Degradation::Kind;
  const std::vector<std::vector<Degradation>> states{
      {{Kind::gpu, 0.7, core::Rank(11)}},
      {{Kind::gpu, 0.7, core::Rank(11)}, {Kind::gpu, 0.8, core::Rank(52)}},
      {{Kind::link, 0.25, core::Rank(16)}},
      {{Kind::link, 0.25, core::Rank(63)}, {Kind::gpu, 0.5, core::Rank(0)}},
      {{Kind::all_links, 0.5, {}}, {Kind::gpu, 0.9, core::Rank(1)}},
  };
  for (const auto& state : states) {
    expect_the_same_step(eight_nodes(), state);
    auto s = eight_nodes();
    s.parallelism.tensor = 4;
    expect_the_same_step(s, state);
  }
}

}  // namespace
}  // namespace headway::training
