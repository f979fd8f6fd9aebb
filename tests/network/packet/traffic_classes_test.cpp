// Traffic classes: strict priority, shares by weight, pauses and credits of each class's own.
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/network/packet/packet_fabric.h"

#include "tests/network/fabric_fixture.h"
#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

constexpr Transport kAll[] = {Transport::credits, Transport::pauses, Transport::dcqcn,
                              Transport::swift, Transport::dctcp};

/// Two classes: class 0 of this priority and weight, class 1 of priority 0 and weight 1.
PacketOptions two_classes(Transport transport, int priority, double weight) {
  auto options = packet_options(transport);
  options.spec.marking_from = 1_ms;
  options.spec.marking_to = 2_ms;
  options.spec.delay_target = 1_ms;
  options.spec.classes = {{{TrafficKind::training}, priority, weight},
                          {{TrafficKind::storage}, 0, 1}};
  return options;
}

// Strict priority: what has it is held up by one packet of the others at most before each cable,
// however many of them wait; in one class with them, by all that wait.
TEST(TrafficClasses, APacketAHopIsWhatTheHighestWaits) {
  for (const Transport transport : kAll) {
    const auto last = [&](std::uint32_t others) {
      LeafSpine net(6, 2, 1, guard_under(transport), 1'770'000, 50_GBps, 50_GBps);
      for (std::uint32_t h = 0; h < 4; ++h) {
        net.traffic.flows[net.send(h, 6 + h, 1500 * 4096)].traffic_class = others;
      }
      // From a host that sends both, to one that receives both, over the trunk of all.
      const std::uint32_t flow = net.send(0, 6, 4096, 0);
      net.traffic.programs = {{{StepCode::compute, core::Activity::data, 0, 0, 50 * kMicrosecond},
                               {StepCode::arrive, core::Activity::data, 0, 0, 0}}};
      net.traffic.actors = {{0, 0, {{flow}}}};
      return net.run(two_classes(transport, 1, 1)).flow_end[flow];
    };
    const core::Tick idle = 50 * kMicrosecond + kPacketTime + 4 * kMicrosecond + 3 * kHeadTime;
    EXPECT_GE(last(1), idle) << core::to_word(transport);
    EXPECT_LE(last(1), idle + 4 * kPacketTime) << core::to_word(transport);
    EXPECT_GT(last(0), idle + 20 * kPacketTime) << core::to_word(transport);
  }
}

// By weight: w to 1 before a full cable, to a packet: the first of two equal messages of n packets
// has its last after n (w + 1) / w packet times, the other after 2 n.
TEST(TrafficClasses, ShareACableByWeight) {
  for (const Transport transport : kAll) {
    for (const double weight : {1.0, 3.0, 7.0}) {
      LeafSpine net(3, 1, 0, guard_under(transport));
      const std::uint32_t heavy = net.send(0, 2, 2100 * 4096);
      const std::uint32_t light = net.send(1, 2, 2100 * 4096);
      net.traffic.flows[light].traffic_class = 1;
      const auto result = net.run(two_classes(transport, 0, weight));
      const core::Tick rest = 2 * kMicrosecond + kHeadTime;
      const double first = static_cast<double>(result.flow_end[heavy] - rest) / kPacketTime;
      EXPECT_NEAR(first, 2100 * (weight + 1) / weight, 4) << core::to_word(transport);
      EXPECT_NEAR(static_cast<double>(result.flow_end[light] - rest) / kPacketTime, 4200, 4);
    }
  }
}

// The same on one host's card: its flows of two classes.
TEST(TrafficClasses, ShareACardByWeight) {
  LeafSpine net(3, 1, 0, Guard::credit);
  const std::uint32_t heavy = net.send(0, 1, 2000 * 4096);
  const std::uint32_t light = net.send(0, 2, 2000 * 4096);
  net.traffic.flows[light].traffic_class = 1;
  const auto result = net.run(two_classes(Transport::credits, 0, 4));
  const double first = static_cast<double>(result.flow_end[heavy] - 2 * kMicrosecond) / kPacketTime;
  EXPECT_NEAR(first, 2500, 3);
}

// A class that had nothing to send for a while is owed nothing for it: it begins with its share.
TEST(TrafficClasses, OweNothingForIdleTime) {
  LeafSpine net(3, 1, 0, Guard::credit);
  const std::uint32_t early = net.send(0, 2, 4000 * 4096);
  const std::uint32_t late = net.send(1, 2, 500 * 4096, 0);
  net.traffic.flows[late].traffic_class = 1;
  net.traffic.programs = {{{StepCode::compute, core::Activity::data, 0, 0, 2000 * kPacketTime},
                           {StepCode::arrive, core::Activity::data, 0, 0, 0}}};
  net.traffic.actors = {{1, 0, {{late}}}};
  const auto result = net.run(two_classes(Transport::credits, 0, 1));
  EXPECT_NEAR(static_cast<double>(result.flow_end[late] - 2 * kMicrosecond) / kPacketTime, 3000, 4);
  EXPECT_GT(result.flow_end[early], result.flow_end[late]);
}

// Pauses and credits are of a class: an incast of one does not hold up a bystander of the other,
// which in one class stands still with it.
TEST(TrafficClasses, HoldUpNobodyElse) {
  for (const Transport transport : {Transport::credits, Transport::pauses}) {
    const auto bystander = [&](std::uint32_t its_class) {
      LeafSpine net(8, 2, 1, guard_under(transport), 900'000, 50_GBps, 200_GBps);
      for (std::uint32_t h = 0; h < 7; ++h) {
        net.send(h, 8, 1000 * 4096);
      }
      const std::uint32_t other = net.send(7, 9, 1000 * 4096);
      net.traffic.flows[other].traffic_class = its_class;
      const auto result = net.run(two_classes(transport, 0, 1));
      EXPECT_EQ(result.counts.drops, 0U);
      return static_cast<double>(result.flow_end[other]) / (1000.0 * kPacketTime);
    };
    EXPECT_GT(bystander(0), 3) << core::to_word(transport);
    EXPECT_LT(bystander(1), 1.2) << core::to_word(transport);
  }
}

// Each class with pauses needs headroom of its own.
TEST(TrafficClasses, NeedHeadroomEach) {
  LeafSpine net(2, 1, 0, Guard::pause, 200'000);
  net.send(0, 1, 4096);
  net.traffic.flows[net.send(1, 0, 4096)].traffic_class = 1;
  EXPECT_THROW((void)net.run(two_classes(Transport::pauses, 1, 1)), core::Error);
  net.traffic.flows.back().traffic_class = 0;
  EXPECT_GT(net.run(two_classes(Transport::pauses, 1, 1)).end, 0) << "one class has it all";
}

// The same bits on any threads and partitions; trains beside classes too.
TEST(TrafficClasses, AreTheSameOnAnyThreads) {
  for (const Transport transport : kAll) {
    LeafSpine net(4, 4, 2, guard_under(transport), 500'000);
    for (std::uint32_t h = 0; h < 16; ++h) {
      net.traffic.flows[net.send(h, (h * 7 + 5) % 16, 300 * 4096 + h)].traffic_class = h % 2;
      net.send(h, 3, 50 * 4096);
    }
    auto options = two_classes(transport, 1, 3);
    const auto first = net.run(options);
    for (const auto& [threads, together] : {std::pair{2, 64U}, {1, 3U}, {8, 5U}}) {
      options.threads = threads;
      options.partitions = together;
      EXPECT_EQ(net.run(options).event_digest, first.event_digest) << core::to_word(transport);
    }
    options.trains = false;
    EXPECT_EQ(net.run(options).flow_end, first.flow_end);
  }
}

std::string refusal(const FabricSpec& fabric) {
  try {
    (void)packet_spec(fabric);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

// What makes no sense is refused by name.
TEST(TrafficClasses, AreRefusedWhereTheyMeanNothing) {
  FabricSpec fabric = flat_tree(4).fabric;
  fabric.packets = PacketSpec{};
  fabric.packets->classes = {{{TrafficKind::training}, 1, 1}, {{TrafficKind::storage}, 0, 1}};
  EXPECT_EQ(refusal(fabric), "");
  EXPECT_EQ(class_of(*fabric.packets, TrafficKind::storage), 1U);
  fabric.packets->classes[1].traffic = {TrafficKind::training};
  EXPECT_EQ(refusal(fabric),
            "fabric.packets.classes: training is in two classes: name each traffic once\n");
  EXPECT_EQ(class_of(*fabric.packets, TrafficKind::storage), 0U) << "named by none";
  fabric.packets->classes[1].traffic = {TrafficKind::storage};
  fabric.packets->transport = Transport::receiver;
  EXPECT_EQ(refusal(fabric),
            "fabric.packets.classes: transport receiver has no classes here, since heads go before "
            "all else: take another transport, or leave classes out\n");
  fabric.packets->transport = Transport::credits;
  fabric.packets->classes.resize(9, {});
  EXPECT_EQ(refusal(fabric), "fabric.packets.classes: 9 classes, at most 8\n");
}

}  // namespace
}  // namespace headway::network
