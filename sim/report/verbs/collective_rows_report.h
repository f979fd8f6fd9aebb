// The result of `headway validate --collectives` as table, CSV, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "sim/report/table.h"
#include "sim/study/validate.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.validate-collectives-1.json has its keys.
std::string collective_rows_json(const std::vector<validation::CollectivePrediction>& rows,
                                 study::Calibration calibration = study::Calibration::none,
                                 const validation::ReadInputs& made_from = {});
/// One line a row.
std::string collective_rows_csv(const std::vector<validation::CollectivePrediction>& rows);
/// Every row, the summary of each system, and the sentence that matters.
Document collective_rows_document(const std::vector<validation::CollectivePrediction>& rows,
                                  study::Calibration calibration = study::Calibration::none);

}  // namespace headway::report
