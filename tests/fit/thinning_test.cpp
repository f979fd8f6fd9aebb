#include "calibrate/fit/thinning.h"

#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace headway::fit {
namespace {

TEST(Thinning, APowerLawNeedsItsEndsOnly) {
  std::vector<CurveSample> curve;
  for (double x = 1; x < 1e6; x *= 2) {
    curve.push_back({x, 3 * std::pow(x, 0.7)});
  }
  EXPECT_EQ(thin_curve(curve, 1e-9), (std::vector<std::size_t>{0, curve.size() - 1}));
}

TEST(Thinning, AKneeIsKept) {
  // Flat at 10 up to x = 16, then proportional: three points say it all.
  std::vector<CurveSample> curve;
  for (double x = 1; x <= 1024; x *= 2) {
    curve.push_back({x, x <= 16 ? 10 : 10 * x / 16});
  }
  EXPECT_EQ(thin_curve(curve, 1e-9), (std::vector<std::size_t>{0, 4, 10}));
}

TEST(Thinning, EveryDroppedPointIsWithinTheToleranceOfTheLine) {
  EXPECT_TRUE(rc::check([] {
    const auto steps = *rc::gen::nonEmpty<std::vector<int>>();
    const double tolerance = *rc::gen::element(0.005, 0.02, 0.1);
    std::vector<CurveSample> curve;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      curve.push_back({std::exp2(static_cast<double>(i)), 1 + std::abs(steps[i] % 100) * 0.02});
    }
    const auto kept = thin_curve(curve, tolerance);
    RC_ASSERT(kept.front() == 0 && kept.back() == curve.size() - 1);
    Grid line;
    line.axes.resize(1);
    for (const auto i : kept) {
      line.axes[0].push_back(curve[i].x);
      line.values.push_back(curve[i].y);
    }
    for (const auto& point : curve) {
      const double at[] = {point.x};
      RC_ASSERT(std::abs(interpolate(line, at) / point.y - 1) <= tolerance + 1e-12);
    }
  }));
}

Grid product_grid(double bend) {
  Grid grid;
  grid.axes = {{1, 2, 4, 8, 16}, {1, 3, 9, 27}};
  for (const double m : grid.axes[0]) {
    for (const double n : grid.axes[1]) {
      grid.values.push_back(m * n * n * (m > 3 ? std::pow(m / 4, bend) : 1));
    }
  }
  return grid;
}

TEST(Thinning, AProductOfPowersNeedsTheCornersOfItsGrid) {
  const Grid thin = thin_grid(product_grid(0), 1e-9);
  EXPECT_EQ(thin.axes, (std::vector<std::vector<double>>{{1, 16}, {1, 27}}));
}

TEST(Thinning, ABendOfOneAxisKeepsThatCoordinate) {
  const Grid thin = thin_grid(product_grid(0.5), 1e-9);
  EXPECT_EQ(thin.axes, (std::vector<std::vector<double>>{{1, 4, 16}, {1, 27}}));
}

TEST(Thinning, BetweenItsPointsAGridIsALineInLogarithmsAndBeyondThemFlat) {
  const Grid grid{{{1, 4}, {1, 100}}, {1, 10, 100, 1000}};
  const double middle[] = {2, 10};  // half way on both axes: sqrt(sqrt(1 10) sqrt(100 1000)) ...
  EXPECT_NEAR(interpolate(grid, middle), std::pow(1.0 * 10 * 100 * 1000, 0.25), 1e-9);
  const double beyond[] = {64, 1e6};
  EXPECT_NEAR(interpolate(grid, beyond), 1000, 1e-9);
}

}  // namespace
}  // namespace headway::fit
