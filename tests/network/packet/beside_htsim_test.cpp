// The same traffic on the same leaf-spine as htsim, the packet simulator of NDP and EQDS.
//
// Figures: htsim_eqds of Broadcom/csg-htsim (841d9e7), 128 hosts, 32 a leaf, 32 spines, 400
// Gb/s, 1 us a cable, packets of 4,096 bytes of which 64 are head, adaptive routing by packet,
// queues of 8 packets with trimming, windows of 120. A flow of 2 MB is 497 packets; htsim's end is
// when the sender has heard of all, four cables after the receiver.
#include <gtest/gtest.h>

#include "tests/network/packet/packet_fixture.h"

namespace headway::network {
namespace {

constexpr std::int64_t kFlow = 497LL * 4096;
constexpr double kBack = 4;  ///< the last acknowledgement [us]

LeafSpine leaf_spine() { return {32, 4, 32, Guard::none}; }

/// The last flow's end at its sender [us].
double last_end(const LeafSpine& net) {
  auto options = packet_options(Transport::receiver, PathChoice::queue);
  options.spec.switching = Switching::store_and_forward;
  return static_cast<double>(net.run(options).end) * 1e-6 + kBack;
}

TEST(BesideHtsim, OneFlow) {
  auto net = leaf_spine();
  net.send(64, 0, kFlow);
  EXPECT_NEAR(last_end(net) / 49.333, 1, 0.05);
}

TEST(BesideHtsim, IncastsOf8And32) {
  for (const auto& [senders, end] : {std::pair{8U, 338.92}, {32U, 1333.56}}) {
    auto net = leaf_spine();
    for (std::uint32_t h = 64; h < 64 + senders; ++h) {
      net.send(h, 0, kFlow);
    }
    EXPECT_NEAR(last_end(net) / end, 1, 0.05) << senders;
  }
}

TEST(BesideHtsim, APermutation) {
  auto net = leaf_spine();
  for (std::uint32_t h = 0; h < 128; ++h) {
    if (const std::uint32_t to = (h * 37 + 11) % 128; to != h) {
      net.send(h, to, kFlow);
    }
  }
  EXPECT_NEAR(last_end(net) / 55.722, 1, 0.05);
}

}  // namespace
}  // namespace headway::network
