// What `headway solve` found as table, CSV, Markdown and JSON ("headway.solve/1").
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/points/solve.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.solve-1.json has its keys.
std::string solve_json(const study::SolveReport& report);
/// A line a value that was looked at.
std::string solve_csv(const study::SolveReport& report);
Document solve_document(const study::SolveReport& report);

}  // namespace headway::report
