// How clock and rate fall while a load lasts, and what power a clock costs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/training/calibration_spec.h"

#include "calibrate/fit/least_squares.h"
#include "calibrate/fit/samples.h"

namespace headway::fit {

/// y(t) = last + (first - last) exp(-t / settling), fitted to a series.
struct Settling {
  Estimate first, last;
  Estimate settling;         ///< [s]
  double leave_one_out = 0;  ///< relative, root mean square
};

/// Fits a series that settles, such as a clock [Hz] or a rate [FLOP/s] under a lasting load.
/// A series that does not fall by 1 % has first = last and no settling time.
/// @param elapsed_s  rising, not all equal
/// @param values     positive, as many
/// @param most       what the first value can be at most, such as the largest clock ever read; 0:
///                   three times the first of `values`. Between the load's begin and the first
///                   point nothing is known.
/// @returns nothing for fewer than 5 points
std::optional<Settling> fit_settling(std::span<const double> elapsed_s,
                                     std::span<const double> values,
                                     double most = 0);

/// power = static + dynamic (clock / reference)^exponent, exponent between 1 and 4.
struct PowerLine {
  Estimate static_w, dynamic_w, exponent;
  double leave_one_out = 0;
};

/// @returns nothing for fewer than 5 points, or where the clocks span less than 5 %: then power
/// says nothing about clocks
std::optional<PowerLine> fit_power_line(std::span<const double> clocks_hz,
                                        std::span<const double> powers_w,
                                        double reference_hz);

/// The sustained model of the gemm samples that have elapsed_s and clock_hz; power where it tells.
struct PowerFit {
  training::MeasuredPower power;
  std::vector<training::FittedFigure> figures;
};
std::optional<PowerFit> fit_power(std::span<const Sample> samples);

}  // namespace headway::fit
