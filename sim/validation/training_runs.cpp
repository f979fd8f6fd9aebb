#include "sim/validation/training_runs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tbb/parallel_for.h>

#include "sim/core/error.h"
#include "sim/core/statistics.h"
#include "sim/training/step.h"

namespace headway::validation {

using import::CsvTable;

namespace {

/// The first line of a message, for a status cell.
std::string first_line(std::string text) { return text.substr(0, text.find('\n')); }

RunPrediction predict_row(const CsvTable& table, std::size_t index, const Catalogue& catalogue) {
  const auto text = [&](std::string_view column) { return table.text(index, column); };
  RunPrediction p;
  p.id = text("id");
  p.source = p.id.substr(0, p.id.rfind('-'));
  p.group = text("group");
  p.gpu = text("gpu");
  p.precision = text("precision");
  p.kind = text("arch");
  p.model = text("model");
  p.gpus = table.integer(index, "n_gpus").value_or(0);
  p.weight = table.number(index, "weight").value_or(1);
  p.measured = table.number(index, "measured_tokens_per_s_per_gpu").value_or(0);
  try {
    const RowScenario built = row_scenario(table, index, catalogue);
    if (!built.scenario) {
      p.status = "skipped:" + built.skipped;
      return p;
    }
    const auto checked = training::check(*built.scenario);
    const auto step = training::simulate_step(checked, {.fold = true, .trace = false});
    p.predicted = step.tokens_per_s_per_gpu;
    p.error = *p.predicted / p.measured - 1;
    p.low = *p.predicted * (step.time / step.interval_high);
    p.high = *p.predicted * (step.time / step.interval_low);
    p.status = built.assumed.empty() ? "ok" : "ok-assumed";
  } catch (const core::Error& error) {
    p.status = "skipped:" + first_line(error.what());
  }
  return p;
}

}  // namespace

std::vector<RunPrediction> predict_runs(const CsvTable& table, const Catalogue& catalogue) {
  std::vector<std::size_t> all(table.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return predict_runs(table, catalogue, all);
}

std::vector<RunPrediction> predict_runs(const CsvTable& table,
                                        const Catalogue& catalogue,
                                        const std::vector<std::size_t>& chosen) {
  std::vector<RunPrediction> rows(chosen.size());
  tbb::parallel_for(std::size_t{0}, rows.size(),
                    [&](std::size_t i) { rows[i] = predict_row(table, chosen[i], catalogue); });
  return rows;
}

std::size_t row_of(const CsvTable& table, const std::string& id) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "id") == id) {
      return row;
    }
  }
  throw core::Error(fmt::format("the table has no row '{}'", id));
}

RunSummary summarize(const std::vector<RunPrediction>& rows) {
  RunSummary summary;
  std::vector<double> errors;
  double covered = 0;
  for (const auto& row : rows) {
    if (!row.error) {
      ++summary.n_skipped;
      continue;
    }
    errors.push_back(std::abs(*row.error));
    covered += row.low <= row.measured && row.measured <= row.high ? 1 : 0;
  }
  summary.n = errors.size();
  if (errors.empty()) {
    return summary;
  }
  std::sort(errors.begin(), errors.end());
  const auto n = static_cast<double>(errors.size());
  const auto share_within = [&](double limit) {
    return static_cast<double>(std::upper_bound(errors.begin(), errors.end(), limit) -
                               errors.begin()) /
           n;
  };
  summary.median_abs_error = core::quantile_of_sorted(errors, 0.5);
  summary.p90_abs_error = core::quantile_of_sorted(errors, 0.9);
  double sum = 0;
  for (const double error : errors) {
    sum += error;
  }
  summary.mean_abs_error = sum / n;
  summary.within_5 = share_within(0.05);
  summary.within_10 = share_within(0.10);
  summary.coverage_90 = covered / n;
  return summary;
}

std::vector<std::pair<std::string, RunSummary>> summarize_by(const std::vector<RunPrediction>& rows,
                                                             std::string RunPrediction::*property) {
  std::map<std::string, std::vector<RunPrediction>> parts;
  for (const auto& row : rows) {
    parts[row.*property].push_back(row);
  }
  std::vector<std::pair<std::string, RunSummary>> summaries;
  for (const auto& [name, part] : parts) {
    summaries.emplace_back(name, summarize(part));
  }
  return summaries;
}

}  // namespace headway::validation
