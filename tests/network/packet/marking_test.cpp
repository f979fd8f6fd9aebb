// How many packets are marked: queues of a known length against RED's closed form.
#include <cmath>
#include <gtest/gtest.h>

#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

/// Two hosts fill one port: the first sends `burst` packets, the second goes on after them. Each
/// pair of packets lengthens the queue by one packet's time; then the second's packets come as fast
/// as they go, and each finds `burst` packets.
PacketResult two_into_one(std::int64_t burst, std::int64_t all, const PacketSpec& marking) {
  LeafSpine net(3, 1, 0, Guard::pause, 1'000'000'000);
  net.send(0, 2, burst * 4096);
  net.send(1, 2, all * 4096);
  auto options = packet_options(Transport::pauses);
  options.spec.marking_from = marking.marking_from;
  options.spec.marking_to = marking.marking_to;
  options.spec.marking_probability = marking.marking_probability;
  return net.run(options);
}

PacketSpec marking(core::Seconds from, core::Seconds to, double probability) {
  PacketSpec spec;
  spec.marking_from = from;
  spec.marking_to = to;
  spec.marking_probability = probability;
  return spec;
}

/// Mean and deviation of the marks on a queue that rises from nothing to `burst` packets and stays
/// there, each packet on its own: p = 0 below kmin, pmax (q - kmin) / (kmax - kmin) up to kmax, 1
/// from there.
std::pair<double, double> expected_marks(
    std::int64_t burst, std::int64_t all, double from, double to, double probability) {
  double mean = 0, variance = 0;
  const auto add = [&](double packets) {
    const double queue = packets * kPacketTime;
    const double p = queue >= to     ? 1
                     : queue <= from ? 0
                                     : probability * (queue - from) / (to - from);
    mean += p;
    variance += p * (1 - p);
  };
  for (std::int64_t k = 0; k < burst; ++k) {  // the pair's packets find k and k + 1 waiting
    add(static_cast<double>(k));
    add(static_cast<double>(k) + 1);
  }
  for (std::int64_t k = burst; k < all; ++k) {
    add(static_cast<double>(burst));
  }
  return {mean, std::sqrt(variance)};
}

TEST(Marking, OfAStandingQueueIsTheLineOfRed) {
  // 4,000 packets are 327.68 us of queue: a quarter, a half and three quarters up the line.
  for (const double place : {0.25, 0.5, 0.75}) {
    const double queue = 4000 * kPacketTime * 1e-6;  // [us]
    const double from = queue - place * 400;
    const auto spec = marking(core::Seconds{from * 1e-6}, core::Seconds{(from + 400) * 1e-6}, 0.2);
    const auto some = two_into_one(4000, 4000, spec).counts;
    const auto more = two_into_one(4000, 24'000, spec).counts;
    const double marked = static_cast<double>(more.marks - some.marks);
    const double p = 0.2 * place;
    EXPECT_EQ(more.packets - some.packets, 20'000U);
    EXPECT_NEAR(marked, 20'000 * p, 4 * std::sqrt(20'000 * p * (1 - p))) << place;
  }
}

TEST(Marking, OfARisingQueueSumsUpTheLine) {
  const auto counts = two_into_one(20'000, 20'000, marking(200_us, 1200_us, 0.3)).counts;
  const auto [mean, deviation] = expected_marks(20'000, 20'000, 200e6, 1200e6, 0.3);
  EXPECT_GT(mean, 10'000);  // two thirds of them where the line has ended
  EXPECT_NEAR(static_cast<double>(counts.marks), mean, 4 * deviation);
}

// A step: nothing below it, all from it on, to the packet.
TEST(Marking, OfAStepIsExact) {
  const core::Tick step = 1000 * kPacketTime;
  const auto spec = marking(core::Seconds{static_cast<double>(step) * 1e-12},
                            core::Seconds{static_cast<double>(step) * 1e-12}, 0.5);
  const auto counts = two_into_one(1500, 1500, spec).counts;
  const double expected =
      expected_marks(1500, 1500, static_cast<double>(step), static_cast<double>(step), 0.5).first;
  EXPECT_NEAR(static_cast<double>(counts.marks), expected, 2);
  EXPECT_EQ(two_into_one(990, 3000, spec).counts.marks, 0U);
}

// A packet that is marked stays so and counts once, whatever it meets later: the trunk's queue and
// the port's behind it.
TEST(Marking, CountsAPacketOnce) {
  LeafSpine net(2, 2, 1, Guard::pause, 1'000'000'000, 50_GBps, 50_GBps);
  net.send(0, 2, 500 * 4096);
  net.send(1, 2, 500 * 4096);
  net.send(3, 2, 500 * 4096);
  auto options = packet_options(Transport::pauses);
  options.spec.marking_from = core::Seconds{0};
  options.spec.marking_to = core::Seconds{0};
  const auto counts = net.run(options).counts;
  EXPECT_EQ(counts.marks, counts.packets);
}

}  // namespace
}  // namespace headway::network
