#include "sim/network/fabric/route.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

#include "sim/core/error.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::GpuId;

std::vector<Tier> tiers(const Fabric& fabric, const Route& r) {
  std::vector<Tier> list;
  for (const auto& hop : r.hops) {
    list.push_back(fabric.link(hop.link).tier);
  }
  return list;
}

TEST(Route, InsideADomainCrossesNvlinkTwice) {
  const Fabric fabric(dgx_h100(2));
  const Route r = route(fabric, GpuId(1), GpuId(5));
  EXPECT_EQ(tiers(fabric, r), (std::vector{Tier::scale_up, Tier::scale_up}));
  EXPECT_DOUBLE_EQ(r.latency.si(), 1e-6);
  EXPECT_EQ(r.switches, 0);
}

TEST(Route, SameRailMeetsAtOneLeaf) {
  const Fabric fabric(dgx_h100(4));
  const Route r = route(fabric, GpuId(3), GpuId(8 + 3));
  EXPECT_EQ(tiers(fabric, r), (std::vector{Tier::host, Tier::nic, Tier::nic, Tier::host}));
  EXPECT_DOUBLE_EQ(r.latency.si(), 2 * 1e-6 + 2 * 0.5e-6);
  EXPECT_EQ(r.switches, 1);
}

TEST(Route, PxnCrossesNvlinkToTheDestinationsRail) {
  const Fabric fabric(dgx_h100(4));
  const Route r = route(fabric, GpuId(0), GpuId(8 + 3));
  EXPECT_EQ(tiers(fabric, r), (std::vector{Tier::scale_up, Tier::scale_up, Tier::host, Tier::nic,
                                           Tier::nic, Tier::host}));
  EXPECT_EQ(r.hops[1].link, fabric.scale_up_link(3, false));
  EXPECT_EQ(r.hops[3].link, fabric.nic_link(0, 3, 0, true));
}

TEST(Route, WithoutPxnRailsMeetAtASpine) {
  auto in = dgx_h100(4);
  in.fabric.pxn = false;
  const Fabric fabric(in);
  const Route r = route(fabric, GpuId(0), GpuId(8 + 3));
  EXPECT_EQ(tiers(fabric, r), (std::vector{Tier::host, Tier::nic, Tier::leaf_spine,
                                           Tier::leaf_spine, Tier::nic, Tier::host}));
  EXPECT_EQ(r.switches, 3);
}

TEST(Route, RailOnlyNeedsPxnToCrossRails) {
  auto in = dgx_h100(4);
  in.fabric.topology = Topology::rail_only;
  EXPECT_EQ(route(Fabric(in), GpuId(0), GpuId(8 + 3)).switches, 1);
  in.fabric.pxn = false;
  EXPECT_THROW(route(Fabric(in), GpuId(0), GpuId(8 + 3)), core::Error);
}

TEST(Route, DestinationModuloGivesEveryDestinationItsOwnCable) {
  // 32 sources of leaf 0 to the 32 hosts of leaf 1: 32 uplinks, no two shared.
  const Fabric fabric(flat_tree(64));
  std::set<core::LinkId> ups;
  for (int i = 0; i < 32; ++i) {
    const Route r = route(fabric, GpuId(i), GpuId(32 + (i + 5) % 32));
    ASSERT_EQ(r.hops.size(), 6U);
    EXPECT_DOUBLE_EQ(r.latency.si(), 4e-6);
    ups.insert(r.hops[2].link);
    // The same cable number on the way down: up and down pass one spine.
    EXPECT_EQ(r.hops[3].link, fabric.leaf_link(1, static_cast<std::uint32_t>((i + 5) % 32), false));
  }
  EXPECT_EQ(ups.size(), 32U);
}

// Behind a rail's leaf all ports are of that rail: numbered leaf by leaf they still go by all of
// its uplinks.
TEST(Route, DestinationModuloUsesAllCablesOfARailsLeaf) {
  auto in = dgx_h100(64);
  in.fabric.ports_per_leaf = 32;
  in.fabric.routing = Routing::destination_modulo;
  const Fabric fabric(in);
  for (const int gpu : {0, 3}) {
    std::set<core::LinkId> ups, downs;
    for (int node = 0; node < 32; ++node) {
      const Route r = route(fabric, GpuId(8 * node + gpu), GpuId(8 * (32 + (node + 5) % 32) + gpu));
      ASSERT_EQ(r.switches, 3);
      ups.insert(r.hops[r.hops.size() - 3].link);
      downs.insert(r.hops[r.hops.size() - 2].link);
    }
    EXPECT_EQ(ups.size(), 32U);
    EXPECT_EQ(downs.size(), 32U);
  }
}

TEST(Route, EcmpHashesFlowsAndCollides) {
  const Fabric fabric(flat_tree(64, Routing::ecmp));
  std::map<core::LinkId, int> used;
  for (int i = 0; i < 32; ++i) {
    ++used[route(fabric, GpuId(i), GpuId(32 + i)).hops[2].link];
  }
  // 32 balls in 32 bins: about 1/e of the bins stay empty; all distinct has probability 32!/32^32 <
  // 1e-12.
  EXPECT_LT(used.size(), 32U);
  EXPECT_GT(used.size(), 12U);
  EXPECT_EQ(route(fabric, GpuId(1), GpuId(40), 7).hops, route(fabric, GpuId(1), GpuId(40), 7).hops);
}

TEST(Route, AdaptiveUsesThePool) {
  const Fabric fabric(flat_tree(64, Routing::adaptive));
  const Route r = route(fabric, GpuId(1), GpuId(40));
  EXPECT_EQ(r.hops[2].link, fabric.leaf_link(0, 0, true));
  EXPECT_EQ(r.hops[3].link, fabric.leaf_link(1, 0, false));
}

TEST(Route, ThreeTiersPassTheCore) {
  auto in = flat_tree(256);
  in.fabric.tiers = 3;
  in.fabric.leaves_per_pod = 4;
  const Fabric fabric(in);
  const Route near = route(fabric, GpuId(0), GpuId(100));
  const Route far = route(fabric, GpuId(0), GpuId(200));
  EXPECT_EQ(near.switches, 3);
  EXPECT_EQ(far.switches, 5);
  EXPECT_DOUBLE_EQ(far.latency.si(), 6e-6);
}

TEST(Route, PlanesShareAnAdaptiveFlowAndPassOverADeadOne) {
  auto in = dgx_h100(4);
  in.fabric.topology = Topology::multi_plane;
  in.fabric.planes = 4;
  in.fabric.link_bandwidth = 100_Gbps;
  Fabric fabric(in);
  const Route r = route(fabric, GpuId(0), GpuId(8));
  std::uint64_t up_share = 0;
  for (const auto& hop : r.hops) {
    const bool up =
        hop.link >= fabric.nic_link(0, 0, 0, true) && hop.link <= fabric.nic_link(0, 0, 3, true);
    up_share += up && fabric.link(hop.link).tier == Tier::nic &&
                        hop.link.index() % 2 == fabric.nic_link(0, 0, 0, true).index() % 2
                    ? hop.coefficient
                    : 0;
  }
  EXPECT_EQ(up_share, kCoefficientUnit);
  fabric.degrade(fabric.nic_link(0, 0, 2, true), 0);
  for (const auto& hop : route(fabric, GpuId(0), GpuId(8)).hops) {
    EXPECT_NE(hop.link, fabric.nic_link(0, 0, 2, true));
  }
}

TEST(Route, ADeadNicIsReplacedByItsNeighbourOverNvlink) {
  Fabric fabric(dgx_h100(4));
  fabric.degrade(fabric.nic_link(0, 2, 0, true), 0);
  const Route r = route(fabric, GpuId(2), GpuId(8 + 2));
  EXPECT_EQ(r.hops.front().link, fabric.scale_up_link(2, true));
  for (const auto& hop : r.hops) {
    EXPECT_NE(fabric.link(hop.link).state, LinkState::down);
  }
}

TEST(Route, ADeadUplinkIsPassedOver) {
  Fabric fabric(flat_tree(64));
  const auto cable = route(fabric, GpuId(0), GpuId(40)).hops[2].link;
  fabric.degrade(cable, 0);
  EXPECT_NE(route(fabric, GpuId(0), GpuId(40)).hops[2].link, cable);
}

TEST(Route, DragonflyTakesAtMostOneGlobalHop) {
  auto in = flat_tree(72, Routing::adaptive);
  in.fabric.topology = Topology::dragonfly;
  in.fabric.ports_per_leaf = 2;
  in.fabric.leaves_per_pod = 4;
  const Fabric fabric(
      in);  // 36 leaves, 9 groups of 4 leaves with 2 global cables each: one cable a pair of groups
  EXPECT_EQ(fabric.shape().global_cables, 1U);
  EXPECT_EQ(tiers(fabric, route(fabric, GpuId(0), GpuId(71))),
            (std::vector{Tier::host, Tier::nic, Tier::local, Tier::global, Tier::local, Tier::nic,
                         Tier::host}));
  EXPECT_EQ(tiers(fabric, route(fabric, GpuId(0), GpuId(3))),
            (std::vector{Tier::host, Tier::nic, Tier::local, Tier::nic, Tier::host}));
}

TEST(Route, AMeshHasACableForEveryPair) {
  auto in = dgx_h100(1);
  in.scale_up.kind = ScaleUpKind::mesh;
  const Fabric fabric(in);
  std::set<core::LinkId> cables;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      if (a != b) {
        const Route r = route(fabric, GpuId(a), GpuId(b));
        ASSERT_EQ(r.hops.size(), 1U);
        cables.insert(r.hops[0].link);
      }
    }
  }
  EXPECT_EQ(cables.size(), 56U);
  EXPECT_DOUBLE_EQ(fabric.link(*cables.begin()).capacity.si(), 450e9 / 7);
}

}  // namespace
}  // namespace headway::network
