#include "sim/campaign/trials.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>

#include "sim/campaign/job/optimum.h"
#include "sim/campaign/job/rates.h"
#include "sim/core/digest.h"
#include "sim/core/engine/executor.h"
#include "sim/core/error.h"
#include "sim/core/statistics.h"

namespace headway::campaign {

using namespace core::literals;
using core::Clock;
using core::Seconds;
using core::Tick;

namespace {

double seconds(Tick ticks) { return Clock::campaign().to_seconds(ticks).si(); }

double spare_gpus(const JobModel& job) {
  return static_cast<double>(job.spare_nodes) * job.gpus_per_node;
}

void refuse_if_hopeless(const JobModel& job) {
  if (!job.end.work) {
    return;  // the wall clock ends the run whatever happens
  }
  const Ceiling ceiling = ceiling_of(job);
  if (!(ceiling.share * static_cast<double>(job.patience) >= 1)) {
    throw HardlyEnds(fmt::format(
        "with a failure every {:.3g} s, {:.3g} s of work between saves, {:.3g} s a restart and "
        "{:.3g} s until a save is durable, only {:.2g} of the wall clock is progress: save more "
        "often, restart faster, or end the run by its wall clock (run.until.wall)",
        ceiling.mean_time_between_rollbacks.si(), effective_interval(job).si(),
        job.recovery.restart().si(), (job.stall + job.persist).si(), ceiling.share));
  }
}

}  // namespace

std::vector<TrialResult> run_trials(const JobModel& job, int trials, int threads) {
  StepTimes times;
  return run_trials(job, trials, threads, times);
}

namespace {

/// Numbers of trials, from `first` on and before `end`.
struct TrialRange {
  std::size_t first = 0, end = 0;
};

/// Trials of a range, behind those in `results`.
void add_trials(const JobModel& job,
                const JobTicks& ticks,
                TrialRange range,
                int threads,
                StepTimes& times,
                const Progress& progress,
                std::vector<TrialResult>& results) {
  const std::size_t before = results.size();
  const std::size_t count = range.end - range.first;
  results.resize(before + count);
  std::atomic<std::size_t> done{before};
  core::make_executor(threads)->for_each(count, [&](std::size_t i) {
    const auto trial = static_cast<std::uint32_t>(range.first + i);
    results[before + i] = run_trial(job, ticks, times, trial);
    const std::size_t finished = ++done;
    if (progress) {
      progress(finished, before + count);
    }
  });
}

/// Beyond so many trials a mean is taken as it is. Source: chosen; the standard error is then 0.3 %
/// of the standard deviation.
constexpr std::size_t kMostTrials = 100'000;
/// Below so many the normal law says too little of a mean. Source: the usual rule of thumb;
/// Student's 2.045 beside 1.960.
constexpr int kFewestTrials = 30;
constexpr double kTwoSidedFivePercent = 1.959963984540054;  // Source: the normal law

}  // namespace

std::vector<TrialResult> run_trials(
    const JobModel& job, int trials, int threads, StepTimes& times, const Progress& progress) {
  return run_trials_until(job, {trials, 0}, threads, times, progress);
}

std::vector<TrialResult> run_trials_from(const JobModel& job,
                                         std::size_t first,
                                         std::size_t count,
                                         int threads,
                                         StepTimes& times,
                                         const Progress& progress) {
  refuse_if_hopeless(job);
  std::vector<TrialResult> results;
  add_trials(job, JobTicks(job), {first, first + count}, threads, times, progress, results);
  return results;
}

std::vector<TrialResult> run_trials_until(const JobModel& job,
                                          const Precision& precision,
                                          int threads,
                                          StepTimes& times,
                                          const Progress& progress) {
  refuse_if_hopeless(job);
  const JobTicks ticks(job);
  const bool adapts = precision.within > 0;
  std::vector<TrialResult> results;
  auto wanted = static_cast<std::size_t>(adapts ? std::max(kFewestTrials, precision.fewest)
                                                : precision.fewest);
  while (results.size() < wanted) {
    add_trials(job, ticks, {results.size(), wanted}, threads, times, progress, results);
    if (adapts) {
      // Errors of means fall with the root of the number; a tenth more, so that it seldom takes a
      // third batch. At most ten times as many: the first spread is itself a draw.
      const double excess = mean_within(job, results) / precision.within;
      const double factor = excess > 1 ? std::clamp(1.1 * excess * excess, 1.1, 10.0) : 1;
      const double next = std::ceil(factor * static_cast<double>(results.size()));
      wanted = std::max(wanted, std::min(kMostTrials, static_cast<std::size_t>(next)));
    }
  }
  return results;
}

double mean_within(const JobModel& job, std::span<const TrialResult> trials) {
  core::Moments seen;
  for (const auto& trial : trials) {
    seen.add(job.end.work ? seconds(trial.wall) : ettr_of(trial));
  }
  if (seen.count() < 2) {
    return core::kInfinity;
  }
  const double error = seen.standard_error();  // 0 / 0 where no trial has anything that lasts
  return error > 0 ? kTwoSidedFivePercent * error / seen.mean() : 0;
}

Distribution distribution_of(const std::vector<double>& values) {
  constexpr std::array<double, 3> kProbabilities{0.05, 0.5, 0.95};
  const auto quantiles = core::quantiles(values, kProbabilities);
  const auto mean = core::mean_estimate(values);
  return {quantiles[0], quantiles[1], quantiles[2], mean.mean, mean.standard_error};
}

Ledger ledger_of(const JobModel& job, const TrialResult& trial) {
  Ledger ledger;
  for (std::size_t a = 0; a < kAccounts; ++a) {
    ledger.gpu_seconds[a] = static_cast<double>(job.gpus) * seconds(trial.accounts[a]);
  }
  ledger[Account::spare_idle] += spare_gpus(job) * seconds(trial.wall);
  return ledger;
}

double ettr_of(const TrialResult& trial) {
  return static_cast<double>(trial[Account::useful]) / static_cast<double>(trial.wall);
}

double mean_ettr(std::span<const TrialResult> trials) {
  core::Sum sum;
  for (const auto& trial : trials) {
    sum.add(ettr_of(trial));
  }
  return sum.value() / static_cast<double>(trials.size());
}

double goodput_of(const JobModel& job, const TrialResult& trial) {
  const auto gpus = static_cast<double>(job.gpus);
  return ettr_of(trial) * gpus / (gpus + spare_gpus(job));
}

namespace {

template <class Value>
Distribution over(std::span<const TrialResult> trials, const Value& value) {
  std::vector<double> values(trials.size());
  std::transform(trials.begin(), trials.end(), values.begin(), value);
  return distribution_of(values);
}

std::int64_t interruptions(const TrialResult& trial) {
  return std::accumulate(trial.interruptions.begin(), trial.interruptions.end(), std::int64_t{0});
}

/// D + R of the closed forms: the wait for a spare is an account of its own.
Tick down(const TrialResult& trial) {
  return trial[Account::detect] + trial[Account::diagnose] + trial[Account::restart] +
         trial[Account::load];
}

std::vector<InterruptionCount> count_by_hazard(const JobModel& job,
                                               std::span<const TrialResult> trials) {
  std::vector<InterruptionCount> counts;
  for (std::size_t h = 0; h < job.hazards.size(); ++h) {
    std::int64_t total = 0;
    for (const auto& trial : trials) {
      total += trial.interruptions[h];
    }
    counts.push_back(
        {job.hazards[h].name, static_cast<double>(total) / static_cast<double>(trials.size())});
  }
  return counts;
}

Ledger mean_ledger(const JobModel& job, std::span<const TrialResult> trials) {
  Ledger mean;
  for (std::size_t a = 0; a < kAccounts; ++a) {
    core::Sum sum;
    for (const auto& trial : trials) {
      sum.add(ledger_of(job, trial).gpu_seconds[a]);
    }
    mean.gpu_seconds[a] = sum.value() / static_cast<double>(trials.size());
  }
  return mean;
}

Seconds mean_downtime_of(std::span<const TrialResult> trials) {
  core::Sum time;
  std::int64_t count = 0;
  for (const auto& trial : trials) {
    time.add(seconds(down(trial)));
    count += interruptions(trial);
  }
  return count > 0 ? Seconds(time.value() / static_cast<double>(count)) : Seconds(0);
}

double mean_replicas_hit(std::span<const TrialResult> trials) {
  std::int64_t hit = 0;
  std::int64_t failures = 0;
  for (const auto& trial : trials) {
    hit += trial.replicas_hit;
    failures += trial.node_failures;
  }
  return failures > 0 ? static_cast<double>(hit) / static_cast<double>(failures) : 0;
}

double mean_retired(std::span<const TrialResult> trials) {
  std::int64_t retired = 0;
  for (const auto& trial : trials) {
    retired += trial.retired;
  }
  return static_cast<double>(retired) / static_cast<double>(trials.size());
}

}  // namespace

bool anyone_waited(std::span<const TrialResult> trials) {
  return std::any_of(trials.begin(), trials.end(),
                     [](const TrialResult& trial) { return trial[Account::wait] > 0; });
}

double steps_of(const JobModel& job, const TrialResult& trial) {
  const core::Tick useful = trial[Account::useful];
  const Clock clock = Clock::campaign();
  if (job.whole_steps) {  // of as many ticks as JobTicks gives them
    return static_cast<double>(useful) /
           static_cast<double>(std::max<core::Tick>(1, clock.to_ticks(job.step)));
  }
  const bool whole = job.end.work && useful == clock.to_ticks(*job.end.work);
  return whole ? std::round(*job.end.work / job.step) : seconds(useful) / job.step.si();
}

CampaignResult summarize(const JobModel& job, std::span<const TrialResult> trials) {
  CampaignResult result;
  result.trials = static_cast<int>(trials.size());
  result.wall_days =
      over(trials, [](const auto& t) { return Clock::campaign().to_seconds(t.wall) / 1_days; });
  result.ettr = over(trials, ettr_of);
  result.goodput = over(trials, [&](const auto& t) { return goodput_of(job, t); });
  result.interruptions =
      over(trials, [](const auto& t) { return static_cast<double>(interruptions(t)); });
  result.steps = over(trials, [&](const auto& t) { return steps_of(job, t); });
  result.ledger = mean_ledger(job, trials);
  result.by_hazard = count_by_hazard(job, trials);
  if (!anyone_waited(trials)) {
    result.closed_form_ettr = exact_ettr(job);
  }
  result.checkpoint_interval = effective_interval(job);
  result.mean_time_between_interruptions = mean_time_between_interruptions(job);
  result.optimal_interval = best_storage_interval(job);
  result.checkpoint_stall = job.stall;
  result.checkpoint_persist = job.persist;
  result.checkpoint_load = job.recovery.load;
  result.downtime = mean_downtime_of(trials);
  result.mean_within = mean_within(job, trials);
  result.nodes_retired = mean_retired(trials);
  result.replicas_hit = mean_replicas_hit(trials);
  for (const auto& trial : trials) {
    result.event_digest = core::combine(result.event_digest, trial.event_digest);
  }
  return result;
}

}  // namespace headway::campaign
