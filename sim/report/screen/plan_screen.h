// The result of `headway plan` on one screen: which plan is the best and how sure that is, its
// figures, where the scenario's own layout stands, the first plans side by side, what was held.
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/plan.h"

namespace headway::report {

/// At most 80 columns, fewer where the page has fewer, and at most 23 lines; only the verdict, or
/// why there is no plan, is never cut.
std::string plan_screen(const study::PlanReport& report, const Page& page = {});

}  // namespace headway::report
