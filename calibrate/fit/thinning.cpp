#include "calibrate/fit/thinning.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::fit {

namespace {

/// Of the straight line in log-log from a to b.
double on_line(const CurveSample& a, const CurveSample& b, double x) {
  const double share = std::log(x / a.x) / std::log(b.x / a.x);
  return a.y * std::pow(b.y / a.y, share);
}

bool line_holds(std::span<const CurveSample> curve,
                std::size_t from,
                std::size_t to,
                double tolerance) {
  for (std::size_t i = from + 1; i < to; ++i) {
    if (std::abs(on_line(curve[from], curve[to], curve[i].x) / curve[i].y - 1) > tolerance) {
      return false;
    }
  }
  return true;
}

/// The interval of an axis that holds x, and how far along it lies (0 to 1, in logarithms).
struct Position {
  std::size_t low = 0, high = 0;
  double share = 0;
};

Position locate(const std::vector<double>& axis, double x) {
  const auto above = std::lower_bound(axis.begin(), axis.end(), x);
  if (above == axis.begin()) {
    return {0, 0, 0};
  }
  if (above == axis.end()) {
    return {axis.size() - 1, axis.size() - 1, 0};
  }
  const auto high = static_cast<std::size_t>(above - axis.begin());
  return {high - 1, high, std::log(x / axis[high - 1]) / std::log(axis[high] / axis[high - 1])};
}

std::size_t cells(const Grid& grid) {
  std::size_t count = 1;
  for (const auto& axis : grid.axes) {
    count *= axis.size();
  }
  return count;
}

/// The coordinates' indices of the cell with this number.
std::vector<std::size_t> indices_of(const Grid& grid, std::size_t cell) {
  std::vector<std::size_t> indices(grid.axes.size());
  for (std::size_t d = grid.axes.size(); d-- > 0;) {
    indices[d] = cell % grid.axes[d].size();
    cell /= grid.axes[d].size();
  }
  return indices;
}

std::vector<double> place_of(const Grid& grid, std::size_t cell) {
  const auto indices = indices_of(grid, cell);
  std::vector<double> place;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    place.push_back(grid.axes[d][indices[d]]);
  }
  return place;
}

/// The grid without coordinate `index` of axis `axis`.
Grid without(const Grid& grid, std::size_t axis, std::size_t index) {
  Grid out;
  out.axes = grid.axes;
  out.axes[axis].erase(out.axes[axis].begin() + static_cast<std::ptrdiff_t>(index));
  for (std::size_t cell = 0; cell < grid.values.size(); ++cell) {
    if (indices_of(grid, cell)[axis] != index) {
      out.values.push_back(grid.values[cell]);
    }
  }
  return out;
}

double worst_error(const Grid& thin, const Grid& full) {
  double worst = 0;
  for (std::size_t cell = 0; cell < full.values.size(); ++cell) {
    worst =
        std::max(worst, std::abs(interpolate(thin, place_of(full, cell)) / full.values[cell] - 1));
  }
  return worst;
}

}  // namespace

std::vector<std::size_t> thin_curve(std::span<const CurveSample> curve, double tolerance) {
  std::vector<std::size_t> kept;
  if (curve.empty()) {
    return kept;
  }
  kept.push_back(0);
  while (kept.back() + 1 < curve.size()) {
    std::size_t next = kept.back() + 1;
    // The farthest end whose line passes near all points between; lines that fail may be followed
    // by longer ones that hold, so all are tried.
    for (std::size_t end = next + 1; end < curve.size(); ++end) {
      if (line_holds(curve, kept.back(), end, tolerance)) {
        next = end;
      }
    }
    kept.push_back(next);
  }
  return kept;
}

double interpolate(const Grid& grid, std::span<const double> at) {
  HEADWAY_CHECK(at.size() == grid.axes.size() && grid.values.size() == cells(grid),
                "{} coordinates, {} axes, {} values", at.size(), grid.axes.size(),
                grid.values.size());
  std::vector<Position> positions;
  for (std::size_t d = 0; d < at.size(); ++d) {
    positions.push_back(locate(grid.axes[d], at[d]));
  }
  double log_value = 0;
  for (std::size_t corner = 0; corner < (std::size_t{1} << at.size()); ++corner) {
    double weight = 1;
    std::size_t cell = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const bool high = ((corner >> d) & 1U) != 0;
      weight *= high ? positions[d].share : 1 - positions[d].share;
      cell = cell * grid.axes[d].size() + (high ? positions[d].high : positions[d].low);
    }
    if (weight > 0) {
      log_value += weight * std::log(grid.values[cell]);
    }
  }
  return std::exp(log_value);
}

Grid thin_grid(const Grid& grid, double tolerance) {
  Grid thin = grid;
  for (;;) {
    double best = tolerance;
    Grid best_grid;
    for (std::size_t axis = 0; axis < thin.axes.size(); ++axis) {
      for (std::size_t i = 1; i + 1 < thin.axes[axis].size(); ++i) {
        Grid candidate = without(thin, axis, i);
        const double error = worst_error(candidate, grid);
        if (error <= best) {
          best = error;
          best_grid = std::move(candidate);
        }
      }
    }
    if (best_grid.values.empty()) {
      return thin;
    }
    thin = std::move(best_grid);
  }
}

}  // namespace headway::fit
