// The fire drill: one fault in a running job, what follows across the stack, what it costs, and
// what would have helped.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/units.h"
#include "sim/drill/belief.h"
#include "sim/drill/remedies.h"
#include "sim/training/step/step_result.h"

namespace headway::drill {

/// A change of design, and the drill run again with it.
struct Remedy {
  std::string name;     ///< as a sentence's subject: "watchdog after 60 s"
  std::string how;      ///< what to change; a path of `--set`, or a monitor
  core::Seconds lost;   ///< with it
  core::Seconds saved;  ///< against the drill as it is; below 0: it made things worse
};

struct DrillResult {
  Fault fault;  ///< with every default filled in
  DrillSetup setup;
  DrillTrace trace;
  core::Seconds lost;                 ///< durable work behind the healthy twin at the horizon
  std::optional<core::Dollars> cost;  ///< of that time
  double slowdown = 1;                ///< step with the fault / healthy step
  std::vector<Remedy> remedies;       ///< the most helpful first
  bool tried_remedies = false;
  std::vector<training::Assumption> assumptions;
  std::vector<std::string> warnings;
};

/// What the user changes about the eyes on the job.
struct DrillOptions {
  MonitorChanges monitors;  ///< absent value: off; zero: its own time; else its time
  std::optional<core::Seconds> horizon;
  bool remedies = true;
  /// Told how much of one simulation of a step or another is done; may be empty.
  std::function<void(std::size_t done, std::size_t total)> count{};
};

/// @param step  the healthy step
/// @throws core::Error if the fault names a part that the machine does not have
DrillResult drill(const training::CheckedScenario& checked,
                  const training::StepResult& step,
                  const Fault& fault,
                  const DrillOptions& options = {});

/// Without a scenario: any setup, with the slowdowns given. What `drill` calls.
DrillTrace drill_once(const DrillSetup& setup, const Fault& fault, const SlowdownOf& slowdown);

/// Useful time of a healthy twin less that of the trace, both over the horizon and less the part of
/// the next save's stall that the work since the last one owes. Never below zero.
core::Seconds time_lost(const DrillSetup& setup, const DrillTrace& trace);

}  // namespace headway::drill
