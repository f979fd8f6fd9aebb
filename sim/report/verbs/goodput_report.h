// The result of `headway validate --goodput` as table, CSV, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "sim/report/table.h"
#include "sim/validation/goodput/goodput_cases.h"
#include "sim/validation/read_inputs.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.validate-goodput-1.json has its keys.
std::string goodput_json(const std::vector<validation::GoodputPrediction>& rows,
                         const validation::ReadInputs& made_from = {});
/// One line a case.
std::string goodput_csv(const std::vector<validation::GoodputPrediction>& rows);
/// The cases that were predicted, those that cannot be and why, and the sentence that matters.
Document goodput_document(const std::vector<validation::GoodputPrediction>& rows);

}  // namespace headway::report
