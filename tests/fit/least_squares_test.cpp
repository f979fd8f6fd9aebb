#include "calibrate/fit/least_squares.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace headway::fit {
namespace {

// y = a x^b over x = 1, 2, 4, ...: a straight line in log-log.
const Model kPower = [](std::span<const double> u, std::size_t i) {
  return u[0] * std::pow(std::exp2(static_cast<double>(i)), u[1]);
};
const std::vector<Unknown> kUnknowns{{"a", 1, 1e-3, 1e3}, {"b", 0.5, 0.01, 4}};

std::vector<double> power_law(double a, double b, const std::vector<double>& off) {
  std::vector<double> y;
  for (std::size_t i = 0; i < off.size(); ++i) {
    y.push_back(a * std::exp2(b * static_cast<double>(i)) * std::exp(off[i]));
  }
  return y;
}

TEST(LeastSquares, AnExactLineIsFoundExactlyAndWithoutError) {
  const auto y = power_law(3, 1.25, std::vector<double>(8, 0));
  const auto solution = fit_in_log(kPower, y, kUnknowns, 0.1);
  EXPECT_TRUE(solution.converged);
  EXPECT_NEAR(solution.values[0], 3, 1e-6);
  EXPECT_NEAR(solution.values[1], 1.25, 1e-7);
  EXPECT_LT(solution.standard_errors[0], 1e-6);
  EXPECT_FALSE(solution.at_bound[0] || solution.at_bound[1]);
}

TEST(LeastSquares, StandardErrorsAreThoseOfLinearRegression) {
  // log2 y = log2 a + b i with residuals +-e in turn; for small e the loss is quadratic, so the
  // classic formulas hold: se(b) = s / sqrt(sum (i - mean)^2), s^2 = sum r^2 / (n - 2), in log2.
  const double e = 1e-4;
  const std::vector<double> off{e, -e, -e, e, e, -e, -e, e};  // orthogonal to 1 and to i
  const auto solution = fit_in_log(kPower, power_law(3, 1.25, off), kUnknowns, 0.1);
  const double s = std::sqrt(8 * e * e / 6);
  const double sum_of_squares = 42;  // i = 0..7 around 3.5
  const double of_b = s / std::log(2.0) / std::sqrt(sum_of_squares);
  EXPECT_NEAR(solution.standard_errors[1] / of_b, 1, 1e-3);
  // log a is the intercept: s sqrt(1/n + mean^2 / sum of squares), relative.
  const double of_a = 3 * s * std::sqrt(1.0 / 8 + 3.5 * 3.5 / sum_of_squares);
  EXPECT_NEAR(solution.standard_errors[0] / of_a, 1, 1e-3);
}

TEST(LeastSquares, OneWildObservationHardlyMovesTheLine) {
  std::vector<double> off(12, 0);
  off[6] = std::log(5.0);
  const auto solution = fit_in_log(kPower, power_law(3, 1.25, off), kUnknowns, 0.05);
  EXPECT_NEAR(solution.values[0], 3, 0.06);
  EXPECT_NEAR(solution.values[1], 1.25, 0.01);
}

TEST(LeastSquares, AnUnknownAtItsBoundSaysSoAndHasNoError) {
  std::vector<Unknown> unknowns = kUnknowns;
  unknowns[1].high = 1;
  const auto solution =
      fit_in_log(kPower, power_law(3, 1.25, std::vector<double>(8, 0)), unknowns, 0.1);
  EXPECT_TRUE(solution.at_bound[1]);
  EXPECT_NEAR(solution.values[1], 1, 1e-6);
  EXPECT_EQ(solution.standard_errors[1], 0);
}

TEST(LeastSquares, LeavingOneOutPredictsWhatTheOthersSay) {
  // Four points of a constant: the prediction of each is the fit of the others.
  const Model constant = [](std::span<const double> u, std::size_t) { return u[0]; };
  const std::vector<double> y{1, 1, 1, 1.001};
  const auto errors = leave_one_out(constant, y, std::vector<Unknown>{{"c", 2, 0.1, 10}}, 10);
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_NEAR(errors[3], 1 / 1.001 - 1, 1e-7);  // the others say 1
  // The others of the first: the geometric mean of 1, 1, 1.001.
  EXPECT_NEAR(errors[0], std::pow(1.001, 1.0 / 3) - 1, 1e-6);
}

TEST(LeastSquares, RobustDeviationOfNormalQuartilesIsOne) {
  // Median 0; |x| has the median 0.6745, the upper quartile of a normal value.
  const std::vector<double> values{-3, -0.6745, 0, 0.6745, 100};
  EXPECT_NEAR(robust_deviation(values), 1, 2e-4);
  EXPECT_EQ(robust_deviation({}), 0);
}

}  // namespace
}  // namespace headway::fit
