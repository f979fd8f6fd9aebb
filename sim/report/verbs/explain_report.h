// The explanation of a step as tables: contributions with their closed forms, and a tornado of
// sensitivities.
#pragma once

#include "sim/report/table.h"
#include "sim/training/explain/explain.h"

namespace headway::report {

/// Appends the tables of contributions, their formulas and the sensitivities.
void add_explanation(const training::Explanation& explanation, Document& document);

}  // namespace headway::report
