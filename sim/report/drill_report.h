// The result of `headway drill` as table, CSV, Markdown and JSON ("headway.drill/1").
#pragma once

#include <string>

#include "sim/config/load.h"
#include "sim/drill/drill.h"
#include "sim/report/predict.h"
#include "sim/report/table.h"

namespace headway::report {

struct DrillReport {
  std::string version, scenario_name, digest;
  drill::DrillResult result;
  Status status = Status::ok;
  std::vector<std::string> reasons;  ///< why the status is not ok
};

/// Checks the scenario, simulates its healthy step and drills.
DrillReport run_drill(const config::LoadedScenario& loaded,
                      const drill::Fault& fault,
                      const drill::DrillOptions& options,
                      bool fold = true);

/// One JSON object; configs/schema/headway.drill-1.json has its keys.
std::string drill_json(const DrillReport& report);
/// The timeline, one line an entry.
std::string drill_csv(const DrillReport& report);
Document drill_document(const DrillReport& report);

/// "12.3 s", "12 min 30 s", "3 h 05 min".
std::string elapsed(core::Seconds time);

}  // namespace headway::report
