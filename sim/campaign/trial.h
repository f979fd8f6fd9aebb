// One trial of a campaign: a job with its failures, simulated event by event on
// the campaign clock.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/campaign/job/incident.h"
#include "sim/campaign/job/job.h"
#include "sim/campaign/job/job_ticks.h"
#include "sim/campaign/result.h"
#include "sim/campaign/step_times.h"
#include "sim/core/infeasible.h"
#include "sim/core/tick.h"

namespace headway::campaign {

/// What one trial gives; exact, in ticks of one GPU of the job.
struct TrialResult {
  core::Tick wall = 0;
  std::array<core::Tick, kAccounts> accounts{};  ///< of the job's GPUs; they add up to `wall`
  std::vector<std::int64_t> interruptions;       ///< by hazard: times it stopped the job
  std::int64_t saves = 0;          ///< to storage, those that were thrown away included
  std::int64_t loads = 0;          ///< from storage, those that found a bad save included
  std::int64_t retired = 0;        ///< nodes that left the machine for good
  std::int64_t node_failures = 0;  ///< failures that took nodes
  std::int64_t replicas_hit = 0;   ///< replicas that lost a node, summed over these
  std::uint64_t events = 0;
  std::uint64_t event_digest = 0;

  core::Tick& operator[](Account a) { return accounts[static_cast<std::size_t>(a)]; }
  core::Tick operator[](Account a) const { return accounts[static_cast<std::size_t>(a)]; }
};

/// A run of known work that would hardly end: an answer about a job that was only asked about, the
/// user's fault if it is the job that he wants.
class HardlyEnds : public core::Infeasible {
 public:
  /// @param reason  what keeps it from ending
  explicit HardlyEnds(const std::string& reason)
      : core::Infeasible("the run would hardly end: " + reason) {}
};

/// Runs one trial.
/// @param times  how long steps take while parts are slow
/// @param log    filled with every incident, if given; the result is the same
/// @throws HardlyEnds if the job makes no headway: up for `patience` times its work, it is not done
/// @throws InternalError if the accounts do not add up to the wall clock, to the tick, or one is
/// below zero
TrialResult run_trial(const JobModel& job,
                      const JobTicks& ticks,
                      StepTimes& times,
                      std::uint32_t trial,
                      IncidentLog* log = nullptr);

/// The same where a slow part slows the step by as much as itself
/// (`waits_for_the_slowest`).
TrialResult run_trial(const JobModel& job,
                      const JobTicks& ticks,
                      std::uint32_t trial,
                      IncidentLog* log = nullptr);

}  // namespace headway::campaign
