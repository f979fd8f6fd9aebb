// The explanation of a step as tables and JSON: contributions with their closed forms, and a
// tornado of sensitivities.
#pragma once

#include "sim/report/json_parts.h"
#include "sim/report/table.h"
#include "sim/training/explain/explain.h"

namespace headway::report {

/// Appends the tables of contributions, their formulas and the sensitivities.
void add_explanation(const training::Explanation& explanation, Document& document);

/// Keys as in configs/schema/headway.run-1.json, "explanation".
Json explanation_json(const training::Explanation& explanation);

}  // namespace headway::report
