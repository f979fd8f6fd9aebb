// The result of `headway plan` as table, CSV, Markdown and JSON ("headway.plan/1").
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/plan.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.plan-1.json has its keys.
std::string plan_json(const study::PlanReport& report);
/// One line a plan.
std::string plan_csv(const study::PlanReport& report);
Document plan_document(const study::PlanReport& report);

}  // namespace headway::report
