// Shipped scenarios of published runs: their rows are predicted from them, so that `run` and
// `validate` say the same of one run.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/training/scenario.h"
#include "sim/validation/run_row.h"

namespace headway::validation {

/// By the id of the row: `validation/scenario_rows.csv` of these configuration folders, where they
/// have one, names the scenarios.
/// @throws core::Error with all that is wrong in one
std::map<std::string, training::Scenario> load_shipped(
    const std::vector<std::filesystem::path>& roots);

/// The first column whose number is not the scenario's; empty: the row is of this run. What the
/// source does not state is the scenario's to say.
std::string disagreement(const RunRow& row, const training::Scenario& scenario);

}  // namespace headway::validation
