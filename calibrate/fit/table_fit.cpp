#include "calibrate/fit/table_fit.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

#include "calibrate/fit/least_squares.h"
#include "calibrate/fit/thinning.h"

namespace headway::fit {

namespace {

using Shape = std::array<double, 3>;  // m, n, k

constexpr double kLarge = 4096;

/// Median rate [FLOP/s] of each shape of one format.
std::map<Shape, double> rates_of(std::span<const Sample> samples, core::Precision precision) {
  std::map<Shape, std::vector<double>> all;
  for (const auto& s : samples) {
    if (s.kind == SampleKind::gemm && s.op == "forward" && s.precision == precision &&
        s.batch <= 1 && s.elapsed_s == 0 && s.beside.empty() && s.flags.empty()) {
      all[{static_cast<double>(s.m), static_cast<double>(s.n), static_cast<double>(s.k)}].push_back(
          work_flops(s) / s.seconds);
    }
  }
  std::map<Shape, double> rates;
  for (const auto& [shape, values] : all) {
    rates[shape] = median(values);
  }
  return rates;
}

/// Shapes with this coordinate on this axis.
std::size_t shapes_at(const std::map<Shape, double>& rates, std::size_t axis, double value) {
  return static_cast<std::size_t>(std::count_if(
      rates.begin(), rates.end(), [&](const auto& entry) { return entry.first[axis] == value; }));
}

/// Drops the coordinate with the fewest shapes until every combination is there.
Grid full_grid(std::map<Shape, double> rates) {
  for (;;) {
    std::array<std::set<double>, 3> axes;
    for (const auto& [shape, rate] : rates) {
      for (std::size_t d = 0; d < 3; ++d) {
        axes[d].insert(shape[d]);
      }
    }
    const std::size_t cells = axes[0].size() * axes[1].size() * axes[2].size();
    if (rates.size() == cells) {
      Grid grid;
      for (const auto& axis : axes) {
        grid.axes.emplace_back(axis.begin(), axis.end());
      }
      for (const auto& [shape, rate] : rates) {  // m slowest, k fastest: the map's order
        grid.values.push_back(rate);
      }
      return grid;
    }
    std::size_t worst_axis = 0;
    double worst = 0;
    double least = 2;
    for (std::size_t d = 0; d < 3; ++d) {
      const double of_full = static_cast<double>(cells) / static_cast<double>(axes[d].size());
      for (const double value : axes[d]) {
        const double filled = static_cast<double>(shapes_at(rates, d, value)) / of_full;
        if (filled < least) {
          least = filled;
          worst_axis = d;
          worst = value;
        }
      }
    }
    std::erase_if(rates, [&](const auto& entry) { return entry.first[worst_axis] == worst; });
  }
}

/// Median rate of the large products; 0 if there is none.
double large_rate(const Grid& grid) {
  std::vector<double> rates;
  std::size_t cell = 0;
  for (const double m : grid.axes[0]) {
    for (const double n : grid.axes[1]) {
      for (const double k : grid.axes[2]) {
        if (std::min({m, n, k}) >= kLarge) {
          rates.push_back(grid.values[cell]);
        }
        ++cell;
      }
    }
  }
  return median(rates);
}

}  // namespace

FittedTables fit_gemm_tables(std::span<const Sample> samples,
                             const std::string& name,
                             double tolerance) {
  FittedTables out;
  out.tables.name = name;
  for (const auto& entry : enum_words(core::Precision{})) {
    const auto rates = rates_of(samples, entry.value);
    if (rates.empty()) {
      continue;
    }
    Grid grid = full_grid(rates);
    const double large = large_rate(grid);
    const bool spans = std::all_of(grid.axes.begin(), grid.axes.end(),
                                   [](const auto& axis) { return axis.size() > 1; });
    if (!spans || large <= 0) {
      out.remarks.push_back(fmt::format(
          "{}: the shapes fill no grid that holds large products; no table", entry.word));
      continue;
    }
    for (double& value : grid.values) {
      value /= large;
    }
    const std::size_t before = grid.values.size();
    grid = thin_grid(grid, tolerance);
    for (double& value : grid.values) {
      value = std::stod(fmt::format("{:.4g}", value));
    }
    out.tables.gemm.push_back({entry.value, grid.axes[0], grid.axes[1], grid.axes[2], grid.values});
    out.remarks.push_back(fmt::format("{}: {} shapes on a full grid of {}, {} kept within {:.0f} %",
                                      entry.word, rates.size(), before, grid.values.size(),
                                      tolerance * 100));
  }
  return out;
}

}  // namespace headway::fit
