// Which points of a measured table interpolation needs; the others are dropped.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headway::fit {

/// One measured point of a curve; both positive.
struct CurveSample {
  double x = 0, y = 0;
};

/// Few points, chosen greedily (the farthest end each line reaches), from which straight lines in
/// log-log reproduce every point of the curve within `tolerance` (relative). Both ends stay.
/// @param curve  rising in x
/// @returns indices, rising
/// Guarantee: |interpolated / y - 1| <= tolerance at every dropped point.
std::vector<std::size_t> thin_curve(std::span<const CurveSample> curve, double tolerance);

/// A table over a grid of positive coordinates: value of (i, j, ...) at
/// values[((i * size_1) + j) * size_2 + ...].
struct Grid {
  std::vector<std::vector<double>> axes;  ///< each rising
  std::vector<double> values;             ///< positive
};

/// Multilinear in the logarithms of coordinates and value; beyond an end of an axis: the end's.
double interpolate(const Grid& grid, std::span<const double> at);

/// Drops whole coordinates of the axes, the least needed first, while every value of the full table
/// is still interpolated within `tolerance` (relative). The ends of every axis stay.
Grid thin_grid(const Grid& grid, double tolerance);

}  // namespace headway::fit
