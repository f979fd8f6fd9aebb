#include "sim/core/math.h"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "sim/core/random.h"

namespace headway::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Distance of `value` from `truth` in units of the spacing of doubles there.
double ulps(double value, long double truth) {
  const double nearest = static_cast<double>(truth);
  const double spacing = std::nextafter(std::abs(nearest), kInfinity) - std::abs(nearest);
  return static_cast<double>(std::abs((static_cast<long double>(value) - truth) / spacing));
}

/// 100,000 numbers spread evenly between `low` and `high`.
template <class Visit>
void for_many(double low, double high, Visit visit) {
  const RandomStream stream(1, "math test");
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    visit(low + (high - low) * stream.uniform(i));
  }
}

TEST(PortableLog, IsWithinOneUlpOverAllMagnitudes) {
  double worst = 0;
  for_many(-1074, 1023.9, [&](double exponent) {
    const double x = std::exp2(exponent);
    worst = std::max(worst, ulps(portable_log(x), std::log(static_cast<long double>(x))));
  });
  EXPECT_LT(worst, 1.0);
}

TEST(PortableLog, IsWithinOneUlpNearOneWhereTheResultVanishes) {
  double worst = 0;
  for_many(0.5, 2, [&](double x) {
    worst = std::max(worst, ulps(portable_log(x), std::log(static_cast<long double>(x))));
  });
  for_many(-1e-6, 1e-6, [&](double d) {
    const double x = 1 + d;
    worst = std::max(worst, ulps(portable_log(x), std::log(static_cast<long double>(x))));
  });
  EXPECT_LT(worst, 1.0);
}

TEST(PortableLog, FollowsTheStandardAtTheEdges) {
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_log(0), -kInfinity);
  EXPECT_EQ(portable_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_log(-1)));
  EXPECT_TRUE(std::isnan(portable_log(std::nan(""))));
  EXPECT_NEAR(portable_log(5e-324), -744.44007192138122, 1e-12);
}

TEST(PortableExp, IsWithinOneUlpOverTheNormalRange) {
  double worst = 0;
  const auto measure = [&](double x) {
    worst = std::max(worst, ulps(portable_exp(x), std::exp(static_cast<long double>(x))));
  };
  for_many(-708, 709.7, measure);
  for_many(-1, 1, measure);
  EXPECT_LT(worst, 1.0);
}

TEST(PortableExp, FollowsTheStandardAtTheEdges) {
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(710), kInfinity);
  EXPECT_EQ(portable_exp(kInfinity), kInfinity);
  EXPECT_EQ(portable_exp(-746), 0);
  EXPECT_EQ(portable_exp(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(portable_exp(std::nan(""))));
  // Subnormal results are rounded twice, so to two of their units.
  EXPECT_NEAR(portable_exp(-740) / 4.2e-322, std::exp(-740.0) / 4.2e-322, 2 * 5e-324 / 4.2e-322);
}

TEST(PortablePow, RaisesToAnyPower) {
  EXPECT_NEAR(portable_pow(2, 10), 1024, 1024 * 1e-14);
  EXPECT_NEAR(portable_pow(9, 0.5), 3, 3e-15);
  EXPECT_EQ(portable_pow(0, 2), 0);
  EXPECT_EQ(portable_pow(0, 0), 1);
  double worst = 0;
  for_many(0.01, 40, [&](double x) {
    worst = std::max(worst, std::abs(portable_pow(x, 1.4) / std::pow(x, 1.4) - 1));
  });
  EXPECT_LT(worst, 2e-15);
}

TEST(NormalQuantile, AgreesWithBoost) {
  const boost::math::normal_distribution<long double> standard;
  double worst = 0;
  const auto measure = [&](double p) {
    const double truth =
        static_cast<double>(boost::math::quantile(standard, static_cast<long double>(p)));
    worst = std::max(worst, std::abs(normal_quantile(p) / truth - 1));
  };
  for (int exponent = 2; exponent < 300; ++exponent) {
    measure(0.9 * std::pow(10.0, -exponent));  // the far tail
  }
  for (double p = 0.001; p < 0.9995; p += 0.00037) {
    measure(p);
  }
  EXPECT_LT(worst, 4e-15);
}

TEST(NormalQuantile, IsOddAroundTheMedian) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_EQ(normal_quantile(0.25), -normal_quantile(0.75));
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
}

}  // namespace
}  // namespace headway::core
