#include "sim/network/collective/closed_form.h"

#include <gtest/gtest.h>

namespace headway::network {
namespace {

using namespace core::literals;
using core::CollectiveKind;

constexpr Hop kHop{2_us, 50_GBps};

TEST(ClosedForm, RingAllReduceIsTwoPasses) {
  // 2 (8-1) 2 us + 2 * 7/8 * 64 MiB / 50 GB/s
  EXPECT_DOUBLE_EQ(ring_all_reduce(64_MiB, 8, kHop).si(), 14 * 2e-6 + 1.75 * 67108864 / 50e9);
  EXPECT_DOUBLE_EQ(ring_all_gather(64_MiB, 8, kHop).si() * 2,
                   ring_all_reduce(64_MiB, 8, kHop).si());
  EXPECT_DOUBLE_EQ(ring_reduce_scatter(64_MiB, 8, kHop).si(),
                   ring_all_gather(64_MiB, 8, kHop).si());
}

TEST(ClosedForm, OneRankTakesNoTime) {
  EXPECT_EQ(ring_all_reduce(64_MiB, 1, kHop).si(), 0);
  EXPECT_EQ(double_tree_all_reduce(64_MiB, 1, kHop).si(), 0);
  EXPECT_EQ(recursive_doubling_all_gather(64_MiB, 1, kHop).si(), 0);
  EXPECT_EQ(pairwise_all_to_all(64_MiB, 1, kHop).si(), 0);
}

TEST(ClosedForm, RecursiveHalvingTakesLogarithmicLatency) {
  EXPECT_DOUBLE_EQ(recursive_halving_reduce_scatter(1_MiB, 16, kHop).si(),
                   4 * 2e-6 + 15.0 / 16 * 1048576 / 50e9);
  // Not a power of two: one more exchange of the whole array.
  EXPECT_DOUBLE_EQ(recursive_doubling_all_gather(1_MiB, 12, kHop).si(),
                   4 * 2e-6 + 11.0 / 12 * 1048576 / 50e9 + 2e-6 + 1048576 / 50e9);
  EXPECT_DOUBLE_EQ(halving_doubling_all_reduce(1_MiB, 16, kHop).si(),
                   8 * 2e-6 + 30.0 / 16 * 1048576 / 50e9);
}

TEST(ClosedForm, TreesTakeLogarithmicLatencyAndTwiceTheBytes) {
  EXPECT_DOUBLE_EQ(double_tree_all_reduce(1_MiB, 16, kHop).si(), 8 * 2e-6 + 2 * 1048576 / 50e9);
  EXPECT_DOUBLE_EQ(tree_broadcast(1_MiB, 16, kHop).si(), 4 * 2e-6 + 1048576 / 50e9);
  EXPECT_DOUBLE_EQ(pat_all_gather(1_MiB, 16, kHop).si(), 4 * 2e-6 + 15.0 / 16 * 1048576 / 50e9);
  EXPECT_DOUBLE_EQ(in_switch_all_reduce(1_MiB, kHop).si(), 2 * 2e-6 + 1048576 / 50e9);
}

TEST(ClosedForm, HierarchicalAllReduceSendsAnEighthOverTheNics) {
  const Hop nvlink{1_us, 400_GBps};
  const double expected =
      14 * 1e-6 + 2 * 7.0 / 8 * 8388608 / 400e9 + 6 * 2e-6 + 2 * 3.0 / 4 * 1048576 / 50e9;
  EXPECT_DOUBLE_EQ(hierarchical_all_reduce(8_MiB, 32, 8, nvlink, kHop).si(), expected);
}

TEST(ClosedForm, StagesAddUp) {
  // 16 ranks, 8 a domain, 80 MB: a gather along the rails of 10 MB in halves, then inside of
  // eighths; an all-to-all inside of eighths, then between of halves.
  const Hop inside{1_us, 400_GBps};
  const Hop between{10_us, 50_GBps};
  const double gather = 10e-6 + 5e6 / 50e9 + 7e-6 + 70e6 / 400e9;
  EXPECT_NEAR(hierarchical_all_gather(core::Bytes{80e6}, 16, 8, inside, between).si(), gather,
              1e-12);
  const double exchange = 7e-6 + 70e6 / 400e9 + 10e-6 + 40e6 / 50e9;
  EXPECT_NEAR(staged_all_to_all(core::Bytes{80e6}, 16, 8, inside, between).si(), exchange, 1e-12);
}

TEST(ClosedForm, HierarchicalAllToAllIsTheSlowerOfItsParts) {
  const Hop nvlink{1_us, 400_GBps};
  EXPECT_DOUBLE_EQ(hierarchical_all_to_all(8_MiB, 32, 8, nvlink, kHop).si(),
                   24 * 2e-6 + 24.0 / 32 * 8388608 / 50e9);
  EXPECT_DOUBLE_EQ(hierarchical_all_to_all(8_MiB, 8, 8, nvlink, kHop).si(),
                   7 * 1e-6 + 7.0 / 8 * 8388608 / 400e9);
}

TEST(ClosedForm, BusBandwidthIsWhatNcclTestsPrints) {
  // DGX H100, 8 ranks, 16 GiB all-reduce in 62.648 ms: 479.9 GB/s (a published nccl-tests log).
  const auto bus = bus_bandwidth(CollectiveKind::all_reduce, core::Bytes{17179869184.0}, 8,
                                 core::Seconds{62648e-6});
  EXPECT_NEAR(bus.si() / 1e9, 479.9, 0.05);
  // 16 ranks, 512 MiB all-gather in 7098.6 us: 70.9 GB/s.
  EXPECT_NEAR(
      bus_bandwidth(CollectiveKind::all_gather, 512_MiB, 16, core::Seconds{7098.6e-6}).si() / 1e9,
      70.9, 0.05);
  EXPECT_EQ(bus_factor(CollectiveKind::broadcast, 8), 1);
  EXPECT_EQ(bus_factor(CollectiveKind::all_to_all, 4), 0.75);
}

}  // namespace
}  // namespace headway::network
