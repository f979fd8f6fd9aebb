// The explanation of a step as tables: contributions with their closed forms, and a tornado of
// sensitivities.
#pragma once

#include <vector>

#include "sim/report/table.h"
#include "sim/training/explain/explain.h"

namespace headway::report {

/// The tables of contributions, their formulas and the sensitivities.
std::vector<Table> explanation_tables(const training::Explanation& explanation);

}  // namespace headway::report
