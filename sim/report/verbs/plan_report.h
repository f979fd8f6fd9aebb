// The result of `headway plan` as table, CSV, Markdown and JSON ("headway.plan/1").
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/table.h"
#include "sim/study/plan.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.plan-1.json has its keys.
std::string plan_json(const study::PlanReport& report);
/// One line a plan.
std::string plan_csv(const study::PlanReport& report);

/// The words that --show takes: parts of the document, in its order.
const std::vector<std::string>& plan_sections();

/// The tables and sentences of a plan.
/// @param show  sections; none: all. The verdict is always there.
Document plan_document(const study::PlanReport& report, const std::vector<std::string>& show = {});

/// How the GPUs are divided in each plan, and what comes of it.
Table plans_table(const study::PlanReport& report, const std::vector<study::PlannedRun>& plans);

/// What was found of layouts that were drawn from those left out.
std::string verification_text(const study::PlanReport& report);

}  // namespace headway::report
