#include "calibrate/fit/least_squares.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <memory>

#include "sim/core/error.h"
#include "sim/core/statistics.h"

#include "calibrate/fit/minimize.h"

namespace headway::fit {

namespace {

/// Residuals of the observations in `which`; unknowns come as logarithms.
class Residuals {
 public:
  Residuals(const Model& model,
            std::span<const double> measured,
            std::vector<std::size_t> which,
            std::size_t unknowns)
      : model_(model), measured_(measured), which_(std::move(which)), values_(unknowns) {}

  [[nodiscard]] std::size_t size() const { return which_.size(); }

  double one(const double* logs, std::size_t index) const {
    for (std::size_t u = 0; u < values_.size(); ++u) {
      values_[u] = std::exp(logs[u]);
    }
    const std::size_t i = which_[index];
    const double predicted = model_(values_, i);
    HEADWAY_CHECK(predicted > 0 && std::isfinite(predicted), "observation {} is predicted as {}", i,
                  predicted);
    return std::log(measured_[i] / predicted);
  }

 private:
  const Model& model_;
  std::span<const double> measured_;
  std::vector<std::size_t> which_;
  mutable std::vector<double> values_;
};

/// Minimizes over the logarithms in place.
bool minimize_logs(const Residuals& residuals,
                   std::span<const Unknown> unknowns,
                   double scale,
                   std::vector<double>& logs) {
  Minimization problem;
  problem.residual = [&](const double* values, std::size_t observation) {
    return residuals.one(values, observation) / scale;
  };
  problem.observations = residuals.size();
  for (const auto& unknown : unknowns) {
    problem.low.push_back(std::log(unknown.low));
    problem.high.push_back(std::log(unknown.high));
  }
  return minimize(problem, logs);
}

std::vector<double> start_of(std::span<const Unknown> unknowns) {
  std::vector<double> logs;
  for (const auto& unknown : unknowns) {
    HEADWAY_CHECK(unknown.low > 0 && unknown.low < unknown.high, "{}: {} to {}", unknown.name,
                  unknown.low, unknown.high);
    logs.push_back(std::log(std::clamp(unknown.start, unknown.low, unknown.high)));
  }
  return logs;
}

/// d residual / d log(unknown) at the minimum, by central differences, of the free unknowns.
Eigen::MatrixXd jacobian(const Residuals& residuals,
                         std::vector<double> logs,
                         const std::vector<std::size_t>& free) {
  constexpr double kStep = 1e-5;
  Eigen::MatrixXd out(static_cast<Eigen::Index>(residuals.size()),
                      static_cast<Eigen::Index>(free.size()));
  for (std::size_t column = 0; column < free.size(); ++column) {
    const double at = logs[free[column]];
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      logs[free[column]] = at + kStep;
      const double above = residuals.one(logs.data(), i);
      logs[free[column]] = at - kStep;
      const double below = residuals.one(logs.data(), i);
      out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(column)) =
          (above - below) / (2 * kStep);
    }
    logs[free[column]] = at;
  }
  return out;
}

/// Weights of the soft-L1 loss at the minimum: an outlier tells little about the unknowns.
Eigen::VectorXd weights_of(const std::vector<double>& residuals, double scale) {
  Eigen::VectorXd weights(static_cast<Eigen::Index>(residuals.size()));
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const double r = residuals[i] / scale;
    weights[static_cast<Eigen::Index>(i)] = 1 / std::sqrt(1 + r * r);
  }
  return weights;
}

void add_standard_errors(const Residuals& residuals,
                         const std::vector<double>& logs,
                         double scale,
                         Solution& solution) {
  std::vector<std::size_t> free;
  for (std::size_t u = 0; u < logs.size(); ++u) {
    if (!solution.at_bound[u]) {
      free.push_back(u);
    }
  }
  solution.standard_errors.assign(logs.size(), 0);
  if (free.empty() || residuals.size() <= free.size()) {
    return;
  }
  const Eigen::MatrixXd j = jacobian(residuals, logs, free);
  const Eigen::VectorXd w = weights_of(solution.residuals, scale);
  Eigen::VectorXd r(static_cast<Eigen::Index>(residuals.size()));
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    r[static_cast<Eigen::Index>(i)] = solution.residuals[i];
  }
  const Eigen::MatrixXd normal = j.transpose() * w.asDiagonal() * j;
  const double degrees = static_cast<double>(residuals.size() - free.size());
  const double variance = r.cwiseAbs2().dot(w) / degrees;
  const Eigen::MatrixXd inverse =
      normal.ldlt().solve(Eigen::MatrixXd::Identity(normal.rows(), normal.cols()));
  for (std::size_t column = 0; column < free.size(); ++column) {
    const auto c = static_cast<Eigen::Index>(column);
    const double relative = std::sqrt(std::max(0.0, inverse(c, c) * variance));
    // Of a logarithm: relative.
    solution.standard_errors[free[column]] = relative * solution.values[free[column]];
  }
}

std::vector<std::size_t> all_but(std::size_t count, std::size_t left_out) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != left_out) {
      which.push_back(i);
    }
  }
  return which;
}

}  // namespace

Solution fit_in_log(const Model& model,
                    std::span<const double> measured,
                    std::span<const Unknown> unknowns,
                    double scale) {
  HEADWAY_CHECK(measured.size() >= unknowns.size() && !unknowns.empty() && scale > 0,
                "{} observations, {} unknowns, scale {}", measured.size(), unknowns.size(), scale);
  const Residuals residuals(model, measured, all_but(measured.size(), measured.size()),
                            unknowns.size());
  std::vector<double> logs = start_of(unknowns);
  Solution solution;
  solution.converged = minimize_logs(residuals, unknowns, scale, logs);
  for (std::size_t u = 0; u < unknowns.size(); ++u) {
    solution.values.push_back(std::exp(logs[u]));
    solution.at_bound.push_back(logs[u] <= std::log(unknowns[u].low) + 1e-6 ||
                                logs[u] >= std::log(unknowns[u].high) - 1e-6);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    solution.residuals.push_back(residuals.one(logs.data(), i));
  }
  solution.scatter = robust_deviation(solution.residuals);
  add_standard_errors(residuals, logs, scale, solution);
  return solution;
}

std::vector<double> leave_one_out(const Model& model,
                                  std::span<const double> measured,
                                  std::span<const Unknown> unknowns,
                                  double scale) {
  std::vector<double> errors;
  if (measured.size() <= unknowns.size()) {
    return errors;
  }
  for (std::size_t out = 0; out < measured.size(); ++out) {
    const Residuals residuals(model, measured, all_but(measured.size(), out), unknowns.size());
    std::vector<double> logs = start_of(unknowns);
    minimize_logs(residuals, unknowns, scale, logs);
    for (double& value : logs) {
      value = std::exp(value);
    }
    errors.push_back(model(logs, out) / measured[out] - 1);
  }
  return errors;
}

double root_mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) {
    sum += value * value;
  }
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : core::quantile_of_sorted(sorted, 0.5);
}

double robust_deviation(std::span<const double> values) {
  constexpr double kOfNormal = 1.4826;
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) {
    distances.push_back(std::abs(value - middle));
  }
  return kOfNormal * median(distances);
}

Estimate median_estimate(std::span<const double> values) {
  constexpr double kOfMedian = 1.2533;  // sqrt(pi / 2)
  if (values.empty()) {
    return {};
  }
  return {median(values),
          kOfMedian * robust_deviation(values) / std::sqrt(static_cast<double>(values.size()))};
}

}  // namespace headway::fit
