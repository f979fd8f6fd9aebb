// The constants that are judged, most of them from published runs: how much a prediction hangs on
// each, and what their errors make of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/training/scenario.h"

namespace headway::validation {

/// A constant that is judged, and the field of a scenario that holds it.
struct JudgedConstant {
  const char* name;
  /// Multiplies it; false where it does not apply (another GPU, shares that were measured, software
  /// that does without).
  bool (*scale)(training::Scenario& scenario, double factor);
  /// Standard deviation of its logarithm where something else than published runs judges it, as its
  /// entry in the catalogue says: no fit moves it. 0: they do.
  double stated_error = 0;
};

/// In the order of slopes and of the covariance.
const std::vector<JudgedConstant>& judged_constants();

/// d log(tokens a second) / d log(constant) of each, by the analytic tier: one evaluation a
/// constant that applies. Zeros where the tier cannot time the scenario.
std::vector<double> constant_slopes(const training::Scenario& scenario);

/// How well the constants are known: covariance of their logarithms, row by row.
using ConstantCovariance = std::vector<std::vector<double>>;

/// The slopes to the fast side. One of a cost that is known to a factor only would make a step
/// faster, at the fast end of its interval, than it is without that cost: it is then the slope that
/// ends there.
/// @param slopes  of the scenario, from `constant_slopes`
std::vector<double> fast_slopes(const training::Scenario& scenario,
                                std::vector<double> slopes,
                                const ConstantCovariance& covariance);

/// `validation/constant_covariance.csv` of the first of these folders that has it; else none.
/// @throws core::Error if it is not of these constants, or a number in it cannot be read
ConstantCovariance load_covariance(const std::vector<std::filesystem::path>& roots);

/// Standard deviation of the logarithm of a prediction with these slopes, from what is not known of
/// the constants: sqrt(slopes . covariance . slopes). Zero without a covariance.
double constant_error(const std::vector<double>& slopes, const ConstantCovariance& covariance);

}  // namespace headway::validation
