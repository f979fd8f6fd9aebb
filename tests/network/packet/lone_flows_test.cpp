// Trains against single packets: every time, byte and count is the same, whatever else is sent.
#include "sim/network/packet/lone_flows.h"

#include <gtest/gtest.h>
#include <vector>

#include "sim/network/packet/packet_collective.h"
#include "sim/network/packet/packet_device.h"
#include "sim/network/packet/packet_fabric.h"

#include "tests/network/fabric_fixture.h"
#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

constexpr Transport kOfTrains[] = {Transport::credits, Transport::pauses, Transport::dcqcn};

/// Runs both ways and expects the same. @returns events of single packets / events with trains
double expect_same(const PacketNetwork& network,
                   const PacketTraffic& traffic,
                   PacketOptions options) {
  options.trains = false;
  const PacketResult single = run_packets(network, traffic, options);
  options.trains = true;
  const PacketResult trains = run_packets(network, traffic, options);
  EXPECT_EQ(trains.end, single.end);
  EXPECT_EQ(trains.flow_end, single.flow_end);
  EXPECT_EQ(trains.cable_bytes, single.cable_bytes);
  EXPECT_EQ(trains.counts.packets, single.counts.packets);
  EXPECT_EQ(trains.counts.hops, single.counts.hops);
  EXPECT_EQ(trains.counts.marks, single.counts.marks);
  EXPECT_EQ(trains.counts.pauses, single.counts.pauses);
  EXPECT_EQ(trains.counts.stalls, single.counts.stalls);
  EXPECT_EQ(trains.counts.notices, single.counts.notices);
  EXPECT_EQ(trains.counts.deepest, single.counts.deepest);
  EXPECT_EQ(trains.counts.deepest_cable, single.counts.deepest_cable);
  return static_cast<double>(single.events) / static_cast<double>(trains.events);
}

/// Flows, and from which on messages of `bytes`, each some time after the last.
void send_with_gaps(
    LeafSpine& net, std::uint32_t from, std::uint32_t to, std::int64_t bytes, core::Tick gap) {
  const std::uint32_t flow = net.send(from, to, bytes, 0);
  net.traffic.programs.push_back({{StepCode::loop, core::Activity::data, 0, 0, 20},
                                  {StepCode::arrive, core::Activity::data, 0, 0, 0},
                                  {StepCode::compute, core::Activity::data, 0, 0, gap},
                                  {StepCode::end_loop, core::Activity::data, 0, 0, 0},
                                  {StepCode::wait, core::Activity::data, 0, 0, 0}});
  net.traffic.actors.push_back(
      {from, static_cast<std::uint32_t>(net.traffic.programs.size() - 1), {{flow}}});
}

// Alone on an idle way: messages of whole packets, of one byte, of a packet and a byte; one after
// the other without and with gaps; a card's limit; rates that rise on the way.
TEST(Train, TakesTheTimeOfItsPackets) {
  for (const Transport transport : kOfTrains) {
    for (const std::int64_t bytes : {1, 63, 64, 4096, 4097, 4128, 8192, 100'000, 4'000'000}) {
      for (const core::Tick gap : {core::Tick{0}, kPacketTime / 3, 40 * kMicrosecond}) {
        LeafSpine net(2, 2, 1, guard_under(transport), 1'770'000, 50_GBps, 80_GBps);
        net.send(0, 3, bytes, 3);
        send_with_gaps(net, 1, 0, bytes, gap);
        send_with_gaps(net, 3, 2, bytes, gap);
        auto options = packet_options(transport);
        EXPECT_GT(expect_same(net.network, net.traffic, options), 1) << bytes;
        options.spec.switching = Switching::store_and_forward;
        options.spec.packets_per_second = 7e6;
        EXPECT_GT(expect_same(net.network, net.traffic, options), 1) << bytes;
      }
    }
  }
}

// Beside flows that meet: an incast, with pauses and marks, at one leaf and flows alone at others,
// some of which meet the incast's.
TEST(Train, IsTheSameBesideTrafficThatMeets) {
  for (const Transport transport : kOfTrains) {
    for (const PathChoice choice : {PathChoice::flow, PathChoice::destination, PathChoice::packet,
                                    PathChoice::queue, PathChoice::flowlet}) {
      for (const std::int64_t buffer : {150'000, 1'770'000}) {
        LeafSpine net(6, 4, 3, guard_under(transport), buffer);
        for (std::uint32_t h = 0; h < 5; ++h) {
          net.send(h, 5, 300 * 4096 + h);
        }
        net.send(5, 8, 200 * 4096);
        net.send(6, 7, 100 * 4096, 2);
        send_with_gaps(net, 7, 6, 5000, kMicrosecond);
        send_with_gaps(net, 12, 18, 77'777, 2 * kMicrosecond);
        net.send(13, 19, 400 * 4096);
        net.send(14, 15, 400 * 4096);
        (void)expect_same(net.network, net.traffic, packet_options(transport, choice));
      }
    }
  }
}

/// A ring all-reduce of this size over 64 GPUs, message by message.
PacketTraffic ring_of_64(const Fabric& fabric, const PacketFabric& cables, core::Bytes size) {
  std::vector<core::GpuId> members;
  for (std::uint32_t g = 0; g < 64; ++g) {
    members.emplace_back(g);
  }
  SteppedOptions stepped;
  stepped.ways = true;
  const CollectiveCall call{core::CollectiveKind::all_reduce, size, Algorithm::ring, {}};
  return packet_traffic(cables, step_collective(fabric, call, members, stepped), members, 4096);
}

// A ring over a whole cluster: NVLink, relays over a neighbour's card, leaves and spines.
TEST(Train, CarriesRingsOfEveryFabric) {
  for (const Routing routing : {Routing::ecmp, Routing::destination_modulo, Routing::adaptive}) {
    auto in = dgx_h100(8);
    in.fabric.routing = routing;
    for (const Transport transport : kOfTrains) {
      in.fabric.packets = PacketSpec{};
      in.fabric.packets->transport = transport;
      const Fabric fabric(in);
      PacketOptions options;
      options.spec = packet_spec(in.fabric);
      const PacketFabric cables(fabric, options.spec);
      const auto traffic = ring_of_64(fabric, cables, 1_MiB);
      // Eight rings share each GPU's NVLink, and each has its own card; adaptive ways are not
      // known.
      const double fewer = expect_same(cables.network(), traffic, options);
      EXPECT_TRUE(routing == Routing::adaptive || fewer > 1) << core::to_word(routing);
    }
  }
}

// One ring over a fat tree meets nobody: two events a message in place of three a packet and more.
TEST(Train, TakesTwoEventsAMessage) {
  const auto in = flat_tree(64);
  const Fabric fabric(in);
  PacketOptions options;
  options.spec = packet_spec(in.fabric);
  const PacketFabric cables(fabric, options.spec);
  const auto traffic = ring_of_64(fabric, cables, 4_MiB);
  EXPECT_GT(expect_same(cables.network(), traffic, options), 14) << "16 packets a message";
  EXPECT_EQ(run_packets(cables.network(), traffic, options).events, 64U * 126 * 2);
}

/// Of a leaf-spine with two hosts on each of two leaves and one spine.
std::vector<bool> lone_ones(LeafSpine& net, const PacketOptions& options) {
  PacketScene scene{net.network, net.traffic, options.spec};
  scene.transport = *options.spec.transport;
  scene.choice = *options.spec.path_choice;
  const LoneWays ways = find_lone_flows(scene);
  std::vector<bool> lone;
  for (std::uint32_t f = 0; f < net.traffic.flows.size(); ++f) {
    lone.push_back(!ways.of(f).empty());
  }
  return lone;
}

// Which flows are lone: those that share no cable; under pauses no switch with one that is not.
TEST(LoneFlows, ShareNothing) {
  using Lone = std::vector<bool>;
  for (const Transport transport : kOfTrains) {
    LeafSpine net(4, 2, 1, guard_under(transport));
    net.send(0, 1, 4096);
    net.send(4, 5, 4096);
    EXPECT_EQ(lone_ones(net, packet_options(transport)), (Lone{true, true}));
    net.send(6, 5, 4096);  // the receiver's cable
    EXPECT_EQ(lone_ones(net, packet_options(transport)), (Lone{true, false, false}));
    net.send(2, 7, 4096);  // through the other leaf, whose buffer two hold under pauses
    const bool credit = transport == Transport::credits;
    EXPECT_EQ(lone_ones(net, packet_options(transport)), (Lone{credit, false, false, credit}));
    net.send(3, 6, 4096);  // the uplink
    EXPECT_EQ(lone_ones(net, packet_options(transport)),
              (Lone{credit, false, false, false, false}));
  }
}

// What may hold a packet up though it meets none: a slower cable, scarce credits, marks at once, a
// way that is drawn by packet; and who hears of every packet.
TEST(LoneFlows, MeetNothingThatHoldsThemUp) {
  const auto lone = [](const PacketOptions& options, std::int64_t buffer = 1'770'000,
                       core::BytesPerSecond trunk = 50_GBps, std::uint32_t spines = 1) -> bool {
    LeafSpine net(2, 2, spines, guard_under(*options.spec.transport), buffer, 50_GBps, trunk);
    net.send(0, 2, 4096);
    return lone_ones(net, options).front();
  };
  const auto usual = packet_options(Transport::credits);
  EXPECT_TRUE(lone(usual));
  EXPECT_TRUE(lone(usual, 1'770'000, 100_GBps));
  EXPECT_FALSE(lone(usual, 1'770'000, 49_GBps));
  EXPECT_FALSE(lone(usual, 100'000)) << "two latencies of 1 us at 50 GB/s are 100 kB";
  EXPECT_TRUE(lone(usual, 160'000));
  EXPECT_TRUE(lone(usual, 1'770'000, 50_GBps, 2)) << "the hash of the flow is known";
  EXPECT_FALSE(lone(packet_options(Transport::credits, PathChoice::packet), 1'770'000, 50_GBps, 2));
  EXPECT_TRUE(lone(packet_options(Transport::credits, PathChoice::packet)));
  auto marked = usual;
  marked.spec.marking_from = core::Seconds{0};
  EXPECT_FALSE(lone(marked));
  for (const Transport transport : {Transport::swift, Transport::dctcp, Transport::receiver}) {
    LeafSpine net(2, 2, 1, Guard::none);
    net.send(0, 2, 100 * 4096);
    const auto options = packet_options(transport);
    EXPECT_EQ(expect_same(net.network, net.traffic, options), 1) << core::to_word(transport);
  }
}

}  // namespace
}  // namespace headway::network
