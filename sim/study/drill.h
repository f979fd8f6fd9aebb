// What `headway drill` asks: one fault in a running job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/drill/drill.h"
#include "sim/study/run_report.h"

namespace headway::study {

struct DrillReport {
  std::string version;
  ScenarioLabel scenario;
  drill::DrillResult result;
  Status status = Status::ok;
  std::vector<std::string> reasons;  ///< why the status is not ok
  std::string resolved;              ///< the scenario as YAML

  /// What the fault costs, and what would have helped most.
  [[nodiscard]] std::string verdict() const;

  template <class V>
  void fields(V& v) const;
};

/// Checks the scenario, simulates its healthy step and drills.
DrillReport run_drill(const config::LoadedScenario& loaded,
                      const drill::Fault& fault,
                      const drill::DrillOptions& options);

/// When the first symptom of a layer was there.
struct FirstSymptom {
  drill::StackLayer layer = drill::StackLayer::hardware;
  std::optional<drill::Symptom> symptom;  ///< absent: the layer shows nothing
  std::optional<core::Tick> at, visible_at;
};
std::vector<FirstSymptom> first_symptoms(const drill::DrillTrace& trace);

}  // namespace headway::study
