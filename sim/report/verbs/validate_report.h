// The result of `headway validate` as table, CSV, Markdown and JSON ("headway.validate/1").
#pragma once

#include <string>
#include <vector>

#include "sim/report/table.h"
#include "sim/validation/compared/constant_fit.h"
#include "sim/validation/compared/run_checks.h"
#include "sim/validation/read_inputs.h"
#include "sim/validation/training_runs.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.validate-1.json has its keys.
/// @param fitted  the constants were fitted to these rows: each source is left out once
std::string validate_json(const std::vector<validation::RunPrediction>& rows,
                          bool fitted = false,
                          const validation::ReadInputs& made_from = {});
/// One line a row.
std::string validate_csv(const std::vector<validation::RunPrediction>& rows);
/// What leaving out one source makes of the errors, every row, the summaries by source, GPU,
/// precision and model kind, and the sentences that matter.
Document validate_document(const std::vector<validation::RunPrediction>& rows, bool fitted = false);
/// What matching one row did to the rows of the same GPU, precision and framework.
Document anchor_document(const validation::Anchor& anchor);
std::string anchor_json(const validation::Anchor& anchor,
                        const validation::ReadInputs& made_from = {});

}  // namespace headway::report
