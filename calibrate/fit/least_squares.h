// Bounded non-linear least squares with standard errors and leave-one-out errors, in the form that
// the fits of this room need.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace headway::fit {

/// An unknown and where it may lie. All values are positive and searched on a logarithmic scale.
struct Unknown {
  std::string name;
  double start = 1, low = 1e-300, high = 1e300;
};

/// The model: what observation `i` should be, with these values of the unknowns; positive.
using Model = std::function<double(std::span<const double> unknowns, std::size_t observation)>;

/// The outcome of a fit.
struct Solution {
  std::vector<double> values;
  /// From the curvature at the minimum and the residuals; 0 for an unknown that ended at a bound.
  std::vector<double> standard_errors;
  std::vector<bool> at_bound;
  std::vector<double> residuals;  ///< log(measured / predicted), one an observation
  double scatter = 0;             ///< robust standard deviation of the residuals
  bool converged = false;
};

/// Minimizes the sum of a soft-L1 loss of log(measured / predicted) / `scale`, so that one bad
/// observation does not pull the line.
/// @param measured  positive
/// @param scale     relative deviation from which an observation counts as unusual, such as 0.05
/// @pre at least as many observations as unknowns
Solution fit_in_log(const Model& model,
                    std::span<const double> measured,
                    std::span<const Unknown> unknowns,
                    double scale);

/// predicted / measured - 1 of every observation, each predicted by a fit that did not see it.
std::vector<double> leave_one_out(const Model& model,
                                  std::span<const double> measured,
                                  std::span<const Unknown> unknowns,
                                  double scale);

/// Root of the mean square; 0 of nothing.
double root_mean_square(std::span<const double> values);

/// 1.4826 x the median of |value - median|: the standard deviation of normal values, deaf to a few
/// wild ones; 0 of nothing.
double robust_deviation(std::span<const double> values);

/// The median; 0 of nothing.
double median(std::span<const double> values);

/// A figure with its standard error.
struct Estimate {
  double value = 0;
  double standard_error = 0;
};

/// The median with the standard error of a median of normal values, 1.2533 s / sqrt(n), s by
/// `robust_deviation`; an error of 0 says that one value tells nothing of its own spread.
Estimate median_estimate(std::span<const double> values);

}  // namespace headway::fit
