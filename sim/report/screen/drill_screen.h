// The result of `headway drill` on one screen: what the fault costs and what would have helped, who
// noticed and who was blamed, where the time goes, what followed.
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/drill.h"

namespace headway::report {

/// At most 80 columns, fewer where the page has fewer, and at most 23 lines; only the verdict and
/// reasons of a status that is not ok are never cut.
std::string drill_screen(const study::DrillReport& report, const Page& page = {});

}  // namespace headway::report
