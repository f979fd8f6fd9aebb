// Counting an exchange puts the same bytes on every link as routing it message by message.
#include "sim/network/collective/exchange_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/network/fabric/route.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::GpuId;
using Loads = std::map<std::uint32_t, double>;

Loads routed(const Fabric& fabric, const std::vector<GpuId>& members) {
  Loads loads;
  for (const GpuId from : members) {
    for (const GpuId to : members) {
      if (from != to) {
        for (const RouteHop& hop : route(fabric, from, to).hops) {
          loads[hop.link.index()] += static_cast<double>(hop.coefficient) / kCoefficientUnit;
        }
      }
    }
  }
  return loads;
}

Loads counted(const Fabric& fabric, const std::vector<GpuId>& members) {
  LinkLoads sums(fabric, /*all=*/true);
  add_counted_exchange(fabric, members, core::Bytes{1}, sums);
  sums.settle();
  Loads loads;
  sums.for_each([&](core::LinkId link, core::Bytes bytes) { loads[link.index()] = bytes.si(); });
  return loads;
}

/// Links whose loads matter: a GPU's way to its NIC never binds and is left out of the counts.
void expect_same(const Fabric& fabric, const std::vector<GpuId>& members) {
  const Loads all = routed(fabric, members);
  const Loads some = counted(fabric, members);
  for (std::uint32_t link = 0; link < fabric.link_count(); ++link) {
    const auto a = all.find(link);
    const auto b = some.find(link);
    if (fabric.link(core::LinkId(link)).tier != Tier::host) {
      EXPECT_NEAR(a == all.end() ? 0 : a->second, b == some.end() ? 0 : b->second, 1e-9)
          << fabric.describe(core::LinkId(link)) << " of " << fabric.input().fabric.name;
    }
  }
}

FabricInput fabric_of(const core::RandomStream& stream, std::uint64_t draw) {
  const auto pick = [&](std::uint32_t purpose, std::uint64_t bound) {
    return static_cast<int>(stream.index(draw, purpose, bound));
  };
  auto in = dgx_h100(1 + pick(0, 12));
  in.fabric.topology = std::array{Topology::fat_tree, Topology::rail_optimized, Topology::rail_only,
                                  Topology::multi_plane}[static_cast<std::size_t>(pick(1, 4))];
  in.fabric.tiers = 3;
  in.fabric.leaves_per_pod = pick(2, 4);
  in.fabric.ports_per_leaf = std::array{2, 4, 5, 8, 16}[static_cast<std::size_t>(pick(3, 5))];
  in.fabric.planes = 1 + pick(4, 3);
  in.fabric.pxn = in.fabric.topology == Topology::rail_only || pick(5, 2) == 0;
  in.gpus_per_node = 4;
  in.nic.count = std::array{1, 2, 4, 8}[static_cast<std::size_t>(pick(6, 4))];
  in.scale_up.domain_gpus = std::array{1, 2, 4, 8}[static_cast<std::size_t>(pick(7, 4))];
  in.scale_up.kind = std::array{ScaleUpKind::nvswitch, ScaleUpKind::mesh,
                                ScaleUpKind::pcie}[static_cast<std::size_t>(pick(8, 3))];
  if (in.scale_up.kind == ScaleUpKind::mesh || in.fabric.topology == Topology::rail_only) {
    in.scale_up.domain_gpus = 4;
  }
  in.fabric.name = std::to_string(draw);
  return in;
}

TEST(ExchangeCount, IsTheSumOfAllRoutes) {
  const core::RandomStream stream(1, "exchange count");
  for (std::uint64_t draw = 0; draw < 120; ++draw) {
    const Fabric fabric(fabric_of(stream, draw));
    std::vector<GpuId> all, some;
    for (std::uint32_t gpu = 0; gpu < fabric.shape().gpus; ++gpu) {
      all.emplace_back(gpu);
      if (stream.part(draw).index(gpu, 0, 2) == 0) {
        some.emplace_back(gpu);
      }
    }
    expect_same(fabric, all);
    expect_same(fabric, some);
  }
}

TEST(ExchangeCount, RefusesAMissingPathAsRoutesDo) {
  auto in = dgx_h100(2);
  in.fabric.topology = Topology::rail_only;
  in.fabric.pxn = false;
  const Fabric fabric(in);
  LinkLoads loads(fabric);
  try {
    add_counted_exchange(fabric, std::vector{GpuId(0), GpuId(9)}, core::Bytes{1}, loads);
    FAIL() << "there is no path from rail 0 to rail 1";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("are not joined, and PXN cannot cross NVLink: set "
                                                 "fabric.pxn true"));
  }
}

TEST(ExchangeCount, IsNotDoneWhereRoutesDifferByMessage) {
  EXPECT_TRUE(can_count_exchange(Fabric(flat_tree(64, Routing::adaptive))));
  EXPECT_FALSE(can_count_exchange(Fabric(flat_tree(64, Routing::ecmp))));
  Fabric sick(flat_tree(64, Routing::adaptive));
  sick.degrade(sick.nic_link(3, 0, 0, true), 0);
  EXPECT_FALSE(can_count_exchange(sick));
  sick.degrade(sick.nic_link(3, 0, 0, true), 1);
  EXPECT_TRUE(can_count_exchange(sick));
}

}  // namespace
}  // namespace headway::network
