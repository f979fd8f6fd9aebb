#include "sim/validation/compared/constant_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/core/statistics.h"
#include "sim/training/step/step.h"

namespace headway::validation {

namespace {

using Vector = std::vector<double>;

constexpr double kHuber = 0.05;  ///< log errors beyond pull no harder

/// A row of the fit.
struct Sample {
  const RunPrediction* row;
  const Vector* slopes;
  double error;  ///< log(predicted / measured)
};

std::vector<Sample> samples_of(const std::vector<RunPrediction>& rows,
                               const ConstantSlopes& slopes) {
  std::vector<Sample> samples;
  for (const auto& row : rows) {
    const auto found = slopes.of_run.find(row.id);
    if (row.error && found != slopes.of_run.end() && !row.part.starts_with("AMD")) {
      samples.push_back({&row, &found->second, std::log1p(*row.error)});
    }
  }
  return samples;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

/// Solves the symmetric positive definite system by Cholesky's decomposition, in place.
Vector solve(std::vector<Vector> a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) {
        sum -= a[i][k] * a[j][k];
      }
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
    for (std::size_t k = 0; k < i; ++k) {
      b[i] -= a[i][k] * b[k];
    }
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) {
      b[i] -= a[k][i] * b[k];
    }
    b[i] /= a[i][i];
  }
  return b;
}

/// Change of the constants' logarithms that makes the weighted Huber loss of log errors least:
/// least squares, weighted anew until they rest. A little ridge holds what no row moves. Only the
/// rows of the first table decide: what the others show is physics that is missing, which no
/// constant should hide.
Vector robust_fit(const std::vector<Sample>& samples, std::size_t constants) {
  constexpr double kRidge = 1e-3;
  constexpr int kRounds = 50;
  Vector change(constants, 0.0);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Vector> normal(constants, Vector(constants, 0.0));
    Vector right(constants, 0.0);
    for (const Sample& sample : samples) {
      if (!sample.row->table.empty()) {
        continue;
      }
      const Vector& slope = *sample.slopes;
      const double left = sample.error + dot(slope, change);
      const double weight =
          sample.row->weight * std::min(1.0, kHuber / std::max(std::abs(left), 1e-9));
      for (std::size_t i = 0; i < constants; ++i) {
        right[i] -= weight * slope[i] * left;
        for (std::size_t k = 0; k < constants; ++k) {
          normal[i][k] += weight * slope[i] * slope[k];
        }
      }
    }
    for (std::size_t i = 0; i < constants; ++i) {
      normal[i][i] += kRidge;
      right[i] -= kRidge * change[i];
    }
    const Vector step = solve(std::move(normal), std::move(right));
    for (std::size_t i = 0; i < constants; ++i) {
      change[i] += step[i];
    }
  }
  return change;
}

std::set<std::string> groups_of(const std::vector<Sample>& samples, const GroupOf& group) {
  std::set<std::string> names;
  for (const Sample& sample : samples) {
    names.insert(group(*sample.row));
  }
  return names;
}

std::vector<Sample> without(const std::vector<Sample>& samples,
                            const GroupOf& group,
                            const std::string& name) {
  std::vector<Sample> rest;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(rest),
               [&](const Sample& sample) { return group(*sample.row) != name; });
  return rest;
}

/// The row with constants changed so, in the interval of one to whom only these runs are known.
RunPrediction moved(const Sample& sample,
                    const Vector& change,
                    const std::vector<ComparedRuns>& known) {
  RunPrediction row = *sample.row;
  row.predicted = *row.predicted * std::exp(dot(*sample.slopes, change));
  row.error = *row.predicted / row.measured - 1;
  const StepError unknown = unknown_error(row.run_kind, known);
  const double slower = std::hypot(row.own_error, unknown.slower);
  const double faster = std::hypot(row.own_error, unknown.faster);
  row.low = *row.predicted * std::exp(-training::kOneSidedFivePercent * slower);
  row.high = *row.predicted * std::exp(training::kOneSidedFivePercent * faster);
  return row;
}

/// Mean absolute slope of a source's rows.
double mean_slope(const std::vector<Sample>& samples,
                  const std::string& source,
                  std::size_t constant) {
  double sum = 0;
  double rows = 0;
  for (const Sample& sample : samples) {
    if (sample.row->source == source) {
      sum += std::abs((*sample.slopes)[constant]);
      ++rows;
    }
  }
  return rows > 0 ? sum / rows : 0;
}

/// Changes of the constants without each source, and what they say of one constant.
FittedConstant judged(const std::string& name,
                      std::size_t constant,
                      double all,
                      const std::map<std::string, Vector>& without_source,
                      const std::vector<Sample>& samples) {
  constexpr double kDepends = 0.02;
  FittedConstant fitted{.name = name, .factor = std::exp(all)};
  double most = 0;
  double mean = 0;
  for (const auto& [source, change] : without_source) {
    mean += change[constant] / static_cast<double>(without_source.size());
    fitted.sources += mean_slope(samples, source, constant) >= kDepends ? 1 : 0;
    if (std::abs(change[constant] - all) > most) {
      most = std::abs(change[constant] - all);
      fitted.decided_by = source;
    }
  }
  double square = 0;
  for (const auto& [source, change] : without_source) {
    square += (change[constant] - mean) * (change[constant] - mean);
  }
  const auto n = static_cast<double>(without_source.size());
  fitted.standard_error = std::sqrt((n - 1) / n * square);
  return fitted;
}

}  // namespace

ConstantSlopes load_slopes(const std::vector<std::filesystem::path>& roots) {
  ConstantSlopes slopes;
  const auto table = first_table(roots, "constant_slopes.csv");
  if (table) {
    slopes.constants.assign(table->columns().begin() + 1, table->columns().end());
  }
  for (std::size_t row = 0; table && row < table->rows(); ++row) {
    Vector& of_run = slopes.of_run[table->text(row, "id")];
    for (const auto& constant : slopes.constants) {
      of_run.push_back(table->number(row, constant).value_or(0));
    }
  }
  return slopes;
}

std::string source_of(const RunPrediction& row) { return row.source; }
std::string framework_of(const RunPrediction& row) { return row.run_kind.framework; }
std::string gpu_of(const RunPrediction& row) { return row.run_kind.gpu; }

std::vector<FittedConstant> fit_constants(const std::vector<RunPrediction>& rows,
                                          const ConstantSlopes& slopes) {
  const auto samples = samples_of(rows, slopes);
  const std::size_t n = slopes.constants.size();
  std::map<std::string, Vector> without_source;
  const auto decides = [](const Sample& sample) { return sample.row->table.empty(); };
  std::vector<Sample> deciding;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(deciding), decides);
  const Vector all = robust_fit(deciding, n);
  for (const auto& source : groups_of(deciding, source_of)) {
    without_source.emplace(source, robust_fit(without(deciding, source_of, source), n));
  }
  std::vector<FittedConstant> fitted;
  for (std::size_t i = 0; i < n; ++i) {
    fitted.push_back(judged(slopes.constants[i], i, all[i], without_source, deciding));
  }
  return fitted;
}

std::vector<RunPrediction> left_out(const std::vector<RunPrediction>& rows,
                                    const ConstantSlopes& slopes,
                                    const GroupOf& group) {
  const auto samples = samples_of(rows, slopes);
  std::vector<RunPrediction> out;
  for (const auto& name : groups_of(samples, group)) {
    const auto rest = without(samples, group, name);
    const Vector change = robust_fit(rest, slopes.constants.size());
    std::vector<RunPrediction> seen;
    std::transform(rest.begin(), rest.end(), std::back_inserter(seen),
                   [](const Sample& sample) { return *sample.row; });
    const auto known = compared_runs(seen);
    for (const Sample& sample : samples) {
      if (group(*sample.row) == name) {
        out.push_back(moved(sample, change, known));
      }
    }
  }
  return out;
}

std::vector<ComparedRuns> compared_runs(const std::vector<RunPrediction>& rows) {
  std::vector<ComparedRuns> compared;
  std::vector<Vector> errors;
  for (const auto& row : rows) {
    // A power limit that nobody states says nothing about the software.
    const bool limited =
        std::find(row.assumed.begin(), row.assumed.end(), "power") != row.assumed.end();
    if (!row.error || limited) {
      continue;
    }
    const auto place = std::find_if(compared.begin(), compared.end(), [&](const ComparedRuns& c) {
      return c.kind == row.run_kind && c.source == row.source;
    });
    const auto at = static_cast<std::size_t>(place - compared.begin());
    if (place == compared.end()) {
      compared.push_back({row.run_kind, row.source});
      errors.emplace_back();
    }
    errors[at].push_back(std::abs(*row.error));
  }
  for (std::size_t i = 0; i < compared.size(); ++i) {
    std::sort(errors[i].begin(), errors[i].end());
    compared[i].rows = static_cast<int>(errors[i].size());
    compared[i].median_error = core::quantile_of_sorted(errors[i], 0.5);
  }
  return compared;
}

}  // namespace headway::validation
