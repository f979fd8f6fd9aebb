// The result of `headway compare` as table, CSV, Markdown and JSON ("headway.compare/1").
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/compare.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.compare-1.json has its keys.
std::string compare_json(const study::CompareReport& report);
/// One line a figure.
std::string compare_csv(const study::CompareReport& report);
Document compare_document(const study::CompareReport& report);

}  // namespace headway::report
