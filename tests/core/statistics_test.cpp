#include "sim/core/statistics.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::core {
namespace {

TEST(Sum, KeepsWhatPlainAdditionLoses) {
  // 1 + 1e100 + 1 - 1e100 = 2; a plain loop gives 0.
  const std::array values{1.0, 1e100, 1.0, -1e100};
  EXPECT_EQ(sum(values), 2);
  EXPECT_EQ(sum({}), 0);
}

TEST(Sum, AddsATenthATenMillionTimes) {
  Sum total;
  for (int i = 0; i < 10'000'000; ++i) {
    total.add(0.1);
  }
  // 0.1 is stored as 0.1 (1 + 5.55e-17), so the true sum rounds to 1e6.
  EXPECT_EQ(total.value(), 1e6);
}

Moments moments_of(std::initializer_list<double> values) {
  Moments moments;
  for (const double value : values) {
    moments.add(value);
  }
  return moments;
}

TEST(Moments, MatchHandAlgebra) {
  // Mean of 2, 4, 4, 4, 5, 5, 7, 9 is 40 / 8 = 5; squared distances 9+1+1+1+0+0+4+16 = 32; variance
  // 32 / 7.
  const Moments moments = moments_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(moments.count(), 8);
  EXPECT_DOUBLE_EQ(moments.mean(), 5);
  EXPECT_DOUBLE_EQ(moments.variance(), 32.0 / 7);
  EXPECT_DOUBLE_EQ(moments.standard_deviation(), std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(moments.standard_error(), std::sqrt(32.0 / 7 / 8));
  EXPECT_EQ(moments.minimum(), 2);
  EXPECT_EQ(moments.maximum(), 9);
}

TEST(Moments, SurviveALargeOffset) {
  // The textbook formula E[x^2] - E[x]^2 loses all digits here; variance of 4, 7, 13, 16 is 90 / 3
  // = 30.
  EXPECT_DOUBLE_EQ(moments_of({1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}).variance(), 30);
}

TEST(Moments, MergeIntoTheMomentsOfTheWhole) {
  Moments left = moments_of({2, 4, 4});
  left.merge(moments_of({4, 5, 5, 7, 9}));
  EXPECT_EQ(left.count(), 8);
  EXPECT_DOUBLE_EQ(left.mean(), 5);
  EXPECT_DOUBLE_EQ(left.variance(), 32.0 / 7);
  EXPECT_EQ(left.minimum(), 2);
  EXPECT_EQ(left.maximum(), 9);
}

TEST(Moments, MergeWithNothing) {
  Moments none;
  none.merge(Moments{});
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.standard_error(), 0);
  none.merge(moments_of({-3}));
  EXPECT_EQ(none.mean(), -3);
  EXPECT_EQ(none.maximum(), -3);
  EXPECT_EQ(none.variance(), 0);
  none.merge(Moments{});
  EXPECT_EQ(none.count(), 1);
}

TEST(MeanEstimate, GivesMeanAndStandardError) {
  // Mean 2; variance ((1-2)^2 + 0 + (3-2)^2) / 2 = 1; standard error sqrt(1 / 3).
  const std::array sample{1.0, 2.0, 3.0};
  EXPECT_EQ(mean_estimate(sample), (MeanEstimate{2, std::sqrt(1.0 / 3)}));
}

TEST(Quantiles, InterpolateBetweenOrderStatistics) {
  // n = 4, so h = 3 p: p = 0.5 gives 1.5, halfway between 20 and 30; p = 0.9 gives 2.7, 30 + 0.7
  // x 10.
  const std::array sorted{10.0, 20.0, 30.0, 40.0};
  EXPECT_EQ(quantile_of_sorted(sorted, 0), 10);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(sorted, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(sorted, 0.9), 37);
  EXPECT_EQ(quantile_of_sorted(sorted, 1), 40);
}

TEST(Quantiles, SortTheSampleThemselves) {
  EXPECT_EQ(quantiles({40, 10, 30, 20}, std::array{0.0, 0.5, 1.0}),
            (std::vector<double>{10, 25, 40}));
  EXPECT_EQ(quantiles({7}, std::array{0.05, 0.95}), (std::vector<double>{7, 7}));
}

TEST(Quantiles, RefuseAnEmptySample) {
  EXPECT_THROW((void)quantile_of_sorted({}, 0.5), InternalError);
  EXPECT_THROW((void)quantile_of_sorted(std::array{1.0}, 1.5), InternalError);
}

}  // namespace
}  // namespace headway::core
