// What the predictions of published collectives with and without calibration share.
#pragma once

#include "sim/validation/collective_rows.h"

namespace headway::validation {

/// System, call and measured time of a row; no prediction yet.
CollectivePrediction blank_prediction(const import::CsvTable& table,
                                      std::size_t row,
                                      const PlacedCollective& placed);

/// Sets prediction, error and status.
/// @pre placed.measured_us > 0
void fill_prediction(CollectivePrediction& p, const PlacedCollective& placed, double predicted_us);

}  // namespace headway::validation
