// The job whose weeks are simulated, as plain numbers: what `simulate_campaign` makes of a
// scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/closed_form.h"
#include "sim/core/units.h"
#include "sim/failures/model.h"

namespace headway::campaign {

/// When a job is done: with its work, or when its wall clock is up.
struct JobEnd {
  std::optional<core::Seconds> work;  ///< healthy step time of all steps
  std::optional<core::Seconds> wall;
};

/// Downtime of a failure. The first three let nothing fail (D of the closed forms); the rest are
/// the restart R, which a failure interrupts and which then starts anew after another D.
struct JobRecovery {
  core::Seconds detection, diagnosis;
  core::Seconds replacement;  ///< only if the node is lost
  core::Seconds start;        ///< containers and communicators
  core::Seconds load;
  core::Seconds warm_up;
  core::Seconds repair;  ///< mean, until a lost node is a spare again; exponential

  [[nodiscard]] core::Seconds restart() const { return start + load + warm_up; }
};

/// Everything a trial needs to know.
struct JobModel {
  std::int64_t gpus = 1;
  int gpus_per_node = 1;
  std::int64_t spare_nodes = 0;
  JobEnd end;
  core::Seconds step;        ///< healthy
  core::Seconds interval;    ///< useful work between saves; 0: one save at the end
  bool whole_steps = false;  ///< saves and the end of the run wait for the end of a step
  core::Seconds stall, persist;
  JobRecovery recovery;
  std::vector<failures::Hazard> hazards;
  std::optional<failures::MaintenanceSpec> maintenance;
  std::uint64_t seed = 1;
};

/// Sum of the hazards' rates, inverted; 0 if nothing fails.
core::Seconds mean_time_between_failures(const JobModel& job);

/// D averaged over the hazards by their rates.
core::Seconds mean_downtime(const JobModel& job);

/// Work between saves that are really made: `interval`, or the first multiple of it at which the
/// previous asynchronous save is durable.
core::Seconds effective_interval(const JobModel& job);

/// The same job in the notation of the closed forms.
Rhythm rhythm_of(const JobModel& job);

/// ETTR by the exact formulas, if nothing ever waits for a spare, which the caller knows. For a job
/// of known work with synchronous saves and exponential hazards it is work / E[makespan], else the
/// limit of a long run.
/// @returns nothing where no formula holds: parts that age (but for a single one that is renewed at
/// each
///          failure, an ordinary renewal process), lemons, recorded or silent failures, planned
///          work
std::optional<double> exact_ettr(const JobModel& job);

}  // namespace headway::campaign
