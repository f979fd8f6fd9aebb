// The packet network against closed forms: idle ways, shared cables, buffers, credits, pauses,
// marks, trimming, paths, losses; and the same bits on any threads and partitions.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/network/pacing/congestion_control.h"
#include "sim/network/packet/packet_window.h"

#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

constexpr Transport kTransports[] = {Transport::credits, Transport::pauses, Transport::dcqcn,
                                     Transport::swift,   Transport::dctcp,  Transport::receiver};

/// Seconds of packets back to back at 50 GB/s.
core::Tick packets_time(std::int64_t packets) { return packets * kPacketTime; }

TEST(PacketWindow, IsASetWhoseBeginningIsFull) {
  PacketWindow window;
  EXPECT_TRUE(window.insert(0));
  EXPECT_EQ(window.first_missing(), 1U);
  EXPECT_TRUE(window.insert(700));
  EXPECT_TRUE(window.insert(3));
  EXPECT_FALSE(window.insert(3));
  EXPECT_EQ(window.first_missing(), 1U);
  EXPECT_EQ(window.beyond(), 2U);
  EXPECT_TRUE(window.has(700) && !window.has(699) && !window.has(2) && window.has(0));
  window.fill_below(4);
  EXPECT_EQ(window.first_missing(), 4U);
  EXPECT_EQ(window.beyond(), 1U);
  for (std::uint32_t n = 699; n >= 4; --n) {
    EXPECT_TRUE(window.insert(n));
  }
  EXPECT_EQ(window.first_missing(), 701U);
  EXPECT_EQ(window.beyond(), 0U);
}

TEST(Packet, SurvivesTheTwoWordsOfAMessage) {
  const Packet packet{0xfffffffeU, 0x80000001U, 0xabcdefU, 3, 127, 255, true, false, true, 0xfffff};
  const Packet again = Packet::of(packet.a(), packet.b());
  EXPECT_EQ(again.a(), packet.a());
  EXPECT_EQ(again.b(), packet.b());
  EXPECT_EQ(again.stamp, packet.stamp);
  EXPECT_EQ(again.way, 127U);
  EXPECT_TRUE(again.marked && !again.trimmed && again.last);
}

// n packets over k cables, cut through: n packet times, a latency a cable, and a head's time at
// each of the k - 1 switches. Stored and forwarded: a packet's time at each switch in place of a
// head's.
TEST(PacketNetwork, OfOneMessageOnAnIdleWayTakesTheClosedForm) {
  for (const Transport transport : kTransports) {
    for (const Switching switching : {Switching::cut_through, Switching::store_and_forward}) {
      LeafSpine net(2, 2, 1, guard_under(transport));
      net.send(0, 3, 100 * 4096);
      auto options = packet_options(transport);
      options.spec.switching = switching;
      options.spec.marking_from = 1_ms;
      options.spec.marking_to = 2_ms;
      const auto result = net.run(options);
      const core::Tick each = switching == Switching::cut_through ? kHeadTime : kPacketTime;
      EXPECT_EQ(result.end, packets_time(100) + 4 * kMicrosecond + 3 * each)
          << core::to_word(transport);
      EXPECT_EQ(result.counts.packets, 100U);
      EXPECT_EQ(result.counts.hops, 400U);
      EXPECT_EQ(result.counts.drops + result.counts.repeats + result.counts.trims, 0U);
    }
  }
}

// n equal senders into one port: n times the bytes at the port's rate, whatever keeps them apart.
// The rate controls lose some of it, never more than stated here: 4 MB at 400 Gb/s are 80 us, and
// DCQCN needs several of its timers of 55 us to come back from the first cuts.
TEST(PacketNetwork, AnIncastDrainsAtTheRateOfItsPort) {
  for (const Transport transport : kTransports) {
    LeafSpine net(9, 1, 0, guard_under(transport));
    for (std::uint32_t h = 0; h < 8; ++h) {
      net.send(h, 8, 1000 * 4096);
    }
    const auto result = net.run(packet_options(transport));
    const double drain = static_cast<double>(packets_time(8000));
    const double late = static_cast<double>(result.end) / drain - 1;
    EXPECT_GE(late, 0) << core::to_word(transport);
    EXPECT_LT(late, transport == Transport::dcqcn ? 3.0 : 0.06) << core::to_word(transport);
    if (transport == Transport::credits || transport == Transport::pauses) {
      // To the tick: two latencies, and the head's time at the switch.
      EXPECT_EQ(result.end, packets_time(8000) + 2 * kMicrosecond + kHeadTime);
      EXPECT_EQ(result.counts.drops, 0U);
    }
  }
}

// Pauses: what waits at the switch never exceeds its buffer, and the sender is stopped and started.
TEST(PacketNetwork, PausesKeepAShallowBufferFromLosing) {
  LeafSpine net(5, 1, 0, Guard::pause, 150'000);
  for (std::uint32_t h = 0; h < 4; ++h) {
    net.send(h, 4, 2000 * 4096);
  }
  const auto result = net.run(packet_options(Transport::pauses));
  EXPECT_EQ(result.counts.drops, 0U);
  EXPECT_GT(result.counts.pauses, 10U);
  EXPECT_LE(result.counts.deepest, 5 * 150'000);
  EXPECT_EQ(result.end, packets_time(8000) + 2 * kMicrosecond + kHeadTime);
}

// The headroom of a cable is what comes after a stop has been sent: two latencies of it, and a
// packet begun at either end (IEEE 802.1Qbb). A buffer of headroom alone is refused.
TEST(PacketNetwork, RefusesBuffersThatHoldNoHeadroom) {
  LeafSpine net(2, 1, 0, Guard::pause, 108'000);
  net.send(0, 1, 4096);
  try {
    (void)net.run(packet_options(Transport::pauses));
    FAIL() << "ran";
  } catch (const core::Error& error) {
    EXPECT_STREQ(error.what(),
                 "leaf 0: 216000 bytes of buffer do not suffice for pauses: 216384 bytes are "
                 "headroom for what comes after a stop, and two packets a port must be left: raise "
                 "fabric.packets.buffer_per_port\n");
  }
}

// Head-of-line blocking: host 6 sends to a port of its own behind the trunk that an incast has
// filled. Under pauses the trunk stands still for all; where losses are allowed, it does not.
TEST(PacketNetwork, PausesHoldUpWhoeverSharesTheCable) {
  const auto bystander = [](Transport transport) {
    // Two leaves, one spine; 7 hosts of leaf 0 send to host 8, one to host 9 (both on leaf 1).
    LeafSpine net(8, 2, 1, guard_under(transport), 500'000, 50_GBps, 200_GBps);
    for (std::uint32_t h = 0; h < 7; ++h) {
      net.send(h, 8, 1000 * 4096);
    }
    const std::uint32_t other = net.send(7, 9, 1000 * 4096);
    auto options = packet_options(transport);
    return static_cast<double>(net.run(options).flow_end[other]) /
           static_cast<double>(packets_time(1000));
  };
  EXPECT_GT(bystander(Transport::pauses), 3.0);
  EXPECT_GT(bystander(Transport::credits), 3.0);
  EXPECT_LT(bystander(Transport::swift), 1.6);
  EXPECT_LT(bystander(Transport::receiver), 1.6);
}

// A cable with credits for b bytes carries at most b in the time from a packet's setting out to its
// credit's return: two latencies and the packet's time.
TEST(PacketNetwork, CreditsBoundTheRateOfALongCable) {
  LeafSpine net(2, 1, 0, Guard::credit, 65'536);  // 16 packets
  net.send(0, 1, 1000 * 4096);
  const auto result = net.run(packet_options(Transport::credits));
  // Credits come back in lots of an eighth, 2 packets: 16 packets in two latencies, and the time of
  // the two packets that make a lot: the second's head is read, then it goes.
  const double round = 2.0 * kMicrosecond + 2 * kPacketTime;
  const double rounds = 1000.0 / 16;
  EXPECT_NEAR(static_cast<double>(result.end) / (rounds * round), 1, 0.08);
  EXPECT_GT(result.counts.stalls, 50U);
}

// Dynamic thresholds (Choudhury and Hahne 1998): one full queue takes T with T = a (B - T), so of a
// buffer B with a = 1 the half, with a = 1/4 a fifth.
TEST(PacketNetwork, OneQueueTakesItsShareOfTheBuffer) {
  for (const double threshold : {1.0, 0.25, 4.0}) {
    LeafSpine net(5, 1, 0, Guard::none, 100'000);
    for (std::uint32_t h = 0; h < 4; ++h) {
      net.send(h, 4, 500 * 4096);
    }
    auto options = packet_options(Transport::dctcp);
    options.spec.threshold = threshold;
    options.spec.marking_from = 1_ms;  // no marks: only losses bound the queue
    options.spec.marking_to = 2_ms;
    const auto result = net.run(options);
    const double share = threshold / (1 + threshold);
    EXPECT_GT(result.counts.drops, 0U);
    EXPECT_NEAR(static_cast<double>(result.counts.deepest) / (share * 500'000), 1, 0.05)
        << threshold;
  }
}

// Marks by RED: none below 1 us, all from 41 us on, a line in between.
TEST(CongestionControl, MarksAsRedDoes) {
  const MarkingLine line(1_us, 41_us, 0.02);
  EXPECT_EQ(line.chance(1 * kMicrosecond), 0);
  EXPECT_NEAR(line.chance(21 * kMicrosecond), 0.01, 1e-12);
  EXPECT_EQ(line.chance(41 * kMicrosecond), 1);
}

// Swift's law by hand: beyond a target of 10 us a round trip of 5 us and 20 us of queueing exceeds
// by (20 - 10) / (5 + 20), of which 0.8 goes: 0.68 is left; 100 us would take 0.8 x 90 / 105, but
// at most half goes, once a round trip; below the target a window grows by a packet a round trip.
TEST(CongestionControl, SwiftFollowsItsLaw) {
  Swift swift;
  swift.window = 10;
  const auto hear = [&](core::Tick now, core::Tick queueing) {
    swift.on_acknowledged({now, queueing, 0, 0, false}, 10 * kMicrosecond, 5 * kMicrosecond);
    return swift.window;
  };
  EXPECT_NEAR(hear(100 * kMicrosecond, 20 * kMicrosecond), 6.8, 1e-12);
  EXPECT_NEAR(hear(110 * kMicrosecond, 20 * kMicrosecond), 6.8, 1e-12) << "within the round trip";
  EXPECT_NEAR(hear(300 * kMicrosecond, 100 * kMicrosecond), 3.4, 1e-12) << "at most half";
  EXPECT_NEAR(hear(301 * kMicrosecond, 0), 3.4 + 1 / 3.4, 1e-12);
  swift.on_loss(400 * kMicrosecond, 5 * kMicrosecond);
  EXPECT_NEAR(swift.window, (3.4 + 1 / 3.4) / 2, 1e-12);
}

// DCTCP's by hand: all marked, the share goes up by 1/16 and the window down by half of it; none
// marked, a packet more; a loss halves once a window of data.
TEST(CongestionControl, DctcpFollowsItsLaw) {
  Dctcp dctcp;
  dctcp.window = 32;
  dctcp.on_acknowledged({0, 0, 0, 32, true});
  EXPECT_NEAR(dctcp.share, 1.0 / 16, 1e-12);
  EXPECT_NEAR(dctcp.window, 32 * (1 - 1.0 / 32), 1e-12);
  for (std::uint32_t n = 1; n < 32; ++n) {
    dctcp.on_acknowledged({0, 0, n, 64, false});
    EXPECT_NEAR(dctcp.window, 31, 1e-12) << "not before the window of data ends";
  }
  dctcp.on_acknowledged({0, 0, 32, 64, false});
  EXPECT_NEAR(dctcp.window, 32, 1e-12);
  dctcp.on_loss(40, 64);
  dctcp.on_loss(41, 64);
  EXPECT_NEAR(dctcp.window, 16, 1e-12);
  dctcp.on_timeout(64);
  EXPECT_EQ(dctcp.window, 1);
  for (std::uint32_t n = 65; n < 75; ++n) {
    dctcp.on_acknowledged({0, 0, n, 128, false});
  }
  EXPECT_GE(dctcp.window, 8) << "slow start to half of 16, then a packet a window of data";
  EXPECT_LE(dctcp.window, 10);
}

// DCTCP with one threshold K: the queue swings around K and never empties, so the port is full
// (Alizadeh et al. 2010, section 3.3: K above a seventh of bandwidth x delay).
TEST(PacketNetwork, DctcpKeepsThePortFullAndTheQueueAtItsThreshold) {
  LeafSpine net(3, 1, 0, Guard::none);
  net.send(0, 2, 20'000 * 4096);
  net.send(1, 2, 20'000 * 4096);
  auto options = packet_options(Transport::dctcp);
  options.spec.marking_from = 4_us;  // 200 kB: 49 packets
  options.spec.marking_to = 4_us;
  const auto result = net.run(options);
  EXPECT_NEAR(static_cast<double>(result.end) / static_cast<double>(packets_time(40'000)), 1, 0.01);
  EXPECT_GT(result.counts.marks, 100U);
  EXPECT_EQ(result.counts.drops, 0U);
  EXPECT_LT(result.counts.deepest, 3 * 200'000);
}

// Swift aims at a queueing delay: the longest queue stays near target x rate once it is steered.
TEST(PacketNetwork, SwiftHoldsTheQueueNearItsTarget) {
  LeafSpine net(5, 1, 0, Guard::none);
  for (std::uint32_t h = 0; h < 4; ++h) {
    net.send(h, 4, 10'000 * 4096);
  }
  auto options = packet_options(Transport::swift);
  options.spec.delay_target = 10_us;  // 500 kB at the port
  const auto result = net.run(options);
  EXPECT_NEAR(static_cast<double>(result.end) / static_cast<double>(packets_time(40'000)), 1, 0.01);
  EXPECT_EQ(result.counts.drops, 0U);
  EXPECT_GT(result.counts.deepest, 400'000);
  EXPECT_LT(result.counts.deepest, 900'000);
}

// Trimming (NDP): heads arrive in place of what finds 8 packets queued; nothing is lost, all that
// was trimmed is sent once more, when the receiver says so.
TEST(PacketNetwork, ReceiversAskAgainForWhatWasTrimmed) {
  LeafSpine net(17, 1, 0, Guard::none);
  for (std::uint32_t h = 0; h < 16; ++h) {
    net.send(h, 16, 200 * 4096);
  }
  const auto result = net.run(packet_options(Transport::receiver));
  EXPECT_GT(result.counts.trims, 16U);
  EXPECT_EQ(result.counts.repeats, result.counts.trims);
  EXPECT_EQ(result.counts.drops + result.counts.timeouts, 0U);
  EXPECT_LE(result.counts.deepest, 10 * 4096);
  EXPECT_LT(static_cast<double>(result.end) / static_cast<double>(packets_time(3200)), 1.08);
}

// Losses in a shallow buffer are repeated until all is there, one by one or from the gap on; going
// back sends more.
TEST(PacketNetwork, RepeatsWhatIsLost) {
  std::uint64_t repeats[2];
  for (const Repeat repeat : {Repeat::selective, Repeat::go_back_n}) {
    LeafSpine net(9, 1, 0, Guard::none, 65'536);
    for (std::uint32_t h = 0; h < 8; ++h) {
      net.send(h, 8, 500 * 4096);
    }
    auto options = packet_options(Transport::dctcp);
    options.spec.repeat = repeat;
    options.spec.marking_from = 1_ms;
    options.spec.marking_to = 2_ms;
    const auto result = net.run(options);
    EXPECT_GT(result.counts.drops, 0U);
    EXPECT_GE(result.counts.repeats, result.counts.drops);
    repeats[repeat == Repeat::selective ? 0 : 1] = result.counts.repeats;
    // Gaps are noticed by what comes after them; each sender's last packets by a timeout, and by
    // another where the repeat is lost too.
    EXPECT_LE(result.counts.timeouts, 2 * 8U);
    for (const core::Tick end : result.flow_end) {
      EXPECT_GT(end, 0);
    }
  }
  EXPECT_GT(repeats[1], repeats[0] * 3 / 2);
}

// The last packet of a flow that is lost is noticed by nothing but the timeout.
TEST(PacketNetwork, TimeoutsFindWhatNothingElseDoes) {
  LeafSpine net(17, 1, 0, Guard::none, 65'536);
  for (std::uint32_t h = 0; h < 16; ++h) {
    net.send(h, 16, 40 * 4096);
  }
  auto options = packet_options(Transport::dctcp);
  options.spec.threshold = 1.0 / 16;  // 65 kB: 16 packets
  options.spec.timeout = 500_us;
  const auto result = net.run(options);
  EXPECT_GT(result.counts.timeouts, 0U);
  EXPECT_GT(result.end, 500 * kMicrosecond);
}

// Four flows over four spines: by hash some meet, by packet or by queue none does.
TEST(PacketNetwork, SprayingUsesAllPaths) {
  const auto time = [](PathChoice choice, std::uint64_t seed) {
    LeafSpine net(4, 2, 4, Guard::credit);
    for (std::uint32_t h = 0; h < 4; ++h) {
      net.send(h, 4 + h, 2000 * 4096);
    }
    auto options = packet_options(Transport::credits, choice);
    options.seed = seed;
    return static_cast<double>(net.run(options).end) / static_cast<double>(packets_time(2000));
  };
  // Four latencies are 2.4 % of 2,000 packets.
  EXPECT_LT(time(PathChoice::queue, 1), 1.03);
  EXPECT_LT(time(PathChoice::packet, 1), 1.05);
  EXPECT_NEAR(time(PathChoice::destination, 1), 1.024, 0.001);
  // 4 balls into 4 bins: the fullest has 1 in 9 % of draws, mostly 2.
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    sum += std::round(time(PathChoice::flow, seed));
  }
  // E[fullest of 4 in 4] = (1 x 24 + 2 x 180 + 3 x 48 + 4 x 4) / 256 = 2.125.
  EXPECT_NEAR(sum / 40, 2.125, 0.35);
}

// Flowlets: a flow that pauses longer than the gap may change its path; one that does not, stays.
TEST(PacketNetwork, FlowletsChangePathsAfterPauses) {
  const auto uplinks = [](core::Tick pause) {
    LeafSpine net(1, 2, 8, Guard::credit);
    const std::uint32_t flow = net.send(0, 1, 4096, 0);
    net.traffic.programs = {{{StepCode::loop, core::Activity::data, 0, 0, 64},
                             {StepCode::arrive, core::Activity::data, 0, 0, 0},
                             {StepCode::compute, core::Activity::data, 0, 0, pause},
                             {StepCode::end_loop, core::Activity::data, 0, 0, 0}}};
    net.traffic.actors = {{0, 0, {{flow}}}};
    auto options = packet_options(Transport::credits, PathChoice::flowlet);
    options.spec.flowlet_gap = 5_us;
    const auto result = net.run(options);
    // Of the leaf's cables, those to spines come behind its host's.
    const auto first = result.cable_bytes.begin() + net.network.devices[2].first_cable + 1;
    return std::count_if(first, first + 8, [](std::int64_t bytes) { return bytes > 0; });
  };
  EXPECT_EQ(uplinks(kMicrosecond), 1);
  EXPECT_GT(uplinks(10 * kMicrosecond), 4);
}

/// Three switches in a ring, each cable one way: routes that go round.
struct Ring {
  PacketNetwork network;
  PacketTraffic traffic;
  explicit Ring(Guard guard, std::int64_t buffer) {
    for (int h = 0; h < 3; ++h) {
      network.add_device(fmt::format("host {}", h), true);
    }
    for (int s = 0; s < 3; ++s) {
      network.add_device(fmt::format("switch {}", s), false);
    }
    std::uint32_t up[3], down[3];
    for (std::uint32_t h = 0; h < 3; ++h) {
      up[h] = network.add_cable(h, 3 + h, 50_GBps, 1_us, guard);
    }
    for (std::uint32_t s = 0; s < 3; ++s) {
      down[s] = network.add_cable(3 + s, s, 50_GBps, 1_us, guard);
      network.add_cable(3 + s, 3 + (s + 1) % 3, 50_GBps, 1_us, guard);
    }
    for (Device& device : network.devices) {
      device.buffer = buffer * device.cables;
    }
    network.cable_buffer = buffer;
    network.find_routes();
    for (std::uint32_t h = 0; h < 3; ++h) {
      traffic.add_flow(network, {{{up[h], down[(h + 2) % 3]}}}, 4000 * 4096, 4096, 1);
    }
  }
};

// Each flow goes two switches on: every cable of the ring carries two flows, and waits for the
// next.
TEST(PacketNetwork, NamesTheCircleOfADeadlock) {
  for (const Transport transport : {Transport::credits, Transport::pauses}) {
    const Ring ring(guard_under(transport), 120'000);
    try {
      (void)run_packets(ring.network, ring.traffic, packet_options(transport));
      FAIL() << "no deadlock under " << core::to_word(transport);
    } catch (const core::Error& error) {
      EXPECT_EQ(
          std::string(error.what()),
          fmt::format("deadlock: packets wait for one another in a circle, switch 0 -> switch 1 "
                      "-> switch 2 -> switch 0 ({}): take routes without circles, or a "
                      "transport that drops\n",
                      core::to_word(transport)));
    }
  }
  const Ring ring(Guard::none, 120'000);
  EXPECT_GT(run_packets(ring.network, ring.traffic, packet_options(Transport::swift)).end, 0);
}

// M/D/1: packets of many senders at random into one port with load r wait r / (2 (1 - r)) packet
// times on average (Pollaczek-Khinchine). Senders that draw their gaps: 200 actors, one packet each
// some time.
TEST(PacketNetwork, RandomArrivalsWaitAsPollaczekAndKhinchineSay) {
  constexpr std::uint32_t kHosts = 200;
  constexpr double kLoad = 0.7;
  LeafSpine net(kHosts + 1, 1, 0, Guard::none, 1 << 24);
  const core::RandomStream stream(7, "gaps");
  const double mean_gap = kHosts * kPacketTime / kLoad;
  std::vector<std::uint32_t> flows;
  for (std::uint32_t h = 0; h < kHosts; ++h) {
    Program program;
    // Flows of one packet each: 20 a host, after exponential gaps.
    std::vector<std::vector<std::uint32_t>> slots;
    for (std::uint32_t k = 0; k < 20; ++k) {
      const double gap = core::exponential_from(stream.part(h).uniform(k), mean_gap);
      program.push_back({StepCode::compute, core::Activity::data, 0, 0, std::llround(gap)});
      program.push_back({StepCode::arrive, core::Activity::data, 0, k, 0});
      const std::uint32_t flow = net.send(h, kHosts, 4096, 0);
      slots.push_back({flow});
      flows.push_back(flow);
    }
    net.traffic.programs.push_back(std::move(program));
    net.traffic.actors.push_back({h, h, std::move(slots)});
  }
  const auto result = net.run(packet_options(Transport::dctcp));
  // When each packet set out is the sum of its gaps; an idle way takes the closed form.
  double wait = 0;
  for (std::uint32_t h = 0; h < kHosts; ++h) {
    core::Tick out = 0;
    for (std::uint32_t k = 0; k < 20; ++k) {
      out += std::llround(core::exponential_from(stream.part(h).uniform(k), mean_gap));
      const core::Tick idle = 2 * kMicrosecond + kPacketTime + kHeadTime;
      wait += static_cast<double>(result.flow_end[flows[h * 20 + k]] - out - idle);
    }
  }
  const double mean = wait / (kHosts * 20) / kPacketTime;
  EXPECT_NEAR(mean, kLoad / (2 * (1 - kLoad)), 0.25);
}

// No field of the user's is read and ignored: each moves some transport's packets.
TEST(PacketNetwork, FeelsEveryFieldOfItsSpec) {
  struct Change {
    const char* field;
    Transport transport;
    PathChoice choice;
    void (*change)(PacketSpec&);
  };
  const Change changes[] = {
      {"switching", Transport::credits, PathChoice::flow,
       [](PacketSpec& s) { s.switching = Switching::store_and_forward; }},
      {"payload", Transport::credits, PathChoice::flow, [](PacketSpec& s) { s.payload = 2_KiB; }},
      {"threshold", Transport::pauses, PathChoice::flow, [](PacketSpec& s) { s.threshold = 0.25; }},
      {"marking_from", Transport::dctcp, PathChoice::flow,
       [](PacketSpec& s) { s.marking_from = 30_us; }},
      {"marking_to", Transport::dctcp, PathChoice::flow,
       [](PacketSpec& s) { s.marking_to = 2_us; }},
      {"marking_probability", Transport::dcqcn, PathChoice::flow,
       [](PacketSpec& s) { s.marking_probability = 0.5; }},
      {"delay_target", Transport::swift, PathChoice::flow,
       [](PacketSpec& s) { s.delay_target = 2_us; }},
      {"flowlet_gap", Transport::dctcp, PathChoice::flowlet,
       [](PacketSpec& s) { s.flowlet_gap = core::Seconds{0}; }},
      {"timeout", Transport::swift, PathChoice::flow, [](PacketSpec& s) { s.timeout = 5_us; }},
      {"repeat", Transport::swift, PathChoice::flow,
       [](PacketSpec& s) { s.repeat = Repeat::go_back_n; }},
      {"packets_per_second", Transport::credits, PathChoice::flow,
       [](PacketSpec& s) { s.packets_per_second = 1e6; }},
      {"path_choice", Transport::credits, PathChoice::flow,
       [](PacketSpec& s) { s.path_choice = PathChoice::packet; }}};
  for (const Change& one : changes) {
    LeafSpine net(8, 2, 4, guard_under(one.transport), 150'000);
    for (std::uint32_t h = 0; h < 7; ++h) {
      net.send(h, 8, 300 * 4096);
      net.send(h, 8 + h, 100 * 4096);
    }
    auto options = packet_options(one.transport, one.choice);
    const auto before = net.run(options).event_digest;
    one.change(options.spec);
    EXPECT_NE(net.run(options).event_digest, before) << one.field;
  }
}

// The same bits whatever the threads and the partitions, for every transport and path choice.
TEST(PacketNetwork, IsTheSameOnAnyThreadsAndPartitions) {
  for (const Transport transport : kTransports) {
    for (const PathChoice choice : {PathChoice::flow, PathChoice::packet, PathChoice::queue}) {
      LeafSpine net(4, 4, 2, guard_under(transport), 200'000);
      for (std::uint32_t h = 0; h < 16; ++h) {
        net.send(h, (h * 7 + 5) % 16, 300 * 4096 + h);
        net.send(h, 3, 50 * 4096);
      }
      auto options = packet_options(transport, choice);
      const auto first = net.run(options);
      for (const auto& [threads, together] : {std::pair{2, 0U}, {1, 1U}, {2, 3U}, {8, 5U}}) {
        options.threads = threads;
        options.partitions = together;
        const auto again = net.run(options);
        EXPECT_EQ(again.event_digest, first.event_digest) << core::to_word(transport);
        EXPECT_EQ(again.flow_end, first.flow_end);
      }
      options.threads = 1;
      options.seed = 2;
      if (choice == PathChoice::flow) {
        EXPECT_NE(net.run(options).event_digest, first.event_digest) << "another hash";
      }
    }
  }
}

}  // namespace
}  // namespace headway::network
