// The result of `headway run` on one screen: what was asked, the verdict, the figures that decide,
// where the step goes and what would help.
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/run_report.h"

namespace headway::report {

/// At most 80 columns, fewer where the page has fewer, and at most 23 lines: only the reasons of a
/// status that is not ok, and the sentence that names the limit, are never cut.
std::string run_screen(const study::RunReport& report, const Page& page = {});

}  // namespace headway::report
