// The result of `headway drill` as table, CSV, Markdown and JSON ("headway.drill/1").
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/drill.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.drill-1.json has its keys.
std::string drill_json(const study::DrillReport& report);
/// The timeline, one line an entry.
std::string drill_csv(const study::DrillReport& report);
Document drill_document(const study::DrillReport& report);

}  // namespace headway::report
