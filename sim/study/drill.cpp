#include "sim/study/drill.h"

#include <fmt/format.h>

#include "sim/study/drill_figures.h"
#include "sim/study/driver.h"
#include "sim/study/predict.h"
#include "sim/training/check.h"

namespace headway::study {

DrillReport run_drill(const config::LoadedScenario& loaded,
                      const drill::Fault& fault,
                      const drill::DrillOptions& options) {
  const auto checked = training::check(loaded.scenario, loaded.marks);
  Driver driver({.hash_draws = 0, .progress = options.count});
  const training::StepResult& step = driver.step(checked);
  DrillReport report{HEADWAY_VERSION,
                     label_of(loaded.scenario, scenario_digest(loaded)),
                     drill::drill(checked, step, fault, options),
                     Status::ok,
                     {},
                     loaded.canonical_text};
  if (!step.memory.fits) {
    report.status = Status::infeasible;
    report.reasons.push_back(fmt::format(
        "the job does not fit: stage {} needs {:.4g} GB of GPU memory, a GPU has {:.4g} "
        "GB; no such job can have this fault",
        step.memory.peak_stage, step.memory.peak.si() / 1e9, step.memory.capacity.si() / 1e9));
  }
  return report;
}

std::vector<FirstSymptom> first_symptoms(const drill::DrillTrace& trace) {
  std::vector<FirstSymptom> out;
  for (const auto& [layer, word] : enum_words(drill::StackLayer{})) {
    FirstSymptom& first = out.emplace_back(FirstSymptom{layer, {}, {}, {}});
    for (const auto& [symptom, name] : enum_words(drill::Symptom{})) {
      const auto s = static_cast<std::size_t>(symptom);
      const auto& there = trace.happened[s];
      if (drill::facts_of(symptom).layer == layer && there && (!first.at || *there < *first.at)) {
        first = {layer, symptom, there, trace.visible[s]};
      }
    }
  }
  return out;
}

std::vector<MonitorFigures> monitors_of(const drill::DrillResult& result) {
  std::vector<MonitorFigures> out;
  for (const auto& [monitor, word] : enum_words(drill::Monitor{})) {
    MonitorFigures& figures = out.emplace_back(MonitorFigures{monitor, result.setup[monitor], {}});
    for (const auto& entry : result.trace.timeline) {
      if (entry.moment == drill::Moment::alarm && entry.monitor == monitor) {
        figures.alarm = entry.at;
        break;
      }
    }
  }
  return out;
}

std::vector<FaultRate> rates_of(const drill::DrillSetup& setup) {
  std::vector<FaultRate> out;
  for (const auto& [kind, word] : enum_words(drill::FaultKind{})) {
    const auto k = static_cast<std::size_t>(kind);
    out.push_back({kind, setup.rate[k] * 86400, setup.rate_source[k]});
  }
  return out;
}

}  // namespace headway::study
