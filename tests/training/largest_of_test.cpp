#include "sim/training/imbalance/largest_of.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace headway::training {
namespace {

TEST(LargestOfNormals, HasTheMomentsOfTheTables) {
  const double pi = std::numbers::pi;
  EXPECT_EQ(largest_of_normals(1).mean, 0);
  EXPECT_EQ(largest_of_normals(1).deviation, 1);
  EXPECT_NEAR(largest_of_normals(2).mean, 1 / std::sqrt(pi), 1e-9);
  EXPECT_NEAR(largest_of_normals(2).deviation, std::sqrt(1 - 1 / pi), 1e-9);
  EXPECT_NEAR(largest_of_normals(3).mean, 1.5 / std::sqrt(pi), 1e-9);
  // Harter 1961 (Biometrika 48), table 1; Teichroew 1956 for the second moments.
  EXPECT_NEAR(largest_of_normals(10).mean, 1.53875, 1e-5);
  EXPECT_NEAR(largest_of_normals(100).mean, 2.50759, 1e-5);
}

// For many values slowly the law of extremes (Gumbel): b + 0.5772 / b, deviation pi / (sqrt(6) b),
// where a value is above b once in n.
TEST(LargestOfNormals, BecomesTheExtremeOfMany) {
  const double b = 4.7534;  // P(X > b) = 1e-6
  const LargestOf many = largest_of_normals(1'000'000);
  EXPECT_NEAR(many.mean, b + 0.5772 / b, 0.02);
  EXPECT_NEAR(many.deviation, std::numbers::pi / (std::sqrt(6.0) * b), 0.03);
  EXPECT_GT(largest_of_normals(16'000'000).mean, many.mean);
}

}  // namespace
}  // namespace headway::training
