#include "sim/core/statistics.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::core {

void Sum::add(double value) {
  const double next = sum_ + value;
  // The rounding error of the addition, exact when taken from the larger of the two.
  compensation_ +=
      std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
  sum_ = next;
}

double sum(std::span<const double> values) {
  Sum total;
  for (const double value : values) {
    total.add(value);
  }
  return total.value();
}

void Moments::add(double value) {
  minimum_ = count_ == 0 ? value : std::min(minimum_, value);
  maximum_ = count_ == 0 ? value : std::max(maximum_, value);
  ++count_;
  const double distance = value - mean_;
  mean_ += distance / static_cast<double>(count_);
  squares_ += distance * (value - mean_);
}

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) {
    return;
  }
  if (count_ == 0) {
    *this = other;
    return;
  }
  const auto mine = static_cast<double>(count_);
  const auto theirs = static_cast<double>(other.count_);
  const double distance = other.mean_ - mean_;
  mean_ += distance * theirs / (mine + theirs);
  squares_ += other.squares_ + distance * distance * mine * theirs / (mine + theirs);
  count_ += other.count_;
  minimum_ = std::min(minimum_, other.minimum_);
  maximum_ = std::max(maximum_, other.maximum_);
}

double Moments::variance() const {
  return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1);
}

double Moments::standard_deviation() const { return std::sqrt(variance()); }

double Moments::standard_error() const {
  return count_ == 0 ? 0 : std::sqrt(variance() / static_cast<double>(count_));
}

MeanEstimate mean_estimate(std::span<const double> sample) {
  Moments moments;
  for (const double value : sample) {
    moments.add(value);
  }
  return moments.estimate();
}

double quantile_of_sorted(std::span<const double> sorted, double probability) {
  HEADWAY_CHECK(!sorted.empty(), "a quantile of no values");
  HEADWAY_CHECK(probability >= 0 && probability <= 1, "quantile at probability {}", probability);
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> quantiles(std::vector<double> sample, std::span<const double> probabilities) {
  std::sort(sample.begin(), sample.end());
  std::vector<double> result;
  result.reserve(probabilities.size());
  for (const double probability : probabilities) {
    result.push_back(quantile_of_sorted(sample, probability));
  }
  return result;
}

}  // namespace headway::core
