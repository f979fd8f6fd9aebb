#include "sim/report/verbs/collective_rows_report.h"

#include <fmt/format.h>
#include <map>

#include "sim/report/definitions.h"
#include "sim/report/result_json.h"

namespace headway::report {

namespace {

using validation::CollectivePrediction;
using validation::CollectiveSummary;

Table rows_table(const std::vector<CollectivePrediction>& rows) {
  Table table{"Published timings",
              {{"system", false},
               {"collective", false},
               {"GPUs"},
               {"message [B]"},
               {"measured [us]"},
               {"predicted [us]"},
               {"error [%]"},
               {"status", false}},
              {}};
  for (const auto& row : rows) {
    table.rows.push_back({row.system, row.collective, std::to_string(row.n_gpus),
                          fmt::format("{:.0f}", row.message_bytes), cell(row.measured_us),
                          cell(row.predicted_us),
                          row.error ? fmt::format("{:+.1f}", *row.error * 100) : "-", row.status});
  }
  return table;
}

Table systems_table(const std::vector<CollectivePrediction>& rows) {
  Table table{"Error by system",
              {{"system", false},
               {"rows"},
               {"skipped"},
               {"1 MiB and more"},
               {"median [%]"},
               {"90th percentile [%]"},
               {"below 1 MiB"},
               {"median factor"}},
              {}};
  std::map<std::string, std::vector<CollectivePrediction>> systems;
  for (const auto& row : rows) {
    systems[row.system].push_back(row);
  }
  for (const auto& [name, part] : systems) {
    const CollectiveSummary s = validation::summarize(part);
    table.rows.push_back(
        {name, std::to_string(s.n), std::to_string(s.n_skipped), std::to_string(s.n_large),
         s.n_large > 0 ? percent(s.median_abs_error_large) : "-",
         s.n_large > 0 ? percent(s.p90_abs_error_large) : "-", std::to_string(s.n_small),
         s.n_small > 0 ? number(s.median_factor_small) : "-"});
  }
  return table;
}

}  // namespace

std::string collective_rows_json(const std::vector<CollectivePrediction>& rows,
                                 study::Calibration calibration,
                                 const validation::ReadInputs& made_from) {
  return dump(
      result_object("headway.validate-collectives/1",
                    core::figures_of(study::CollectivesReport{rows, calibration, made_from})));
}

std::string collective_rows_csv(const std::vector<CollectivePrediction>& rows) {
  return to_csv(rows_table(rows));
}

Document collective_rows_document(const std::vector<CollectivePrediction>& rows,
                                  study::Calibration calibration) {
  Document document;
  document.title = calibration == study::Calibration::none
                       ? "Published timings of collectives, predicted without calibration"
                       : "Published timings of collectives, each predicted from the other sizes of "
                         "its system's own curve";
  document.tables = {rows_table(rows), systems_table(rows)};
  const CollectiveSummary s = validation::summarize(rows);
  document.closing.emplace_back(kWhereDefined);
  document.closing.push_back(fmt::format(
      "{} of {} timings were predicted: median error {} %; {} % (90th percentile {} %) over the {} "
      "of 1 MiB and more; below, half are within a factor of {}.",
      s.n, s.n + s.n_skipped, percent(s.median_abs_error), percent(s.median_abs_error_large),
      percent(s.p90_abs_error_large), s.n_large, number(s.median_factor_small)));
  return document;
}

}  // namespace headway::report
