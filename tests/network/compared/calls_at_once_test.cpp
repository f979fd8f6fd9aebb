// Several groups that make one call at once: alone both models agree to a head's time a switch,
// together they share what they share.
#include "sim/network/compared/calls_at_once.h"

#include <gtest/gtest.h>
#include <tuple>

#include "tests/network/fabric_fixture.h"
#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

using core::CollectiveKind;

PacketOptions options_of(const FabricInput& in, int threads = 1) {
  PacketOptions options;
  options.spec = packet_spec(in.fabric);
  options.threads = threads;
  return options;
}

std::vector<core::GpuId> every(std::uint32_t step, std::uint32_t first, std::uint32_t count) {
  std::vector<core::GpuId> members;
  for (std::uint32_t i = 0; i < count; ++i) {
    members.emplace_back(first + i * step);
  }
  return members;
}

// A ring of n ranks passes 2 (n - 1) times m / n on: cut through, each message costs what it costs
// a fluid flow, and a head's time at each switch of its way.
//     fluid = 2 (n - 1) (L + m / n / B),  fluid <= packets <= fluid + 2 (n - 1) (k - 1) h
// L of two cables of 1 us (k = 2, one leaf), B = 50 GB/s, h = 64 B / B.
TEST(CallsAtOnce, RingsThatMeetNobodyTakeAHeadsTimeAtEachSwitchMore) {
  const auto in = flat_tree(32);
  const Fabric fabric(in);
  const PacketFabric cables(fabric, packet_spec(in.fabric));
  const CallsAtOnce calls{{CollectiveKind::all_reduce, 64_MiB, Algorithm::ring, {}},
                          {every(1, 0, 16), every(1, 16, 16)}};
  const auto both = run_both(fabric, cables, calls, options_of(in));
  const double messages = 2 * 15;
  const double fluid = messages * (2e-6 + 67'108'864.0 / 16 / 50e9);
  EXPECT_NEAR(both.fluid.si(), fluid, 1e-9);
  EXPECT_GE(both.packets.si(), fluid - 1e-9);
  EXPECT_LE(both.packets.si(), fluid + messages * 64 / 50e9 + 1e-9);
  EXPECT_GT(both.packets.si(), fluid + 64 / 50e9 / 2);
}

// Two messages into one GPU: each model gives each half of its port.
TEST(CallsAtOnce, GroupsThatShareAPortShareItByBoth) {
  const auto in = flat_tree(8);
  const Fabric fabric(in);
  const PacketFabric cables(fabric, packet_spec(in.fabric));
  CallsAtOnce calls{{CollectiveKind::send_receive, 16_MiB, Algorithm::direct, {}},
                    {{core::GpuId(0), core::GpuId(2)}}};
  const auto one = run_both(fabric, cables, calls, options_of(in));
  calls.groups.push_back({core::GpuId(1), core::GpuId(2)});
  const auto two = run_both(fabric, cables, calls, options_of(in));
  const double bytes = 16 * 1024 * 1024;
  EXPECT_NEAR(one.fluid.si(), 2e-6 + bytes / 50e9, 1e-9);
  EXPECT_NEAR(two.fluid.si(), 2e-6 + 2 * bytes / 50e9, 1e-9);
  EXPECT_NEAR(one.packets / one.fluid, 1, 1e-3);
  EXPECT_NEAR(two.packets / two.fluid, 1, 1e-3);
}

// Expected is a sender's whole array over four cables, on a ring twice for an all-reduce. In truth
// a ring of 8 moves 7/8 of it; an exchange sends 3 of 8 parts over two cables and 4 over four: 22/8
// cables instead of 4.
TEST(CallsAtOnce, ExpectedHopsAreThoseOfThePackets) {
  const auto in = flat_tree(64);
  const Fabric fabric(in);
  const PacketFabric cables(fabric, packet_spec(in.fabric));
  for (const auto& [kind, algorithm, more] :
       {std::tuple{CollectiveKind::all_reduce, Algorithm::ring, 8.0 / 7},
        std::tuple{CollectiveKind::all_gather, Algorithm::ring, 8.0 / 7},
        std::tuple{CollectiveKind::all_to_all, Algorithm::direct, 32.0 / 22}}) {
    // Members on two leaves in turn, so that every way has four cables.
    CallsAtOnce calls{{kind, 64_MiB, algorithm, {}}, {{}}};
    for (std::uint32_t i = 0; i < 8; ++i) {
      calls.groups.front().emplace_back(i / 2 + 32 * (i % 2));
    }
    const auto run = run_both(fabric, cables, calls, options_of(in));
    EXPECT_NEAR(expected_hops(calls, core::Bytes(4096)) / static_cast<double>(run.run.counts.hops),
                more, 1e-9)
        << core::to_word(kind);
  }
}

TEST(CallsAtOnce, AreTheSameOnAnyThreads) {
  const auto in = dgx_h100(8);
  const Fabric fabric(in);
  const PacketFabric cables(fabric, packet_spec(in.fabric));
  const CallsAtOnce calls{{CollectiveKind::reduce_scatter, 8_MiB, Algorithm::ring, {}},
                          {every(8, 0, 8), every(8, 1, 8), every(8, 2, 8)}};
  const auto one = run_both(fabric, cables, calls, options_of(in, 1));
  for (const int threads : {2, 8}) {
    const auto many = run_both(fabric, cables, calls, options_of(in, threads));
    EXPECT_EQ(many.run.event_digest, one.run.event_digest);
    EXPECT_EQ(many.packets.si(), one.packets.si());
    EXPECT_EQ(many.fluid.si(), one.fluid.si());
  }
}

}  // namespace
}  // namespace headway::network
