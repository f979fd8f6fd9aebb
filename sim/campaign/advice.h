// What a campaign teaches: how often to save, how many spares to hold, what earlier detection is
// worth.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/job/job.h"
#include "sim/campaign/result.h"
#include "sim/campaign/step_times.h"
#include "sim/campaign/trial.h"
#include "sim/core/units.h"

namespace headway::campaign {

/// Share of time without a spare below which spares are taken to suffice.
inline constexpr double kWaitTarget = 0.01;

/// ETTR of the same job at its own and at other checkpoint intervals: the optimum times 1/8 to 8.
///     closed form (exact) where there is one, no trial waited for a spare and the formula agrees
///     with the trials (4 standard errors + 0.002); else the mean of the trials at the job's own
///     interval, and beside it differences of trials with equal random numbers
/// Empty if the job never fails. Intervals at which it would hardly end have no ETTR.
/// @param base  the trials of the job as it is
std::vector<IntervalPoint> interval_curve(const JobModel& job,
                                          core::Seconds optimum,
                                          const std::vector<TrialResult>& base,
                                          int threads,
                                          StepTimes& times);

/// ETTR beside a storage of another bandwidth.
struct StoragePoint {
  double factor = 1;
  core::BytesPerSecond bandwidth;
  core::Seconds interval;
  std::optional<double> ettr;
  bool exact = false;

  template <class V>
  void fields(V& v) const {
    v.figure("factor", factor, "1", "times the bandwidth of the job's own storage", core::positive);
    v.figure("write_bandwidth_bytes_per_s", bandwidth, "B/s",
             "of the storage, all servers together; its read bandwidth is changed as much",
             core::positive);
    v.figure("interval_s", interval, "s",
             "useful work between saves to storage; chosen anew where it is `auto`",
             core::positive);
    v.figure("ettr", ettr, "1",
             "ETTR of the same job beside that storage; absent where the run would hardly end",
             core::probability);
    v.part("exact", exact, "by closed form, as in `advice.interval_curve`");
  }
};

/// The job beside a storage of another bandwidth.
struct OtherStorage {
  double factor = 1;               ///< times the bandwidth of the job's own
  core::BytesPerSecond bandwidth;  ///< all servers together, writing
  JobModel job;                    ///< with the saves and loads that it then has
};

/// ETTR of the job beside each of these storages, asked as for `interval_curve`.
std::vector<StoragePoint> storage_curve(const JobModel& job,
                                        const std::vector<OtherStorage>& others,
                                        const std::vector<TrialResult>& base,
                                        int threads,
                                        StepTimes& times);

/// Whether nodes leave the job for which spares of the whole machine stand in.
bool spares_matter(const JobModel& job);

/// The most that are tried: as many as the job has nodes, or far more than are away on average.
std::int64_t most_spares(const JobModel& job);

/// How many spare nodes a target takes.
struct SparesNeeded {
  std::int64_t nodes = 0;
  bool exact = false;  ///< by closed form; else by trials
};

/// Fewest spare nodes with which the job waits for one less than `target` of the time.
///     single nodes, lost one at a time to stops without memory (`NodesOut::erlang`): Erlang's loss
///     formula, of the failures and their mean repair time; with so many crews, that of a queue
///     (exponential repairs)
///     everything else (several nodes at once, racks and groups that leave together, wrong blame,
///     slow parts, false alarms, parts that age, recorded failures): the fewest that do in `trials`
///     trials with equal random numbers, by bisection
/// @param trials  at least one; the share of their time spent waiting is compared with the target
/// @returns nothing if no node is ever lost, or if `most_spares` are too few
std::optional<SparesNeeded> spares_for(
    const JobModel& job, double target, int trials, int threads, StepTimes& times);

/// What it is worth to notice every failure so much earlier (but not before it happens): the gain
/// in mean ETTR over the first trials, drawn with the same random numbers.
/// @param base  those trials as they were, at least two
/// @returns nothing if the job would then hardly end
std::optional<EarlierDetection> worth_of_earlier_detection(const JobModel& job,
                                                           core::Seconds earlier,
                                                           const std::vector<TrialResult>& base,
                                                           int threads,
                                                           StepTimes& times);

/// All of it.
/// @param trials  of the campaign; the first few are drawn again for each question
Advice advise(const JobModel& job,
              const std::vector<TrialResult>& trials,
              int threads,
              StepTimes& times);

}  // namespace headway::campaign
