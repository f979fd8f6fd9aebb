// What reading and predicting published collectives with and without calibration share.
#pragma once

#include "sim/validation/collectives/collective_rows.h"

namespace headway::validation {

/// A cell as a positive number; nothing for the words that sources have in place of one ("n/a
/// (large)") and where the table has no such column.
std::optional<double> stated_number(const import::CsvTable& table,
                                    std::size_t row,
                                    const char* column);

/// A cell as a whole number; 0: not stated. @throws core::Error if it is neither
int stated_count(const import::CsvTable& table, std::size_t row, const char* column);

/// System, call and measured time of a row; no prediction yet.
CollectivePrediction blank_prediction(const import::CsvTable& table,
                                      std::size_t row,
                                      const PlacedCollective& placed);

/// Sets prediction, error and status.
/// @pre placed.measured_us > 0
void fill_prediction(CollectivePrediction& p, const PlacedCollective& placed, double predicted_us);

}  // namespace headway::validation
