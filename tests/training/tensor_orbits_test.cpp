// One tensor rank lowered for all gives the step of all ranks, healthy and not.
#include "sim/training/step/tensor_orbits.h"

#include <gtest/gtest.h>

#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

TensorOrbits orbits_of(const Scenario& s) {
  return tensor_orbits(check(Scenario(s)), build_fabric(s.cluster));
}

/// Every figure of the step, whole and by orbits.
void expect_the_same_step(const Scenario& s, const std::vector<Degradation>& degradations = {}) {
  const auto checked = check(Scenario(s));
  StepOptions options;
  options.degradations = degradations;
  const auto folded = simulate_step(checked, options);
  options.fold = false;
  const auto whole = simulate_step(checked, options);
  EXPECT_EQ(folded.time, whole.time);
  EXPECT_EQ(folded.result_digest, whole.result_digest);
  EXPECT_EQ(folded.ranks, whole.ranks);
  for (std::size_t a = 0; a < core::kActivities; ++a) {
    EXPECT_NEAR(folded.breakdown.values[a].si(), whole.breakdown.values[a].si(),
                1e-9 * whole.time.si());
  }
  ASSERT_EQ(folded.links.size(), whole.links.size());
  for (const auto& use : folded.links) {
    const auto same = std::find_if(whole.links.begin(), whole.links.end(),
                                   [&](const LinkUse& other) { return other.tier == use.tier; });
    ASSERT_NE(same, whole.links.end()) << use.tier;
    EXPECT_NEAR(use.mean, same->mean, 1e-9) << use.tier;
    EXPECT_NEAR(use.busiest, same->busiest, 1e-9) << use.tier;
    EXPECT_LE(use.mean, use.busiest * (1 + 1e-9)) << use.tier;
    EXPECT_LE(use.busiest, 1 + 1e-9) << use.tier;
  }
}

TEST(TensorOrbits, OneIndexStandsForAllOnAHealthyCluster) {
  const auto orbits = orbits_of(eight_nodes());
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
  EXPECT_TRUE(orbits_of(s).empty());
  s = eight_nodes();
  s.cluster.node.nic.count = 4;  // two GPUs a rail
  EXPECT_TRUE(orbits_of(s).empty());
  s = eight_nodes();
  s.parallelism.tensor = 1;
  EXPECT_TRUE(orbits_of(s).empty());
  s = eight_nodes();
  s.cluster.fabric.topology = network::Topology::dragonfly;
  s.cluster.fabric.leaves_per_pod = 4;
  EXPECT_TRUE(orbits_of(s).empty());
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
      EXPECT_FALSE(orbits_of(s).empty());
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
