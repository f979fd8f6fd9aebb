// Many independent trials of one job, in parallel, and their distributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/campaign/result.h"
#include "sim/campaign/trial.h"

namespace headway::campaign {

/// Trials 0 to `trials` - 1, in that order whatever the number of threads.
/// @param threads  0: all cores
/// @throws HardlyEnds if a run of known work would take more than `patience` times its work
/// @param progress  told how many trials are done, by several threads; may be empty
std::vector<TrialResult> run_trials(
    const JobModel& job, int trials, int threads, StepTimes& times, const Progress& progress = {});
/// The same where a slow part slows the step by as much as itself.
std::vector<TrialResult> run_trials(const JobModel& job, int trials, int threads);

/// Trials `first` to `first + count - 1`.
/// @throws HardlyEnds as `run_trials` does
std::vector<TrialResult> run_trials_from(const JobModel& job,
                                         std::size_t first,
                                         std::size_t count,
                                         int threads,
                                         StepTimes& times,
                                         const Progress& progress = {});

/// How well a mean must be known.
struct Precision {
  int fewest = 30;    ///< trials
  double within = 0;  ///< half of the 95 % interval of the mean / mean; 0: `fewest` trials, no more
};

/// As many trials as the mean needs: of the wall clock, or of ETTR where the wall clock ends the
/// run. After each batch the next one is as large as the spread seen so far asks for, so that the
/// number depends on nothing but the draws.
/// @throws HardlyEnds as `run_trials` does
std::vector<TrialResult> run_trials_until(const JobModel& job,
                                          const Precision& precision,
                                          int threads,
                                          StepTimes& times,
                                          const Progress& progress = {});

/// Half of the 95 % interval of that mean / mean, by the normal law.
/// @returns infinity for a single trial
double mean_within(const JobModel& job, std::span<const TrialResult> trials);

/// Quantiles, mean and standard error of values in trial order.
Distribution distribution_of(const std::vector<double>& values);

/// Whether any of them stood still for want of a spare.
bool anyone_waited(std::span<const TrialResult> trials);

/// GPU seconds an account in one trial; spares are in `spare_idle` for the
/// whole wall clock. They add up to wall x (gpus + spare nodes x GPUs per
/// node), checked in ticks.
Ledger ledger_of(const JobModel& job, const TrialResult& trial);

/// ETTR of one trial: durable work at healthy speed / wall clock.
double ettr_of(const TrialResult& trial);
/// Its mean over trials.
double mean_ettr(std::span<const TrialResult> trials);

/// Goodput of one trial: useful GPU seconds / all GPU seconds paid for, spares
/// included.
double goodput_of(const JobModel& job, const TrialResult& trial);

/// Steps that a trial did for good. The clock counts microseconds: a run that did all its work did
/// the steps that were asked for.
double steps_of(const JobModel& job, const TrialResult& trial);

/// All distributions. Tokens, storage figures and notes are left to the caller.
CampaignResult summarize(const JobModel& job, std::span<const TrialResult> trials);

}  // namespace headway::campaign
