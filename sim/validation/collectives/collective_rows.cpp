#include "sim/validation/collectives/collective_rows.h"

#include <algorithm>
#include <cmath>

#include "sim/core/statistics.h"
#include "sim/validation/collectives/collective_rows_parts.h"

namespace headway::validation {

using namespace core::literals;

namespace {

using import::CsvTable;

/// Calls that run at the same time take as long as the longer one.
core::Seconds time_of(const PlacedCollective& placed) {
  const auto time = collective_time(placed.call, placed.group, placed.machine).total;
  return placed.beside
             ? std::max(
                   time,
                   collective_time(placed.beside->call, placed.beside->group, placed.machine).total)
             : time;
}

}  // namespace

CollectivePrediction blank_prediction(const CsvTable& table,
                                      std::size_t row,
                                      const PlacedCollective& placed) {
  CollectivePrediction p;
  p.system = table.text(row, "system");
  p.collective = table.text(row, "collective");
  p.n_gpus = stated_count(table, row, "n_gpus");
  p.message_bytes = placed.call.bytes.si() > 0
                        ? placed.call.bytes.si()
                        : stated_number(table, row, "message_bytes").value_or(0);
  p.measured_us = placed.measured_us > 0 ? std::optional(placed.measured_us)
                                         : stated_number(table, row, "time_us");
  return p;
}

void fill_prediction(CollectivePrediction& p, const PlacedCollective& placed, double predicted_us) {
  p.predicted_us = predicted_us;
  p.error = predicted_us / placed.measured_us - 1;
  p.status = placed.assumed.empty() ? "ok" : "ok-assumed";
}

std::vector<CollectivePrediction> predict_collectives(const CsvTable& table,
                                                      const Catalogue& catalogue) {
  std::vector<CollectivePrediction> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const PlacedCollective placed = place_collective(table, row, catalogue);
    CollectivePrediction p = blank_prediction(table, row, placed);
    const std::string& why = placed.skipped.empty() ? placed.unknown_machine : placed.skipped;
    if (!why.empty()) {
      p.status = "skipped:" + why;
    } else {
      fill_prediction(p, placed, time_of(placed).si() * 1e6);
    }
    rows.push_back(std::move(p));
  }
  return rows;
}

CollectiveSummary summarize(const std::vector<CollectivePrediction>& rows) {
  CollectiveSummary summary;
  std::vector<double> large;
  std::vector<double> small;
  std::vector<double> all;
  for (const auto& row : rows) {
    if (row.error) {
      all.push_back(std::abs(*row.error));
    }
    if (!row.error) {
      ++summary.n_skipped;
    } else if (core::Bytes(row.message_bytes) >= 1_MiB) {
      large.push_back(std::abs(*row.error));
    } else {
      small.push_back(std::max(1 + *row.error, 1 / (1 + *row.error)));
    }
  }
  std::sort(large.begin(), large.end());
  std::sort(small.begin(), small.end());
  std::sort(all.begin(), all.end());
  summary.median_abs_error = all.empty() ? 0 : core::quantile_of_sorted(all, 0.5);
  summary.n_large = large.size();
  summary.n_small = small.size();
  summary.n = large.size() + small.size();
  if (!large.empty()) {
    summary.median_abs_error_large = core::quantile_of_sorted(large, 0.5);
    summary.p90_abs_error_large = core::quantile_of_sorted(large, 0.9);
  }
  summary.median_factor_small = small.empty() ? 0 : core::quantile_of_sorted(small, 0.5);
  return summary;
}

}  // namespace headway::validation
