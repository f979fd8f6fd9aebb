#include "sim/network/fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sim/core/error.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::GpuId;

TEST(FabricShape, CountsSwitchesOfARailOptimizedFabric) {
  // 16 nodes, 4 a leaf: 4 groups of 8 rail leaves; 4 uplinks each; spines of 8 ports: 32 * 4 / 8 =
  // 16 > 4 uplinks, so 4.
  const FabricShape s = make_shape(dgx_h100(16));
  EXPECT_EQ(s.rails, 8U);
  EXPECT_EQ(s.leaves, 32U);
  EXPECT_EQ(s.uplinks, 4U);
  EXPECT_EQ(s.spines, 4U);
  EXPECT_EQ(s.cores, 0U);
}

TEST(FabricShape, OversubscriptionRemovesUplinks) {
  auto in = dgx_h100(16);
  in.fabric.leaf_oversubscription = 2;
  EXPECT_EQ(make_shape(in).uplinks, 2U);
}

TEST(FabricShape, RailOnlyKeepsRailsApart) {
  auto in = dgx_h100(16);
  in.fabric.topology = Topology::rail_only;
  const FabricShape s = make_shape(in);
  EXPECT_EQ(s.trees, 8U);
  EXPECT_EQ(s.leaves_per_tree, 4U);
}

TEST(FabricShape, ThreeTiersHaveCores) {
  auto in = flat_tree(256);
  in.fabric.tiers = 3;
  in.fabric.leaves_per_pod = 4;
  const FabricShape s = make_shape(in);
  EXPECT_EQ(s.leaves, 8U);
  EXPECT_EQ(s.pods_per_tree, 2U);
  // 4 leaves x 32 uplinks over spines of 32 down ports: 4 spines; each has 32 ports up, 2 pods x 32
  // / 64 = 1 core a spine.
  EXPECT_EQ(s.spines_per_pod, 4U);
  EXPECT_EQ(s.spine_uplinks, 32U);
  EXPECT_EQ(s.cores, 4U);
}

TEST(FabricShape, ListsEveryBrokenRule) {
  auto in = flat_tree(64);
  in.nic.count = 0;
  in.scale_up.domain_gpus = 3;
  in.gpus_per_node = 8;
  try {
    make_shape(in);
    FAIL() << "accepted";
  } catch (const core::Error& e) {
    EXPECT_EQ(e.diagnostics().size(), 2U);
    EXPECT_THAT(e.what(), testing::HasSubstr("domain_gpus 3"));
  }
}

std::string refusal(const FabricInput& in) {
  try {
    const Fabric fabric(in);
  } catch (const core::Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(FabricShape, RefusesWhatWouldBeReadAndIgnored) {
  auto in = flat_tree(64);
  in.fabric.spine_oversubscription = 4;
  in.fabric.leaves_per_pod = 2;
  EXPECT_THAT(
      refusal(in),
      testing::HasSubstr("fabric.spine_oversubscription 4 is of the cables between spines and "
                         "cores, and a fabric without cores has none: use "
                         "fabric.leaf_oversubscription, or tiers 3"));
  EXPECT_THAT(refusal(in), testing::HasSubstr("fabric.leaves_per_pod 2 divides the leaves among "
                                              "pods, and a fabric of 2 tiers has one"));
  in.fabric.tiers = 3;
  EXPECT_EQ(refusal(in), "accepted");
  in.fabric.topology = Topology::dragonfly;
  EXPECT_THAT(refusal(in), testing::HasSubstr("a dragonfly has none"));
}

// Each of these wrapped a 32-bit number before, and links were written outside their table.
TEST(FabricShape, RefusesCountsThatCannotBeNumbered) {
  auto planes = dgx_h100(8);
  planes.fabric.planes = 536870912;
  EXPECT_THAT(refusal(planes),
              testing::HasSubstr("8 nodes of 8 GPUs with 8 NICs in 536870912 planes "
                                 "have 68719476992 links"));
  EXPECT_THAT(refusal(dgx_h100(268435456)), testing::HasSubstr("links, and at most"));
  auto gpus = dgx_h100(8);
  gpus.gpus_per_node = 1073741824;
  gpus.scale_up.domain_gpus = 1;
  EXPECT_THAT(refusal(gpus), testing::HasSubstr("links, and at most"));
  auto ports = flat_tree(64);
  ports.fabric.ports_per_leaf = 2147483647;
  ports.fabric.planes = 2;
  EXPECT_THAT(refusal(ports), testing::HasSubstr("fabric.ports_per_leaf 2147483647 in 2 planes"));
  auto cables = flat_tree(64);
  cables.fabric.link_bandwidth = core::BytesPerSecond{1};
  cables.nic.bandwidth = core::BytesPerSecond{1e18};
  cables.fabric.ports_per_leaf = 1 << 22;
  cables.nodes = 1 << 23;
  EXPECT_THAT(refusal(cables), testing::HasSubstr("no switch has so many"));
  auto mesh = dgx_h100(1 << 20);
  mesh.scale_up.kind = ScaleUpKind::mesh;
  mesh.gpus_per_node = 64;
  mesh.scale_up.domain_gpus = 64;
  EXPECT_THAT(refusal(mesh), testing::HasSubstr("links, and at most"));
}

TEST(Fabric, CountsItsLinksBeforeItBuildsThem) {
  for (const auto topology : {Topology::fat_tree, Topology::rail_optimized, Topology::rail_only,
                              Topology::multi_plane, Topology::dragonfly}) {
    for (const auto routing : {Routing::adaptive, Routing::ecmp}) {
      for (const auto kind : {ScaleUpKind::nvswitch, ScaleUpKind::mesh}) {
        auto in = dgx_h100(24);
        in.fabric.topology = topology;
        in.fabric.routing = routing;
        in.fabric.tiers = 3;
        in.fabric.planes = topology == Topology::multi_plane ? 2 : 1;
        in.fabric.leaves_per_pod = 8;
        in.scale_up.kind = kind;
        const Fabric fabric(in);
        EXPECT_EQ(count_links(in, fabric.shape()).value(),
                  static_cast<std::int64_t>(fabric.link_count()))
            << core::to_word(topology);
      }
    }
  }
}

TEST(FabricShape, OneTierRefusesMoreThanOneLeaf) {
  auto in = flat_tree(64);
  in.fabric.tiers = 1;
  EXPECT_THROW(make_shape(in), core::Error);
  in.nodes = 32;
  EXPECT_EQ(make_shape(in).leaves, 1U);
}

TEST(Fabric, NumbersEveryLinkOnce) {
  auto in = flat_tree(128);
  in.fabric.tiers = 3;
  in.fabric.leaves_per_pod = 2;
  const Fabric fabric(in);
  const auto& s = fabric.shape();
  std::set<core::LinkId> seen;
  std::size_t named = 0;
  const auto name = [&](core::LinkId id) {
    ++named;
    ASSERT_LT(id.index(), fabric.link_count());
    seen.insert(id);
  };
  for (const bool up : {true, false}) {
    for (std::uint32_t g = 0; g < s.gpus; ++g) {
      name(fabric.host_link(g, up));
      name(fabric.nic_link(g, 0, 0, up));
    }
    for (std::uint32_t leaf = 0; leaf < s.leaves; ++leaf) {
      for (std::uint32_t c = 0; c < s.uplinks; ++c) {
        name(fabric.leaf_link(leaf, c, up));
      }
    }
    for (std::uint32_t pod = 0; pod < s.pods_per_tree; ++pod) {
      for (std::uint32_t spine = 0; spine < s.spines_per_pod; ++spine) {
        for (std::uint32_t c = 0; c < s.spine_uplinks; ++c) {
          name(fabric.spine_link(pod, spine, c, up));
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), named);
  EXPECT_EQ(seen.size(), fabric.link_count());
}

TEST(Fabric, PoolsUplinksUnderAdaptiveRouting) {
  const Fabric fabric(flat_tree(64, Routing::adaptive));
  const auto& pool = fabric.link(fabric.leaf_link(1, 17, true));
  EXPECT_DOUBLE_EQ(pool.capacity.si(), 32 * 50e9);
  EXPECT_EQ(pool.cables, 32U);
  EXPECT_TRUE(pool.never_binds);
}

TEST(Fabric, AnOversubscribedPoolCanBind) {
  auto in = flat_tree(64, Routing::adaptive);
  in.fabric.leaf_oversubscription = 4;
  const Fabric fabric(in);
  EXPECT_FALSE(fabric.link(fabric.leaf_link(0, 0, true)).never_binds);
  EXPECT_DOUBLE_EQ(fabric.link(fabric.leaf_link(0, 0, true)).capacity.si(), 8 * 50e9);
}

TEST(Fabric, ADegradedPoolLosesItsCablesShareAndCanBind) {
  Fabric fabric(flat_tree(64, Routing::adaptive));
  const auto id = fabric.leaf_link(0, 0, true);
  fabric.degrade(id, 0.25, 2);
  EXPECT_DOUBLE_EQ(fabric.link(id).capacity.si(), (30 + 2 * 0.25) * 50e9);
  EXPECT_EQ(fabric.link(id).state, LinkState::degraded);
  EXPECT_FALSE(fabric.link(id).never_binds);
  fabric.degrade(id, 1, 2);
  EXPECT_EQ(fabric.link(id).state, LinkState::up);
  EXPECT_TRUE(fabric.link(id).never_binds);
}

TEST(Fabric, ManyNicsOfOneGpuAreOneRail) {
  auto in = dgx_h100(2);
  in.nic.count = 32;
  in.nic.bandwidth = 100_Gbps;
  in.fabric.link_bandwidth = 100_Gbps;
  const Fabric fabric(in);
  EXPECT_EQ(fabric.shape().rails, 8U);
  EXPECT_DOUBLE_EQ(fabric.link(fabric.nic_link(0, 3, 0, true)).capacity.si(), 50e9);
  EXPECT_EQ(fabric.link(fabric.nic_link(0, 3, 0, true)).cables, 4U);
}

TEST(Fabric, ADomainMaySpanNodes) {
  auto in = dgx_h100(36);
  in.gpus_per_node = 4;
  in.nic.count = 4;
  in.scale_up.domain_gpus = 72;
  const Fabric fabric(in);
  EXPECT_EQ(fabric.shape().domains, 2U);
  EXPECT_EQ(fabric.place(GpuId(71)).domain, 0U);
  EXPECT_EQ(fabric.place(GpuId(72)).domain, 1U);
  EXPECT_EQ(fabric.place(GpuId(71)).node, 17U);
}

TEST(Fabric, BuildsAHundredThousandGpus) {
  auto in = dgx_h100(16384);
  in.fabric.ports_per_leaf = 32;
  in.fabric.tiers = 3;
  in.fabric.leaves_per_pod = 256;
  const Fabric fabric(in);
  EXPECT_EQ(fabric.shape().gpus, 131072U);
  EXPECT_EQ(fabric.shape().pods_per_tree, 16U);
}

}  // namespace
}  // namespace headway::network
