// Fabrics of several sites, the way between them, and collectives that cross it.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/collective/collective_alone.h"
#include "sim/network/fabric/fabric_report.h"
#include "sim/network/fabric/route.h"
#include "sim/network/fabric/wide_area.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

using core::CollectiveKind;
using core::GpuId;

SitesSpec two_sites() {
  SitesSpec sites;
  sites.bandwidth = 400_Gbps;
  sites.latency = core::Seconds(0.01);
  sites.connections = 64;
  sites.window = core::Bytes(16777216);
  return sites;
}

/// Two sites of four DGX H100 each: two leaves of 4 nodes a rail, so one leaf group a site.
FabricInput two_sites_of_four(SitesSpec sites = two_sites()) {
  FabricInput in = dgx_h100(8);
  in.sites = sites;
  return in;
}

TEST(WideArea, MathisLawLimitsReno) {
  // 122.47 packets of 1,460 B under way at p = 1e-4, a round trip of 40 ms: 4.47 MB/s.
  EXPECT_NEAR(packets_under_way(WideAreaTransport::tcp_reno, 1e-4, core::Seconds(0.04)), 122.474,
              1e-3);
  SitesSpec sites = two_sites();
  sites.transport = WideAreaTransport::tcp_reno;
  sites.loss = 1e-4;
  sites.latency = core::Seconds(0.02);
  sites.packet = core::Bytes(1460);
  sites.connections = 1;
  const auto rates = wide_area_rates(sites, 50_GBps);
  EXPECT_NEAR(rates.sender.si(), 122.474 * 1460 / 0.04 * (1 - 1e-4), 100);
  // A site's circuits are not those of one connection: headers and lost packets alone.
  EXPECT_NEAR(rates.site.si(), 50e9 * 1460 / 1538 * (1 - 1e-4), 1e3);
}

TEST(WideArea, CubicIsAboveRenoOnLongWays) {
  // RFC 9438, 5.1: 1.054 (R / p)^(3/4) = 1.054 x 1000^(3/4) = 187.4 at R 0.1 s, p 1e-4.
  EXPECT_NEAR(packets_under_way(WideAreaTransport::tcp_cubic, 1e-4, core::Seconds(0.1)), 187.4,
              0.1);
  // Close by it is Reno's.
  EXPECT_EQ(packets_under_way(WideAreaTransport::tcp_cubic, 1e-4, core::Seconds(0.001)),
            packets_under_way(WideAreaTransport::tcp_reno, 1e-4, core::Seconds(0.001)));
}

TEST(WideArea, GoBackNSendsAllUnderWayAgain) {
  // p = 1e-4, W = 4,096 packets: (1 - p) / (1 - p + 0.4096) = 0.70940.
  EXPECT_NEAR(useful_share(WideAreaTransport::rdma_go_back_n, 1e-4, 4096), 0.70940, 1e-5);
  EXPECT_DOUBLE_EQ(useful_share(WideAreaTransport::rdma_selective_repeat, 1e-4, 4096), 0.9999);
}

TEST(WideArea, AWindowAndARoundTripLimitAConnection) {
  SitesSpec sites = two_sites();
  sites.connections = 4;
  sites.window = 4_MiB;
  // 4 x 4 MiB / 20 ms = 839 MB/s.
  EXPECT_NEAR(wide_area_rates(sites, 50_GBps).sender.si(), 4 * 4194304 / 0.02, 1);
  // A card does not send faster than it can.
  sites.connections = 65536;
  EXPECT_EQ(wide_area_rates(sites, 50_GBps).sender, 50_GBps);
}

TEST(Sites, HaveTreesOfTheirOwn) {
  const Fabric fabric(two_sites_of_four());
  const FabricShape& s = fabric.shape();
  EXPECT_EQ(s.sites, 2U);
  EXPECT_EQ(s.nodes_per_site, 4U);
  EXPECT_EQ(s.trees, 2U);
  EXPECT_TRUE(s.rails_joined());
  // Node 4 is the first of site 1: its rail 0 is plugged into the first leaf of the second tree.
  EXPECT_EQ(fabric.leaf_of(3, 7, 0), 7U);
  EXPECT_EQ(fabric.leaf_of(4, 0, 0), 8U);
  EXPECT_EQ(fabric.owner(fabric.site_link(1, false)).tier, Tier::site);
  EXPECT_EQ(fabric.owner(fabric.site_link(1, false)).index, 1U);
  EXPECT_EQ(fabric.describe(fabric.site_link(1, false)), "the wide area -> site 1");
  const FabricReport r = report(fabric);
  EXPECT_TRUE(r.connected);
  EXPECT_EQ(r.bisection, s.site_rate);
  EXPECT_EQ(r.tiers.back().name, "wide-area");
}

TEST(Sites, ARouteCrossesBothWaysOut) {
  const Fabric fabric(two_sites_of_four());
  const Route way = route(fabric, GpuId(0), GpuId(32));
  int crossed = 0;
  for (const RouteHop& hop : way.hops) {
    crossed += fabric.link(hop.link).tier == Tier::site ? 1 : 0;
  }
  EXPECT_EQ(crossed, 2);
  EXPECT_GT(way.latency, core::Seconds(0.01));
  EXPECT_LT(way.latency, core::Seconds(0.0101));
  for (const RouteHop& hop : route(fabric, GpuId(0), GpuId(8)).hops) {
    EXPECT_NE(fabric.link(hop.link).tier, Tier::site);
  }
}

TEST(Sites, AreRefusedWhereTheyCannotBeDivided) {
  FabricInput in = two_sites_of_four();
  in.sites->count = 3;
  in.fabric.routing = Routing::ecmp;
  try {
    std::ignore = make_shape(in);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("sites.count 3 does not divide the 8 nodes"));
    EXPECT_THAT(error.what(), testing::HasSubstr("'ecmp' between sites is not modelled"));
  }
}

std::vector<GpuId> all_gpus(int count) {
  std::vector<GpuId> list;
  for (int i = 0; i < count; ++i) {
    list.emplace_back(i);
  }
  return list;
}

TimeOnFabric time_of(const FabricInput& in, CollectiveKind kind, core::Bytes bytes) {
  const Fabric fabric(in);
  GroupOnFabric group(fabric, all_gpus(64), make_parameters(in, NcclGeneration::hopper), {});
  return group.time({kind, bytes, {}, {}});
}

TEST(CrossSite, AHierarchicalAllReduceTakesItsClosedFormAndItsFlowsAgree) {
  const FabricInput in = two_sites_of_four();
  const auto machine = make_parameters(in, NcclGeneration::hopper);
  const auto time = time_of(in, CollectiveKind::all_reduce, 4_GiB);
  // Between two sites f = 2 (s-1) / s = 1: all of the array passes each way, 2 hops of 10 ms.
  const double way = (4_GiB / machine.site_rate).si();
  EXPECT_GT(time.time.total.si(), way + 0.02);
  EXPECT_LT(time.time.total.si(), way + 0.021);
  EXPECT_NEAR(time.alone.si(), time.time.total.si(), 1e-4 * way);
  EXPECT_NEAR(time.time.site_bytes.si(), 4294967296.0 / 32, 1);
}

TEST(CrossSite, HalfOfItPassesWhereHalfIsAsked) {
  const FabricInput in = two_sites_of_four();
  const auto machine = make_parameters(in, NcclGeneration::hopper);
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const auto time = time_of(in, kind, 4_GiB);
    const double way = (2_GiB / machine.site_rate).si();
    EXPECT_GT(time.time.total.si(), way + 0.01);
    EXPECT_LT(time.time.total.si(), way + 0.011);
    EXPECT_NEAR(time.alone.si(), time.time.total.si(), 1e-4 * way);
  }
}

TEST(CrossSite, AFlatRingPassesTwiceTheBytes) {
  SitesSpec sites = two_sites();
  sites.collective = CrossSite::flat;
  const FabricInput in = two_sites_of_four(sites);
  const auto flat = time_of(in, CollectiveKind::all_reduce, 4_GiB);
  const auto machine = make_parameters(in, NcclGeneration::hopper);
  // 2 (n-1) / n of the array on each of the two edges that cross, n = 64.
  const double way = (4_GiB * (2.0 * 63 / 64) / machine.site_rate).si();
  EXPECT_GT(flat.time.total.si(), way);
  EXPECT_LT(flat.time.total.si(), way * 1.02 + 0.045);
  EXPECT_NEAR(flat.alone.si(), flat.time.total.si(), 0.02 * way);
}

TEST(CrossSite, ASlowSenderPacesItsCard) {
  SitesSpec sites = two_sites();
  sites.bandwidth = 100000_GBps;
  sites.connections = 1;
  sites.window = 1_MiB;
  const FabricInput in = two_sites_of_four(sites);
  const auto time = time_of(in, CollectiveKind::all_reduce, 4_GiB);
  // Each of 32 ranks of a site sends 128 MiB over its own card at 1 MiB a round trip of 20 ms.
  EXPECT_NEAR(time.time.total.si(), 128 * 0.02, 0.03);
}

TEST(CrossSite, PackedValuesPassInFewerBytesAndTakeKernels) {
  const FabricInput in = two_sites_of_four();
  auto machine = make_parameters(in, NcclGeneration::hopper);
  const Fabric fabric(in);
  const GroupShape shape = group_shape(fabric, all_gpus(64));
  const CollectiveCall call{CollectiveKind::all_reduce, 4_GiB, {}, {}};
  const auto whole = collective_time(call, shape, machine);
  machine.site_pack = 0.25;
  machine.site_pack_rate = 1_GBps;
  const auto packed = collective_time(call, shape, machine);
  const double saved = 0.75 * (4_GiB / machine.site_rate).si();
  // 4 GiB / 32 ranks at 1 GB/s.
  const double kernels = 4294967296.0 / 32 / 1e9;
  EXPECT_NEAR(packed.total.si(), whole.total.si() - saved + kernels, 1e-3);
}

TEST(CrossSite, AnExchangeOfAllWithAllIsRefused) {
  EXPECT_THROW(time_of(two_sites_of_four(), CollectiveKind::all_to_all, 1_MiB), core::Error);
  SitesSpec flat = two_sites();
  flat.collective = CrossSite::flat;
  const auto time = time_of(two_sites_of_four(flat), CollectiveKind::all_to_all, 64_MiB);
  EXPECT_GT(time.time.total.si(), 0.01);
}

}  // namespace
}  // namespace headway::network
