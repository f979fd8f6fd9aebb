// The result of `headway plan` as table, CSV and JSON ("headway.plan/1").
#pragma once

#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/plan/search.h"
#include "sim/report/run_report.h"
#include "sim/report/table.h"

namespace headway::report {

struct PlanReport {
  std::string version;
  training::Scenario scenario;
  std::string digest;
  std::string price_source;
  plan::Objective objective = plan::Objective::step;
  plan::PlanResult result;
  Timing timing;

  /// ok, or infeasible where no plan is left.
  [[nodiscard]] Status status() const {
    return result.plans.empty() ? Status::infeasible : Status::ok;
  }
};

/// Searches the plans of a scenario.
/// @param load_time  what reading the files took, for `timing`
/// @throws core::Error if the scenario breaks a rule that no layout mends
PlanReport search_plans(const config::LoadedScenario& loaded,
                        const plan::PlanOptions& options,
                        core::Seconds load_time);

/// One JSON object; configs/schema/headway.plan-1.json has its keys.
std::string plan_json(const PlanReport& report);
/// One line a plan.
std::string plan_csv(const PlanReport& report);
Document plan_document(const PlanReport& report);

}  // namespace headway::report
