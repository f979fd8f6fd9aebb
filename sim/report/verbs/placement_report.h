// The result of `headway plan --placement` as table, CSV, Markdown and JSON
// ("headway.placement/1").
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/placement/placement.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.placement-1.json has its keys.
std::string placement_json(const study::PlacementReport& report);
/// One line a choice of nodes.
std::string placement_csv(const study::PlacementReport& report);
Document placement_document(const study::PlacementReport& report);

}  // namespace headway::report
