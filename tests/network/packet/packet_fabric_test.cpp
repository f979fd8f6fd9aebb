// Fabrics as packets: every catalogue topology builds, routes keep their latency, collectives agree
// with the stepped tier where nothing meets.
#include "sim/network/packet/packet_fabric.h"

#include <gtest/gtest.h>
#include <numeric>

#include "sim/core/error.h"
#include "sim/network/fabric/fabric_faults.h"
#include "sim/network/packet/packet_collective.h"

#include "tests/network/fabric_fixture.h"
#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

using core::CollectiveKind;

std::vector<core::GpuId> gpus(std::uint32_t count) {
  std::vector<core::GpuId> list;
  for (std::uint32_t g = 0; g < count; ++g) {
    list.emplace_back(g);
  }
  return list;
}

PacketSpec spec_of(const FabricInput& in) { return packet_spec(in.fabric); }

/// Latency of a route's legs over the packet network [ps], and the slowest way's time of a KiB.
std::pair<core::Tick, core::Tick> along(const PacketFabric& cables, const Route& way) {
  core::Tick latency = 0, slowest = 0;
  for (const auto& leg : cables.legs(way)) {
    for (const std::uint32_t c :
         cables.network().path(leg.front().first_cable, leg.front().last_cable)) {
      latency += cables.network().cables[c].latency;
      slowest = std::max(slowest, cables.network().cables[c].ps_per_kib);
    }
  }
  return {latency, slowest};
}

/// Fabrics of every topology: with switches, planes, shared cards, meshes.
std::vector<FabricInput> fabrics() {
  std::vector<FabricInput> all{dgx_h100(8), flat_tree(64)};
  auto rail_only = dgx_h100(8);
  rail_only.fabric.topology = Topology::rail_only;
  all.push_back(rail_only);
  auto planes = dgx_h100(8);
  planes.fabric.topology = Topology::multi_plane;
  planes.fabric.planes = 2;
  all.push_back(planes);
  auto pods = flat_tree(256, Routing::ecmp);
  pods.fabric.tiers = 3;
  pods.fabric.ports_per_leaf = 8;
  pods.fabric.leaves_per_pod = 8;
  all.push_back(pods);
  auto pooled = pods;
  pooled.fabric.routing = Routing::adaptive;
  all.push_back(pooled);
  auto shared = dgx_h100(8);
  shared.nic.count = 4;
  all.push_back(shared);
  auto mesh = dgx_h100(8);
  mesh.scale_up.kind = ScaleUpKind::mesh;
  mesh.scale_up.in_switch_reduction = false;
  all.push_back(mesh);
  auto dragonfly = flat_tree(128, Routing::adaptive);
  dragonfly.fabric.topology = Topology::dragonfly;
  dragonfly.fabric.ports_per_leaf = 4;
  dragonfly.fabric.leaves_per_pod = 8;
  all.push_back(dragonfly);
  return all;
}

TEST(PacketFabric, HasTheRoutesOfTheFabric) {
  for (const FabricInput& in : fabrics()) {
    const Fabric fabric(in);
    const PacketFabric cables(fabric, spec_of(in));
    const std::uint32_t n = fabric.shape().gpus;
    for (const std::uint32_t to : {1U, 7U, 8U, 13U, n / 2, n - 1}) {
      const Route way = route(fabric, core::GpuId(0), core::GpuId(to % n));
      const auto [latency, slowest] = along(cables, way);
      const double expected = way.latency.si() * 1e12;
      if (in.fabric.topology == Topology::dragonfly) {
        // The cable between two groups may hang on the sender's own leaf: a local cable less.
        EXPECT_LE(static_cast<double>(latency), expected + 1);
      } else {
        EXPECT_NEAR(static_cast<double>(latency), expected, 1) << core::to_word(in.fabric.topology);
      }
      EXPECT_GT(slowest, 0);
    }
  }
}

// What leaves each leaf for the switches above is the same in both tiers, pool or cables.
TEST(PacketFabric, HasTheCapacityOfTheFabric) {
  for (const FabricInput& in : fabrics()) {
    const Fabric fabric(in);
    const PacketFabric cables(fabric, spec_of(in));
    std::vector<double> rate(fabric.link_count());
    for (const Cable& cable : cables.network().cables) {
      rate[cable.link.index()] += 1024e12 / static_cast<double>(cable.ps_per_kib);
    }
    for (std::size_t l = 0; l < rate.size(); ++l) {
      const Link& link = fabric.link(core::LinkId(static_cast<std::uint32_t>(l)));
      if (rate[l] > 0 && in.fabric.topology != Topology::dragonfly) {
        EXPECT_NEAR(rate[l] / link.capacity.si(), 1, 1e-3) << fabric.describe(core::LinkId(l));
      }
      // A card that only one GPU has is one port with it; all other links are there.
      EXPECT_TRUE(rate[l] > 0 || link.tier == Tier::host || link.tier == Tier::local ||
                  link.tier == Tier::global)
          << fabric.describe(core::LinkId(l));
    }
  }
}

// With one rank a node nothing meets: packets take what messages take, and a head's time at each
// switch. Where eight rings cross each node they meet, and packets pass on what messages of the
// stepped tier wait with, two an edge at a time: never below the bytes that each card carries.
TEST(PacketFabric, RingsAgreeWithTheSteppedTier) {
  for (const FabricInput& in : {flat_tree(32), flat_tree(64, Routing::adaptive), dgx_h100(8)}) {
    const Fabric fabric(in);
    auto spec = spec_of(in);
    spec.transport = Transport::credits;
    const PacketFabric cables(fabric, spec);
    const auto members = gpus(fabric.shape().gpus);
    const CollectiveCall call{CollectiveKind::all_reduce, 64_MiB, Algorithm::ring, {}};
    PacketOptions options;
    options.spec = spec;
    const auto packets = run_packet_collective(fabric, cables, call, members, {}, options);
    const double time = static_cast<double>(packets.end) * 1e-12;
    const double stepped = stepped_time(fabric, call, members).total.si();
    if (in.gpus_per_node == 1) {
      EXPECT_NEAR(time / stepped, 1, 1e-3);
    } else {
      const double card = 2.0 * 63 / 64 * 67108864 / 8 / 50e9;
      EXPECT_GT(time, card);
      EXPECT_LT(time, stepped);
    }
  }
}

// Every algorithm that has messages has packets; those that reduce in switches are refused by name.
TEST(PacketFabric, RunsEveryCollective) {
  const auto in = dgx_h100(4);
  const Fabric fabric(in);
  const auto spec = spec_of(in);
  const PacketFabric cables(fabric, spec);
  PacketOptions options;
  options.spec = spec;
  const std::pair<CollectiveKind, Algorithm> calls[] = {
      {CollectiveKind::all_reduce, Algorithm::ring},
      {CollectiveKind::all_reduce, Algorithm::tree},
      {CollectiveKind::all_reduce, Algorithm::recursive},
      {CollectiveKind::all_reduce, Algorithm::hierarchical},
      {CollectiveKind::all_gather, Algorithm::pat},
      {CollectiveKind::reduce_scatter, Algorithm::direct},
      {CollectiveKind::broadcast, Algorithm::tree},
      {CollectiveKind::broadcast, Algorithm::ring},
      {CollectiveKind::all_to_all, Algorithm::pairwise},
      {CollectiveKind::all_to_all, Algorithm::hierarchical},
      {CollectiveKind::all_to_all, Algorithm::direct}};
  for (const auto& [kind, algorithm] : calls) {
    const CollectiveCall call{kind, 16_MiB, algorithm, {}};
    for (const Dependency dependency : {Dependency::pipelined, Dependency::blocking}) {
      SteppedOptions stepped;
      stepped.dependency = dependency;
      const auto result = run_packet_collective(fabric, cables, call, gpus(32), stepped, options);
      const double ratio = static_cast<double>(result.end) * 1e-12 /
                           stepped_time(fabric, call, gpus(32), stepped).total.si();
      // Blocking, a sender hears of a message's end a latency later.
      EXPECT_GT(ratio, 0.8) << core::to_word(kind) << ' ' << core::to_word(algorithm);
      EXPECT_LT(ratio, dependency == Dependency::blocking ? 1.75 : 1.05)
          << core::to_word(kind) << ' ' << core::to_word(algorithm);
    }
  }
  try {
    (void)run_packet_collective(fabric, cables,
                                {CollectiveKind::all_reduce, 1_MiB, Algorithm::nvls, {}}, gpus(32),
                                {}, options);
    FAIL() << "ran";
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("its switches reduce what passes"), std::string::npos);
  }
}

// Each of 64 ranks at one leaf sends 63 packets of 4 KiB at 50 GB/s, to the rank behind it first:
// no port has two at a time, and the last is there after 63 packet times. All to the first rank
// first, the last rank would wait for 62 of them before its first packet.
TEST(PacketFabric, AnExchangeOfAllBeginsWithAnotherRankEach) {
  auto in = flat_tree(64);
  in.fabric.ports_per_leaf = 64;
  const Fabric fabric(in);
  PacketOptions options;
  options.spec = spec_of(in);
  const PacketFabric cables(fabric, options.spec);
  const CollectiveCall call{CollectiveKind::all_to_all, 256_KiB, Algorithm::direct, {}};
  const double ends =
      static_cast<double>(run_packet_collective(fabric, cables, call, gpus(64), {}, options).end);
  const CollectiveCall one{CollectiveKind::send_receive, 4_KiB, Algorithm::direct, {}};
  const double alone =
      static_cast<double>(run_packet_collective(fabric, cables, one, gpus(2), {}, options).end);
  const double packet = 4096 / 50e9 * 1e12;
  EXPECT_NEAR((ends - alone) / (62 * packet), 1, 0.1);
}

// A failed spine: the same capacity is left in both tiers, and packets still arrive.
TEST(PacketFabric, LeavesOutWhatHasFailed) {
  for (const Routing routing : {Routing::adaptive, Routing::ecmp}) {
    auto in = flat_tree(128, routing);
    in.fabric.ports_per_leaf = 16;
    Fabric fabric(in);
    ASSERT_GT(fabric.shape().spines, 1U);
    const std::vector<SwitchId> failed{{SwitchTier::spine, fabric.shape().spines - 1}};
    fail_switches(failed, fabric);
    auto spec = spec_of(in);
    const PacketFabric cables(fabric, spec);
    double up = 0, left = 0;
    for (const Cable& cable : cables.network().cables) {
      const bool leaf_up = fabric.link(cable.link).tier == Tier::leaf_spine &&
                           cables.network().devices[cable.from].name == "leaf 0";
      up += leaf_up ? 1024e12 / static_cast<double>(cable.ps_per_kib) : 0;
    }
    const auto& shape = fabric.shape();
    for (std::uint32_t c = 0; c < (fabric.pooled() ? 1 : shape.uplinks); ++c) {
      left += fabric.link(fabric.leaf_link(0, c, true)).capacity.si();
    }
    EXPECT_NEAR(up / left, 1, 1e-3);
    EXPECT_NEAR(left / (50e9 * shape.uplinks), 1 - 1.0 / shape.spines, 1e-9);
    PacketOptions options;
    options.spec = spec;
    const CollectiveCall call{CollectiveKind::all_to_all, 16_MiB, Algorithm::direct, {}};
    EXPECT_GT(run_packet_collective(fabric, cables, call, gpus(64), {}, options).end, 0);
  }
}

// What only NVLink carries is the network's card's and transport's no business: a ring over eight
// GPUs of one domain takes the same time whatever the transport, the packets a second of a card and
// the buffer of a switch. Its 14 rounds of an eighth each at 450 GB/s: no longer than messages
// take, and a packet and a head a round.
TEST(PacketFabric, NvlinkKnowsNoCardsNoTransportAndNoSwitchBuffers) {
  const auto in = dgx_h100(2);
  const Fabric fabric(in);
  const CollectiveCall call{CollectiveKind::all_reduce, 1_MiB, Algorithm::ring, {}};
  const auto time = [&](Transport transport, double cards, core::Bytes buffer) {
    PacketOptions options;
    options.spec = packet_spec(in.fabric, transport);
    options.spec.packets_per_second = cards;
    options.spec.buffer_per_port = buffer;
    const PacketFabric cables(fabric, options.spec);
    return run_packet_collective(fabric, cables, call, gpus(8), {}, options).end;
  };
  const core::Tick usual = time(Transport::credits, 200e6, core::Bytes(1.77e6));
  const double stepped = stepped_time(fabric, call, gpus(8)).total.si() * 1e12;
  EXPECT_NEAR(static_cast<double>(usual) / stepped, 1, 0.02);
  for (const Transport transport : {Transport::dcqcn, Transport::swift, Transport::dctcp,
                                    Transport::receiver, Transport::credits}) {
    EXPECT_EQ(time(transport, 1e6, 64_KiB * 8), usual) << core::to_word(transport);
  }
  EXPECT_EQ(time(Transport::credits, 1e6, 64_KiB), usual);
}

// A flow that sprays over p planes has p times bandwidth x delay on its way: one message of 1 MiB
// over two planes of 25 GB/s takes 2^20 / 50 GB/s = 21 us and the way, not twice as much.
TEST(PacketFabric, AWindowIsThatOfAllPlanes) {
  auto in = dgx_h100(8);
  in.fabric.topology = Topology::multi_plane;
  in.fabric.planes = 2;
  in.fabric.routing = Routing::adaptive;
  const Fabric fabric(in);
  for (const Transport transport : {Transport::swift, Transport::dctcp, Transport::receiver}) {
    PacketOptions options;
    options.spec = packet_spec(in.fabric, transport);
    const PacketFabric cables(fabric, options.spec);
    PacketTraffic traffic;
    traffic.add_flow(cables.network(), cables.legs(route(fabric, core::GpuId(0), core::GpuId(56))),
                     1 << 20, 4096, 1);
    const PacketFlow& flow = traffic.flows.front();
    EXPECT_EQ(flow.ps_per_kib_of_all, (flow.ps_per_kib + 1) / 2);
    const auto result = run_packets(cables.network(), traffic, options);
    const double all = 1048576.0 / 1024 * static_cast<double>(flow.ps_per_kib_of_all);
    const double idle = all + static_cast<double>(flow.latency);
    EXPECT_LT(static_cast<double>(result.end) / idle, 1.05) << core::to_word(transport);
  }
}

// Receivers spray by definition: on a hashed fabric by packet, where the file says nothing else.
TEST(PacketFabric, WhatReceiversRuleIsSprayed) {
  auto in = flat_tree(64, Routing::ecmp);
  EXPECT_EQ(packet_spec(in.fabric, Transport::receiver).path_choice, PathChoice::packet);
  EXPECT_EQ(packet_spec(in.fabric, Transport::swift).path_choice, PathChoice::flow);
  in.fabric.packets = PacketSpec{};
  in.fabric.packets->path_choice = PathChoice::flowlet;
  EXPECT_EQ(packet_spec(in.fabric, Transport::receiver).path_choice, PathChoice::flowlet);
}

// All with all through one switch: each port carries its 15 messages back to back, so that their
// order costs nothing.
TEST(PacketFabric, AllWithAllKeepsEveryPortFull) {
  const auto in = flat_tree(16);
  const Fabric fabric(in);
  const CollectiveCall call{CollectiveKind::all_to_all, 16_MiB, Algorithm::direct, {}};
  for (const auto& [transport, most] :
       {std::pair{Transport::credits, 1.01}, std::pair{Transport::receiver, 1.15}}) {
    PacketOptions options;
    options.spec = packet_spec(in.fabric, transport);
    const PacketFabric cables(fabric, options.spec);
    const auto result = run_packet_collective(fabric, cables, call, gpus(16), {}, options);
    const double port = 15.0 * 1048576 / 50e9 * 1e12;
    EXPECT_LT(static_cast<double>(result.end) / (port + 3e6), most) << core::to_word(transport);
  }
}

// Static routes of a rail-optimized fabric go by all cables of a leaf: as fast as the shortest
// queue.
TEST(PacketFabric, StaticRoutesOfRailsUseAllCables) {
  const CollectiveCall call{CollectiveKind::all_to_all, 4_MiB, Algorithm::direct, {}};
  const auto end = [&](Routing routing) {
    auto in = dgx_h100(8);
    in.fabric.routing = routing;
    const Fabric fabric(in);
    PacketOptions options;
    options.spec = packet_spec(in.fabric, Transport::credits);
    const PacketFabric cables(fabric, options.spec);
    return static_cast<double>(
        run_packet_collective(fabric, cables, call, gpus(64), {}, options).end);
  };
  EXPECT_NEAR(end(Routing::destination_modulo) / end(Routing::adaptive), 1, 0.1);
}

// Long cables: two round trips of 4 ms are not yet a timeout, whatever the file's 200 us.
TEST(PacketFabric, TimeoutsWaitForTheRoundTrip) {
  auto in = flat_tree(16);
  in.fabric.link_latency = 1_ms;
  const Fabric fabric(in);
  PacketOptions options;
  options.spec = packet_spec(in.fabric, Transport::dctcp);
  const PacketFabric cables(fabric, options.spec);
  const CollectiveCall call{CollectiveKind::all_reduce, 16_MiB, Algorithm::ring, {}};
  const auto result = run_packet_collective(fabric, cables, call, gpus(16), {}, options);
  EXPECT_EQ(result.counts.timeouts, 0U);
  EXPECT_EQ(result.counts.repeats, 0U);
}

}  // namespace
}  // namespace headway::network
