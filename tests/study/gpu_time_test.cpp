// Sums of a GPU's time, by hand.
#include "sim/study/profile/gpu_time.h"

#include <gtest/gtest.h>

namespace headway::study {
namespace {

using core::GpuSpan;
using core::GpuWork;
using core::Seconds;

GpuSpan span(double begin, double end, GpuWork work, double busy = 1) {
  return {Seconds(begin), Seconds(end), work, busy, 1};
}

TEST(GpuTime, DividesAWindowIntoComputeNonComputeAndIdle) {
  // 0 to 4 a product, 3 to 7 an all-reduce, 6 to 8 a copy, 9 to 12 attention that is cut at 10.
  const GpuTime time =
      gpu_time({span(0, 4, GpuWork::matrix_products), span(3, 7, GpuWork::all_reduce),
                span(6, 8, GpuWork::memory), span(9, 12, GpuWork::attention)},
               Seconds(0), Seconds(10));
  EXPECT_DOUBLE_EQ(time.compute.si(), 5);      // 0 to 4, 9 to 10
  EXPECT_DOUBLE_EQ(time.non_compute.si(), 4);  // 4 to 8
  EXPECT_DOUBLE_EQ(time.idle.si(), 1);         // 8 to 9
  EXPECT_DOUBLE_EQ(time.communication.si(), 4);
  EXPECT_DOUBLE_EQ(time.overlap(), 0.25);  // 3 to 4 of 3 to 7
  EXPECT_DOUBLE_EQ(time.sums[static_cast<std::size_t>(GpuWork::attention)].si(), 1);
  EXPECT_DOUBLE_EQ(time.launches[static_cast<std::size_t>(GpuWork::all_reduce)], 1);
}

TEST(GpuTime, EqualWorkThatOverlapsCountsOnceInTheWindowAndTwiceInTheSum) {
  const GpuTime time = gpu_time({span(0, 4, GpuWork::all_gather), span(2, 6, GpuWork::all_gather)},
                                Seconds(0), Seconds(6));
  EXPECT_DOUBLE_EQ(time.communication.si(), 6);
  EXPECT_DOUBLE_EQ(time.sums[static_cast<std::size_t>(GpuWork::all_gather)].si(), 8);
}

TEST(GpuTime, GapsBetweenKernelsAreIdleUnlessATransferRuns) {
  const GpuTime time =
      gpu_time({span(0, 4, GpuWork::matrix_products, 0.75), span(2, 4, GpuWork::all_reduce)},
               Seconds(0), Seconds(4));
  EXPECT_DOUBLE_EQ(time.compute.si(), 3);
  EXPECT_DOUBLE_EQ(time.non_compute.si(), 0.5);
  EXPECT_DOUBLE_EQ(time.idle.si(), 0.5);
  EXPECT_DOUBLE_EQ(time.overlap(), 0.75);
}

}  // namespace
}  // namespace headway::study
