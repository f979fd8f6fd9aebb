#include "sim/study/diagnose/likelihood.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::study {

double log_likelihood(const std::vector<Residual>& residuals) {
  double square = 0;
  double log_determinant = 0;
  // M = I + U' D^-1 U and b = U' D^-1 r, of two rows.
  double m00 = 1, m01 = 0, m11 = 1, b0 = 0, b1 = 0;
  for (const Residual& r : residuals) {
    HEADWAY_CHECK(r.deviation > 0, "a deviation of {}", r.deviation);
    const double weight = 1 / (r.deviation * r.deviation);
    square += r.difference * r.difference * weight;
    log_determinant -= std::log(weight);
    m00 += r.shared[0] * r.shared[0] * weight;
    m01 += r.shared[0] * r.shared[1] * weight;
    m11 += r.shared[1] * r.shared[1] * weight;
    b0 += r.shared[0] * r.difference * weight;
    b1 += r.shared[1] * r.difference * weight;
  }
  const double determinant = m00 * m11 - m01 * m01;
  square -= (b0 * b0 * m11 - 2 * b0 * b1 * m01 + b1 * b1 * m00) / determinant;
  return -0.5 * (square + log_determinant + std::log(determinant));
}

double log_mean(const std::vector<double>& values) {
  return log_mean(values, std::vector<double>(values.size(), 1));
}

double log_mean(const std::vector<double>& values, const std::vector<double>& weights) {
  HEADWAY_CHECK(values.size() == weights.size(), "{} values, {} weights", values.size(),
                weights.size());
  const double most = *std::max_element(values.begin(), values.end());
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += weights[i] * std::exp(values[i] - most);
    all += weights[i];
  }
  return most + std::log(sum / all);
}

}  // namespace headway::study
