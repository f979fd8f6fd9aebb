// A switch that fails takes its cables with it: routes, pools and the bisection follow.
#include "sim/network/fabric/fabric_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sim/core/error.h"
#include "sim/network/fabric/fabric_report.h"
#include "sim/network/fabric/route.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::GpuId;

Fabric without(const FabricInput& in, const std::vector<SwitchId>& switches) {
  Fabric fabric(in);
  fail_switches(switches, fabric);
  return fabric;
}

TEST(FailedSwitch, ASpineTakesItsShareOfEveryPool) {
  // 8 leaves of 32 uplinks to 4 spines of 64 ports: one spine is a quarter of the bisection.
  const auto in = flat_tree(256, Routing::adaptive);
  const auto spines = Fabric(in).shape().spines;
  ASSERT_EQ(spines, 4U);
  const double healthy = report(Fabric(in)).bisection.si();
  const auto one = without(in, {{SwitchTier::spine, 0}});
  EXPECT_NEAR(report(one).bisection.si(), healthy * (1 - 1.0 / spines), 1);
  EXPECT_FALSE(one.link(one.leaf_link(0, 0, true)).never_binds);
  const auto two = without(in, {{SwitchTier::spine, 0}, {SwitchTier::spine, 2}});
  EXPECT_NEAR(report(two).bisection.si(), healthy * (1 - 2.0 / spines), 1);
  EXPECT_TRUE(report(two).connected);
}

TEST(FailedSwitch, HashedRoutesPassOverADeadSpine) {
  const auto in = flat_tree(256, Routing::ecmp);
  const Fabric healthy(in);
  const auto sick = without(in, {{SwitchTier::spine, 3}});
  std::set<std::uint32_t> before, after;
  for (std::uint64_t label = 0; label < 500; ++label) {
    const auto spine_taken = [&](const Fabric& fabric) {
      const auto way = route(fabric, GpuId(0), GpuId(40), label);
      for (std::uint32_t cable = 0; cable < fabric.shape().uplinks; ++cable) {
        if (way.hops[2].link == fabric.leaf_link(0, cable, true) ||
            way.hops[1].link == fabric.leaf_link(0, cable, true)) {
          return fabric.spine_of(cable);
        }
      }
      return UINT32_MAX;
    };
    before.insert(spine_taken(healthy));
    after.insert(spine_taken(sick));
  }
  EXPECT_TRUE(before.contains(3));
  EXPECT_FALSE(after.contains(3));
  EXPECT_EQ(after.size(), before.size() - 1);
}

TEST(FailedSwitch, ALeafOfARailIsGoneRoundOverNvlink) {
  // Leaf 2 serves rail 2 of nodes 0 to 3: their third GPUs leave through the next rail.
  const auto fabric = without(dgx_h100(4), {{SwitchTier::leaf, 2}});
  const auto r = report(fabric);
  EXPECT_TRUE(r.connected);
  EXPECT_EQ(r.links_down, 2U * 4U + (fabric.shape().spines > 0 ? 2U : 0U));
  const auto way = route(fabric, GpuId(2), GpuId(10));
  const auto dead = fabric.nic_link(0, 2, 0, true);
  for (const auto& hop : way.hops) {
    EXPECT_NE(hop.link, dead);
  }
  EXPECT_EQ(way.hops.front().link, fabric.scale_up_link(2, true));
}

TEST(FailedSwitch, ALeafWithoutASecondRailCutsItsHostsOff) {
  const auto r = report(without(flat_tree(64), {{SwitchTier::leaf, 1}}));
  EXPECT_FALSE(r.connected);
  EXPECT_EQ(r.unreachable_gpus, 32U);
}

TEST(FailedSwitch, ACoreTakesItsShareOfEveryPod) {
  auto in = flat_tree(256, Routing::adaptive);
  in.fabric.tiers = 3;
  in.fabric.leaves_per_pod = 2;
  const Fabric healthy(in);
  ASSERT_GT(healthy.shape().cores, 1U);
  const auto sick = without(in, {{SwitchTier::core, 0}});
  const auto& s = healthy.shape();
  const double share = 1.0 / (s.spines_per_pod * s.cores_per_spine);
  for (std::uint32_t pod = 0; pod < s.pods_per_tree; ++pod) {
    const auto pool = sick.spine_link(pod, 0, 0, true);
    EXPECT_NEAR(sick.link(pool).capacity / healthy.link(pool).capacity, 1 - share, 1e-12);
  }
}

TEST(FailedSwitch, ADragonflyLeafTakesItsPartOfTheGlobalCables) {
  auto in = flat_tree(256, Routing::adaptive);
  in.fabric.topology = Topology::dragonfly;
  in.fabric.leaves_per_pod = 4;
  const Fabric healthy(in);
  const auto sick = without(in, {{SwitchTier::leaf, 0}});
  EXPECT_EQ(sick.link(sick.local_link(0, true)).state, LinkState::down);
  EXPECT_LT(sick.link(sick.global_link(0, 1)).capacity,
            healthy.link(healthy.global_link(0, 1)).capacity);
  EXPECT_EQ(report(sick).unreachable_gpus, 255U);  // seen from GPU 0, which sits on it
}

// Nine groups of four leaves, one cable to each other group, dealt to the leaves in turn: 2 of the
// 8 are the failed one's, and no other group is cut off. Each sibling loses what joined it to that
// leaf.
TEST(FailedSwitch, ADragonflyLeafTakesTheCablesThatItHolds) {
  auto in = flat_tree(36 * 8, Routing::adaptive);
  in.fabric.topology = Topology::dragonfly;
  in.fabric.leaves_per_pod = 4;
  in.fabric.ports_per_leaf = 8;
  in.fabric.leaf_oversubscription = 4;
  const Fabric healthy(in);
  const auto& s = healthy.shape();
  ASSERT_EQ(s.pods_per_tree, 9U);
  ASSERT_EQ(s.global_cables, 1U);
  const auto sick = without(in, {{SwitchTier::leaf, 1}});
  std::uint32_t lost = 0;
  for (std::uint32_t other = 1; other < s.pods_per_tree; ++other) {
    lost += sick.link(sick.global_link(0, other)).state == LinkState::down ? 1 : 0;
  }
  EXPECT_EQ(lost, 2U);
  const auto sibling = sick.local_link(2, true);
  EXPECT_NEAR(sick.link(sibling).capacity / healthy.link(sibling).capacity, 2.0 / 3, 1e-12);
}

std::string refusal(std::string_view words) {
  try {
    parse_switch(words, Fabric(flat_tree(64)).shape());
  } catch (const core::Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "nothing was thrown";
}

TEST(FailedSwitch, IsNamedByTierAndNumber) {
  const auto id = parse_switch("spine:3", Fabric(flat_tree(256)).shape());
  EXPECT_EQ(id.tier, SwitchTier::spine);
  EXPECT_EQ(id.index, 3U);
  EXPECT_EQ(refusal("leaf:2"), "'leaf:2' is no switch: the fabric has 2 leaf switches, from 0");
  EXPECT_EQ(refusal("core:0"), "'core:0' is no switch: the fabric has 0 core switches, from 0");
  EXPECT_EQ(refusal("leaf:x"), "'leaf:x' is no switch: the fabric has 2 leaf switches, from 0");
  EXPECT_EQ(refusal("leaf"), "'leaf' names no switch; write leaf:N, spine:N or core:N");
}

}  // namespace
}  // namespace headway::network
