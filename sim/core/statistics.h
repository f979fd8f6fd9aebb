// Sums, moments and quantiles that do not depend on who computed which part first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headway::core {

/// A running sum that carries the rounding errors along, so that it is right to about one ulp of
/// the sum of magnitudes times 2^-53. Source: Neumaier, ZAMM 1974.
class Sum {
 public:
  void add(double value);
  [[nodiscard]] double value() const { return sum_ + compensation_; }

 private:
  double sum_ = 0;
  double compensation_ = 0;
};

/// Sum in the order given.
double sum(std::span<const double> values);

/// A mean and how far it may be from the truth (one standard error).
struct MeanEstimate {
  double mean = 0;
  double standard_error = 0;  ///< sqrt(variance / count); 0 for a single value

  bool operator==(const MeanEstimate&) const = default;
};

/// Count, mean, variance and extremes of values seen one at a time.
/// Source: Welford, Technometrics 1962; merging: Chan, Golub & LeVeque, 1979. Merge in a fixed
/// order (by trial, by partition): the bits depend on the order of `add` and `merge`, as in every
/// sum of doubles.
class Moments {
 public:
  void add(double value);
  void merge(const Moments& other);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// 0 before the first value.
  [[nodiscard]] double mean() const { return mean_; }
  /// Of the population the values are drawn from, so divided by count - 1; 0 for fewer than two
  /// values.
  [[nodiscard]] double variance() const;
  [[nodiscard]] double standard_deviation() const;
  [[nodiscard]] double standard_error() const;
  [[nodiscard]] double minimum() const { return minimum_; }
  [[nodiscard]] double maximum() const { return maximum_; }
  [[nodiscard]] MeanEstimate estimate() const { return {mean_, standard_error()}; }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean
  double minimum_ = 0;
  double maximum_ = 0;
};

/// Mean and standard error of a sample, summed in the order given.
MeanEstimate mean_estimate(std::span<const double> sample);

/// Quantile by linear interpolation between order statistics x_0 <= ... <= x_{n-1}: with h = (n -
/// 1) p,
///     q = x_floor(h) + (h - floor(h)) (x_{floor(h)+1} - x_floor(h))
/// Definition 7 of Hyndman & Fan (1996); what NumPy and R do by default.
/// @param sorted       rising, at least one value
/// @param probability  0 to 1
double quantile_of_sorted(std::span<const double> sorted, double probability);

/// The same for a sample in any order, which is copied and sorted once.
std::vector<double> quantiles(std::vector<double> sample, std::span<const double> probabilities);

}  // namespace headway::core
