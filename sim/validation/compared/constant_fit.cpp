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
  double error;  ///< log(predicted / measured)

  [[nodiscard]] const Vector& slopes() const { return row->slopes; }
};

std::vector<Sample> samples_of(const std::vector<RunPrediction>& rows) {
  std::vector<Sample> samples;
  for (const auto& row : rows) {
    if (row.error && !row.slopes.empty() && row.table != kLayoutSweep &&
        !row.part.starts_with("AMD")) {
      samples.push_back({&row, std::log1p(*row.error)});
    }
  }
  return samples;
}

/// Those that decide the constants: of the first table.
std::vector<Sample> deciding(const std::vector<Sample>& samples) {
  std::vector<Sample> rows;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(rows),
               [](const Sample& sample) { return sample.row->table.empty(); });
  return rows;
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

/// What is known of a constant that no fit moves; 0: runs judge it. Those beyond the list are of
/// tests.
double stated_error(std::size_t constant) {
  const auto& all = judged_constants();
  return constant < all.size() ? all[constant].stated_error : 0;
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
      const Vector& slope = sample.slopes();
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
      if (stated_error(i) > 0) {  // it stays: an equation of its own
        std::fill(normal[i].begin(), normal[i].end(), 0.0);
        for (Vector& row : normal) {
          row[i] = 0;
        }
        normal[i][i] = 1;
        right[i] = 0;
      }
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
RunPrediction moved(const Sample& sample, const Vector& change, const KnownErrors& known) {
  RunPrediction row = *sample.row;
  row.predicted = *row.predicted * std::exp(dot(sample.slopes(), change));
  row.error = *row.predicted / row.measured - 1;
  const StepError unknown = unknown_error(row.run_kind, known.runs);
  const double constants = constant_error(sample.slopes(), known.constants);
  const double slower = std::hypot(row.own_error, unknown.slower, constants);
  const double faster = std::hypot(row.own_error, unknown.faster, constants);
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
      sum += std::abs(sample.slopes()[constant]);
      ++rows;
    }
  }
  return rows > 0 ? sum / rows : 0;
}

/// Whether the rows of a source say anything of a constant.
bool depends(const std::vector<Sample>& samples, const std::string& source, std::size_t constant) {
  constexpr double kDepends = 0.02;
  return mean_slope(samples, source, constant) >= kDepends;
}

/// The constants as all but one source of these samples have them, by that source.
std::map<std::string, Vector> jackknife(const std::vector<Sample>& samples, std::size_t constants) {
  std::map<std::string, Vector> without_source;
  for (const auto& source : groups_of(samples, source_of)) {
    without_source.emplace(source, robust_fit(without(samples, source_of, source), constants));
  }
  return without_source;
}

/// Covariance of the jackknife: (n - 1) / n x the sum of products of what each source moves.
ConstantCovariance spread(const std::map<std::string, Vector>& without_source,
                          std::size_t constants) {
  const auto n = static_cast<double>(without_source.size());
  Vector mean(constants, 0.0);
  for (const auto& [source, change] : without_source) {
    for (std::size_t i = 0; i < constants; ++i) {
      mean[i] += change[i] / n;
    }
  }
  ConstantCovariance covariance(constants, Vector(constants, 0.0));
  for (const auto& [source, change] : without_source) {
    for (std::size_t i = 0; i < constants; ++i) {
      for (std::size_t k = 0; k < constants; ++k) {
        covariance[i][k] += (n - 1) / n * (change[i] - mean[i]) * (change[k] - mean[k]);
      }
    }
  }
  return covariance;
}

std::size_t sources_of(const std::vector<Sample>& samples, std::size_t constant) {
  const auto sources = groups_of(samples, source_of);
  return static_cast<std::size_t>(
      std::count_if(sources.begin(), sources.end(),
                    [&](const std::string& source) { return depends(samples, source, constant); }));
}

std::size_t constants_of(const std::vector<Sample>& samples) {
  return samples.empty() ? 0 : samples.front().slopes().size();
}

ConstantCovariance covariance_of(const std::vector<Sample>& samples) {
  const std::size_t n = constants_of(samples);
  const auto rows = deciding(samples);
  ConstantCovariance covariance = spread(jackknife(rows, n), n);
  for (std::size_t i = 0; i < n; ++i) {
    const double alone = sources_of(rows, i) < 2 ? kJudgedByOne : 0;
    const double error = stated_error(i) > 0 ? stated_error(i) : alone;
    covariance[i][i] += error * error;
  }
  return covariance;
}

}  // namespace

std::string source_of(const RunPrediction& row) { return row.source; }
std::string framework_of(const RunPrediction& row) { return row.run_kind.framework; }
std::string gpu_of(const RunPrediction& row) { return row.run_kind.gpu; }

std::vector<FittedConstant> fit_constants(const std::vector<RunPrediction>& rows,
                                          const std::vector<std::string>& names) {
  const auto samples = deciding(samples_of(rows));
  const Vector all = robust_fit(samples, names.size());
  const auto without_source = jackknife(samples, names.size());
  const auto covariance = spread(without_source, names.size());
  std::vector<FittedConstant> fitted;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (stated_error(i) > 0) {
      continue;
    }
    const auto moves = [&](const auto& entry) { return std::abs(entry.second[i] - all[i]); };
    const auto most =
        std::max_element(without_source.begin(), without_source.end(),
                         [&](const auto& a, const auto& b) { return moves(a) < moves(b); });
    fitted.push_back({.name = names[i],
                      .factor = std::exp(all[i]),
                      .standard_error = std::sqrt(covariance[i][i]),
                      .sources = static_cast<int>(sources_of(samples, i)),
                      .decided_by = most == without_source.end() ? "" : most->first});
  }
  return fitted;
}

ConstantCovariance constant_covariance(const std::vector<RunPrediction>& rows) {
  return covariance_of(samples_of(rows));
}

std::vector<RunPrediction> left_out(const std::vector<RunPrediction>& rows, const GroupOf& group) {
  const auto samples = samples_of(rows);
  std::vector<RunPrediction> out;
  for (const auto& name : groups_of(samples, group)) {
    const auto rest = without(samples, group, name);
    const Vector change = robust_fit(rest, constants_of(samples));
    std::vector<RunPrediction> seen;
    std::transform(rest.begin(), rest.end(), std::back_inserter(seen),
                   [](const Sample& sample) { return *sample.row; });
    const KnownErrors known{compared_runs(seen), covariance_of(rest)};
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
