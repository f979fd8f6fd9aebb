// Published timings of collectives: a row becomes a machine, the machine a prediction, the
// prediction an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/collective.h"
#include "sim/core/result_fields.h"
#include "sim/import/csv.h"
#include "sim/network/collective/collective.h"
#include "sim/validation/training_runs.h"

namespace headway::validation {

/// One call of a group of ranks.
struct GroupCall {
  network::GroupShape group;
  network::CollectiveCall call;
};

/// A row as a machine and a call, or why it cannot be placed.
struct PlacedCollective {
  network::NetworkParameters machine;
  network::GroupShape group;
  network::CollectiveCall call;
  bool expert_exchange = false;     ///< brings tokens to their experts or back: no call of NCCL
  std::optional<GroupCall> beside;  ///< of such an exchange: between domains, at the same time
  double measured_us = 0;
  std::string skipped;               ///< reason; empty: placed
  std::string unknown_machine;       ///< reason why only a calibration can place it; empty: known
  std::vector<std::string> assumed;  ///< what the source does not say
};

/// @param row  of a table with the columns of `collectives.csv` (docs/validation.md)
/// @throws core::Error if a cell cannot be read
PlacedCollective place_collective(const import::CsvTable& table,
                                  std::size_t row,
                                  const Catalogue& catalogue);

/// One row's comparison. `error` = predicted / measured - 1.
struct CollectivePrediction {
  std::string system, collective;
  int n_gpus = 0;
  double message_bytes = 0;
  std::optional<double> measured_us, predicted_us, error;
  std::string status;  ///< ok, ok-assumed, skipped:<reason>

  template <class V>
  void fields(V& v) const {
    v.part("system", system, "as the source calls it");
    v.part("collective", collective, "which");
    v.figure("n_gpus", n_gpus, "", "that take part", core::non_negative);
    v.figure("message_bytes", message_bytes, "B", "size of the message", core::non_negative);
    v.figure("measured_us", measured_us, "us", "published time of the collective",
             core::non_negative);
    v.figure("predicted_us", predicted_us, "us", "time of `headway collective` for the same call",
             core::non_negative);
    v.figure("error", error, "1", "predicted / published - 1");
    v.part("status", status,
           "how it was computed, not whether it is right: `ok` from what the source states, "
           "`ok-assumed` (inputs were assumed), or `skipped:` and the reason");
  }
};

/// Predicts every row from the catalogue's node of its GPU and the words for its network: no row
/// calibrates another.
std::vector<CollectivePrediction> predict_collectives(const import::CsvTable& table,
                                                      const Catalogue& catalogue);

/// Predicts every row with its own system's calibration, cross-fitted: measured curves are made of
/// the system's other rows, without this row and without its size in this group. A group of one
/// size is scaled from the system's other groups. A forced algorithm and exchanges of experts are
/// not calibrated.
std::vector<CollectivePrediction> predict_collectives_calibrated(const import::CsvTable& table,
                                                                 const Catalogue& catalogue);

/// Figures over the rows that were predicted.
struct CollectiveSummary {
  std::size_t n = 0, n_skipped = 0;
  double median_abs_error = 0;        ///< of all; 0 where there are none
  std::size_t n_large = 0;            ///< rows of 1 MiB and more
  double median_abs_error_large = 0;  ///< of these; 0 where there are none
  double p90_abs_error_large = 0;     ///< of these
  std::size_t n_small = 0;            ///< rows below 1 MiB
  double median_factor_small = 0;     ///< of these: the larger of predicted / measured and inverse

  template <class V>
  void fields(V& v) const {
    const auto figure = [&](const char* key, std::size_t rows, double value, const char* meaning) {
      v.figure(key, rows > 0 ? std::optional(value) : std::nullopt, "1", meaning,
               core::non_negative);
    };
    v.figure("n", n, "", "rows predicted", core::non_negative);
    v.figure("n_skipped", n_skipped, "", "rows not predicted", core::non_negative);
    figure("median_abs_error", n, median_abs_error, "median of the absolute error");
    v.figure("n_large", n_large, "", "rows of 1 MiB and more", core::non_negative);
    figure("median_abs_error_large", n_large, median_abs_error_large,
           "median absolute error of these");
    figure("p90_abs_error_large", n_large, p90_abs_error_large,
           "90th percentile of the absolute error of these");
    v.figure("n_small", n_small, "", "rows below 1 MiB", core::non_negative);
    figure("median_factor_small", n_small, median_factor_small,
           "median of max(predicted / measured, measured / predicted) of these");
  }
};

CollectiveSummary summarize(const std::vector<CollectivePrediction>& rows);

}  // namespace headway::validation
