// How far the fluid model is from packets, effect by effect; docs/models/network.md has the
// figures. What it can see shows in the utilisation of links.
#include <cmath>
#include <gtest/gtest.h>

#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/route.h"
#include "sim/network/stepped/stepped.h"

#include "tests/network/fabric_fixture.h"
#include "tests/network/packet_reference.h"
#include "tests/network/patterns/patterns.h"

namespace headway::network {
namespace {

using reference::Ends;
using reference::run_fluid;
using reference::run_packets;
using reference::Scene;
using reference::Stream;
using reference::Wire;

constexpr core::Tick kPacket = 81'920;  // 4096 B at 50 GB/s [ps]
constexpr core::Tick kFirstTick = 1;    // a sender's first packet sets out one tick late

/// fluid / packets - 1.
double error(core::Tick fluid, core::Tick packets) {
  return static_cast<double>(fluid) / static_cast<double>(packets) - 1;
}

/// `senders` hosts on wires of their own send to one receiver's wire: host wires 0 ..., then it.
Scene incast(std::uint32_t senders, std::int64_t packets) {
  Scene scene;
  scene.wires.resize(senders + std::size_t{1});
  for (std::uint32_t i = 0; i < senders; ++i) {
    scene.streams.push_back({{i, senders}, packets});
  }
  return scene;
}

// Fluid bytes flow through all hops at once; a packet is received whole before it is sent on. Over
// four links that is three packet times, whatever the size: 4.5 % of a message of one packet, 0.01
// % of 64 MiB.
TEST(FluidError, IsAPacketTimeAHopOnAnIdleRoute) {
  for (const std::int64_t packets : {1, 16, 256, 16384}) {
    Scene scene;
    scene.wires.resize(4);
    scene.streams = {{{0, 1, 2, 3}, packets}};
    const core::Tick fluid = run_fluid(scene).last();
    const core::Tick packet = run_packets(scene).last();
    EXPECT_EQ(fluid, 4'000'000 + packets * kPacket);
    EXPECT_EQ(packet, fluid + 3 * kPacket + kFirstTick);
  }
}

// n equal streams through one trunk of half the rate they could send at: both models share it
// evenly, and it is the one link that is full.
TEST(FluidError, OfAnOversubscribedTrunkIsAFewPackets) {
  Scene scene;
  const std::uint32_t n = 8;
  scene.wires.resize(2 * n + std::size_t{1});
  scene.wires[2 * n].bytes_per_s = 50e9 * n / 2;
  for (std::uint32_t i = 0; i < n; ++i) {
    scene.streams.push_back({{i, 2 * n, n + i}, 256});
  }
  const Ends fluid = run_fluid(scene);
  const Ends packets = run_packets(scene);
  EXPECT_EQ(fluid.last(), 3'000'000 + 2 * 256 * kPacket);
  EXPECT_LT(std::abs(error(fluid.last(), packets.last())), 0.01);
  const RunResult result = run(reference::fluid_problem(scene), {});
  const double moving_s = static_cast<double>(result.end - 3'000'000) * 1e-12;
  EXPECT_NEAR(result.link_bytes[2 * n] / (50e9 * n / 2 * moving_s), 1, 1e-9);
  EXPECT_NEAR(result.link_bytes[0] / (50e9 * moving_s), 0.5, 1e-9);
}

// Deep buffers: the receiver's wire is busy to the end in both models.
TEST(FluidError, OfIncastIntoDeepBuffersIsAFewPackets) {
  const Scene scene = incast(16, 256);
  const core::Tick fluid = run_fluid(scene).last();
  const Ends packets = run_packets(scene);
  EXPECT_EQ(fluid, 2'000'000 + 16 * 256 * kPacket);
  EXPECT_EQ(packets.drops, 0);
  EXPECT_LT(std::abs(error(fluid, packets.last())), 0.01);
}

// Shallow buffers: what 16 windows of 64 packets send at once does not fit 128 places; lost packets
// come again after a timeout of 1 ms, in which the wire stands idle. The fluid model sees nothing
// of it: here it says 0.34 ms where packets take several times that.
TEST(FluidError, OfIncastIntoShallowBuffersIsTheTimeouts) {
  Scene scene = incast(16, 256);
  scene.window = 64;
  scene.wires.back().buffer = 128;
  const core::Tick fluid = run_fluid(scene).last();
  const Ends packets = run_packets(scene);
  EXPECT_GT(packets.drops, 100);
  EXPECT_GT(packets.last(), fluid + scene.timeout);
  EXPECT_LT(packets.last(), fluid + 40 * scene.timeout);
}

// Priority flow control: seven hosts fill one receiver, an eighth sends to an idle one behind the
// same trunk. The trunk is wide enough for all, so the fluid model gives the eighth its full rate.
// With pauses, the trunk's first packet waits for the full receiver and everything behind it too:
// the eighth gets what one of the others gets until they are done. Nothing is lost, and the incast
// itself takes as long as in the fluid model.
TEST(FluidError, OfAVictimBehindPausedPortsIsItsShareOfTheIncast) {
  constexpr std::uint32_t kSenders = 7;
  constexpr std::uint32_t kTrunk = kSenders + 1, kFull = kTrunk + 1, kIdle = kTrunk + 2;
  Scene scene;
  scene.lossless = true;
  scene.window = 4096;  // nothing but pauses holds a sender back
  scene.wires.resize(kIdle + std::size_t{1});
  scene.wires[kTrunk].bytes_per_s = 50e9 * (kSenders + 1);
  for (auto& wire : scene.wires) {
    wire.buffer = 64;
  }
  for (std::uint32_t i = 0; i < kSenders; ++i) {
    scene.streams.push_back({{i, kTrunk, kFull}, 1024});
  }
  scene.streams.push_back({{kSenders, kTrunk, kIdle}, 1024});
  const Ends fluid = run_fluid(scene);
  const Ends packets = run_packets(scene);
  EXPECT_EQ(fluid.ends.back(), 3'000'000 + 1024 * kPacket);
  EXPECT_LT(std::abs(error(fluid.last(), packets.last())), 0.02);
  const double slower =
      static_cast<double>(packets.ends.back()) / static_cast<double>(fluid.ends.back());
  EXPECT_GT(slower, 5);
  EXPECT_LT(slower, kSenders + 0.5);
  RecordProperty("victim_slower", std::to_string(slower));
  RecordProperty("incast_error", std::to_string(error(fluid.last(), packets.last())));
  scene.lossless = false;  // deep buffers: no victim
  for (auto& wire : scene.wires) {
    wire.buffer = std::int64_t{1} << 40;
  }
  EXPECT_LT(std::abs(error(fluid.ends.back(), run_packets(scene).ends.back())), 0.02);
}

// A long stream meets a short one on each of three wires. Max-min gives each half of every wire;
// with equal windows and first-in-first-out queues the long one, whose receipts take longer, gets
// less, and the short ones end up to 55 % sooner. All is done after the same time, since no wire is
// idle: who comes first differs.
TEST(FluidError, OfUnequalRoutesIsWhoComesFirst) {
  Scene scene;
  scene.wires.resize(3);
  scene.streams = {{{0, 1, 2}, 2048}, {{0}, 2048}, {{1}, 2048}, {{2}, 2048}};
  const Ends fluid = run_fluid(scene);
  const Ends packets = run_packets(scene);
  EXPECT_LT(std::abs(error(fluid.last(), packets.last())), 0.03);
  for (std::size_t i = 1; i < scene.streams.size(); ++i) {
    const double early = error(fluid.ends[i], packets.ends[i]);
    EXPECT_GT(early, -0.01);
    EXPECT_LT(early, 0.60);
  }
}

// While a wire is down nothing moves; what was on its way waits in its queue.
TEST(FluidError, OfAFlappingLinkIsAPacketOrTwo) {
  Scene scene;
  scene.wires.resize(2);
  scene.wires[1].down_from = 20'000'000;
  scene.wires[1].down_until = 45'000'000;
  scene.streams = {{{0, 1}, 1024}};
  scene.window = 4096;
  const core::Tick fluid = run_fluid(scene).last();
  EXPECT_EQ(fluid, 2'000'000 + 1024 * kPacket + 25'000'000);
  EXPECT_NEAR(static_cast<double>(run_packets(scene).last()), static_cast<double>(fluid),
              static_cast<double>(14 * kPacket));
  // The outage is seen in the link's utilisation: 25 of 111 us are missing.
  const RunResult result = run(reference::fluid_problem(scene), {});
  const double capacity = 50e9 * static_cast<double>(result.end) * 1e-12;
  EXPECT_NEAR(result.link_bytes[1] / capacity, 1024 * kPacket / static_cast<double>(result.end),
              1e-9);
}

/// Every host of the first leaf sends `size` to its opposite on the second; what the links
/// between leaves carry.
struct Crossing {
  core::Tick end = 0;
  double busiest = 0;    ///< utilisation of the link that is used most
  double mean = 0;       ///< of the 32 up-links of the first leaf
  std::size_t used = 0;  ///< of these
};

Crossing cross_leaves(Routing routing) {
  const Fabric fabric(flat_tree(64, routing));
  Problem problem;
  problem.coefficient_unit = kCoefficientUnit;
  problem.programs = {{{StepCode::arrive}, {StepCode::wait}}};
  LinkNumbers numbers(fabric);
  const core::Bytes size{50e6};  // 1 ms at 50 GB/s
  for (std::uint32_t host = 0; host < 32; ++host) {
    const Route way = route(fabric, core::GpuId(host), core::GpuId(host + 32));
    Transfer transfer;
    for (const RouteHop& hop : way.hops) {
      transfer.uses.push_back({hop.link.index(), hop.coefficient});
    }
    Flow flow;
    flow.size = size;
    flow.uses = static_cast<std::uint32_t>(transfer.uses.size());
    transfer.flows = {flow};
    Actor actor;
    actor.groups = {append(transfer, 1, core::Activity::data, 0, numbers, problem)};
    problem.actors.push_back(actor);
  }
  const RunResult result = run(problem, {});
  Crossing crossing{result.end, 0, 0, 0};
  const auto is_up_link = [&](core::LinkId link) {
    for (std::uint32_t cable = 0; cable < 32; ++cable) {
      if (fabric.leaf_link(0, cable, true) == link) {
        return true;
      }
    }
    return false;
  };
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    const double use = result.link_bytes[l] / problem.links[l].capacity.si() /
                       (static_cast<double>(result.end) * 1e-12);
    crossing.busiest = std::max(crossing.busiest, use);
    if (is_up_link(numbers.fabric_links()[l])) {
      crossing.mean += use / 32;
      ++crossing.used;
    }
  }
  return crossing;
}

// 32 streams hashed to 32 cables up, and again down: some cable gets several and paces its streams,
// others get none. With spray, or one cable a destination, all are full and the exchange takes 1
// ms.
TEST(LinkUtilisation, ShowsEcmpCollisions) {
  const Crossing spread = cross_leaves(Routing::adaptive);
  EXPECT_EQ(spread.end, 1'000'000'000);
  EXPECT_NEAR(spread.busiest, 1, 1e-9);
  const Crossing fixed = cross_leaves(Routing::destination_modulo);
  EXPECT_EQ(fixed.end, 1'000'000'000);
  const Crossing hashed = cross_leaves(Routing::ecmp);
  EXPECT_GE(hashed.end, 3'000'000'000);  // P(no cable of 32 gets three of 32 streams) < 1e-3
  EXPECT_NEAR(hashed.busiest, 1, 1e-9);
  EXPECT_NEAR(hashed.mean, 1e9 / static_cast<double>(hashed.end), 1e-9);
  EXPECT_LT(hashed.used, 28U);  // expected (1 - 1/e) x 32 = 20
}

TEST(LinkUtilisation, ShowsIncast) {
  const Scene scene = incast(8, 1024);
  const RunResult result = run(reference::fluid_problem(scene), {});
  const double moving = static_cast<double>(result.end - 2'000'000) * 1e-12 * 50e9;
  EXPECT_NEAR(result.link_bytes[8] / moving, 1, 1e-9);
  for (std::uint32_t sender = 0; sender < 8; ++sender) {
    EXPECT_NEAR(result.link_bytes[sender] / moving, 1.0 / 8, 1e-9);
  }
}

// One hop of a ring of 16 stands still for a while. A lockstep flow is late by exactly that.
// Message by message, a blocking ring is late by that less what the others could do meanwhile. A
// pipelined one is later: the messages held back set out together and share the links from then on
// (a real sender would send them one after the other), up to twice as late here.
TEST(FluidError, OfATransientInARingIsLessThanTheTransient) {
  patterns::FatTree tree;
  tree.hosts = 16;
  const core::Tick step = 2'000'000 + 20'000'000;  // 1 MB at 50 GB/s
  const core::Tick stop = 200'000'000;
  for (const auto dependency : {patterns::Dependency::blocking, patterns::Dependency::pipelined}) {
    Problem ring = patterns::ring_all_reduce(tree, core::Bytes{16e6}, dependency);
    const core::Tick healthy = run(ring, {}).end;
    EXPECT_EQ(healthy, 30 * step);
    for (const core::Tick at : {10'000'000, 105'000'000, 300'000'000}) {
      ring.link_changes = {{at, 3, core::BytesPerSecond(0)}, {at + stop, 3, tree.bandwidth}};
      const core::Tick late = run(ring, {}).end - healthy;
      EXPECT_GE(late, stop - 2 * step);
      EXPECT_LE(late, dependency == patterns::Dependency::blocking ? stop : 2 * stop);
    }
  }
}

// Two rings on the same NICs: lockstep flows take the latencies once and twice the bytes. Message
// by message the rings go side by side and take the same; had one a head start, it could fill the
// other's gaps (its latencies), but no more.
TEST(FluidError, OfTwoRingsOnTheSameNicsIsTheirLatencies) {
  const Fabric fabric(flat_tree(16));
  std::vector<core::GpuId> members;
  for (int i = 0; i < 16; ++i) {
    members.emplace_back(i);
  }
  const auto one = step_collective(
      fabric, {core::CollectiveKind::all_reduce, core::Bytes{16e6}, Algorithm::ring, {}}, members);
  Problem two = one.problem;
  const auto groups = static_cast<std::uint32_t>(two.groups.size());
  const auto flows = static_cast<std::uint32_t>(two.flows.size());
  for (TransferGroup group : one.problem.groups) {
    group.first_flow += flows;
    two.groups.push_back(group);
  }
  for (Flow flow : one.problem.flows) {
    flow.group += groups;
    two.flows.push_back(flow);
  }
  for (Actor actor : one.problem.actors) {
    for (std::uint32_t& group : actor.groups) {
      group += groups;
    }
    two.actors.push_back(actor);
  }
  const core::Tick latencies = 30 * 2'000'000;
  const core::Tick bytes = 30 * 20'000'000;
  const core::Tick both = run(two, {}).end;
  EXPECT_EQ(run(one.problem, {}).end, latencies + bytes);
  EXPECT_LE(both, latencies + 2 * bytes);
  EXPECT_GE(both, 2 * bytes);
}

}  // namespace
}  // namespace headway::network
