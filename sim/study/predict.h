// The whole pipeline in one call: what `headway run` and Python's `headway.run` do between file and
// result.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sim/config/load.h"
#include "sim/study/run_report.h"
#include "sim/training/packets/packet_step.h"
#include "sim/validation/compared/compared_runs.h"

namespace headway::study {

struct PredictOptions {
  int threads = 0;   ///< 0: all cores; no result depends on it
  bool fold = true;  ///< simulate classes of equal ranks instead of ranks; no result depends on it
  /// What widens the interval beside the simulation (validation::load_known_errors).
  validation::KnownErrors known_errors{};
  bool explain = false;   ///< fill RunReport::explanation
  bool pictures = false;  ///< fill RunReport::pictures
  bool power = false;     ///< fill RunReport::power
  /// Time the traffic of the step by packets, and simulate the step alone, without `run.until`.
  std::optional<training::PacketsOfStep> packets{};
  const campaign::KnownTrials* known = nullptr;  ///< all trials, simulated before; absent: none
  core::Seconds load_time;                       ///< what reading the files took, for `timing`
  std::function<void(std::string_view phase)> progress;  ///< told what begins now; may be empty
  /// Told how many parts of it are done, by several threads; may be empty.
  std::function<void(std::size_t done, std::size_t total)> count{};
};

/// Reads "fluid" (nothing), "packet", or "packet:TRANSPORT": what times the traffic of a step.
/// @throws core::Error for another word
std::optional<training::PacketsOfStep> step_network(const std::string& words);

/// Name of a result: 16 hexadecimal digits over the resolved scenario (calibration included) and
/// the program version.
std::string scenario_digest(const config::LoadedScenario& loaded);

/// The price entry with its source, as "name: source"; empty without prices.
std::string price_source(const config::LoadedScenario& loaded);

/// What is trained, in figures.
ModelSize model_size(const training::CheckedScenario& checked);

/// Checks the scenario, simulates its step and, with `run.until`, its campaign, and judges claim
/// and conditions.
/// @throws core::Error if the scenario breaks a rule
/// @throws core::Infeasible if its step cannot be simulated; of a run that cannot be, the report
/// has the step and the reason
RunReport predict(const config::LoadedScenario& loaded, const PredictOptions& options = {});

/// The 90 % interval of a step as a prediction has it: by what comparisons with published runs say
/// of such runs, in place of that of the simulation alone, and by what packets add. A prediction
/// and a plan of the same layout have the same one.
/// @param scenario  checked
void widen_interval(const training::Scenario& scenario,
                    const validation::KnownErrors& known,
                    training::StepResult& step);

/// The exit code of a status: 0, 3, 4 or 5.
int exit_code(Status status);

}  // namespace headway::study
