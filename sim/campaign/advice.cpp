#include "sim/campaign/advice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/campaign/trials.h"
#include "sim/core/statistics.h"
#include "sim/failures/closed_form.h"

namespace headway::campaign {

using core::Seconds;

namespace {

/// Trials that one question may cost, at most: the answer is a difference of equal draws.
constexpr int kTrialsPerQuestion = 50;
constexpr std::array kFactors{0.125, 0.25, 0.5, 0.70710678118654752, 1.0, 1.41421356237309505,
                              2.0,   4.0,  8.0};

double mean_ettr(const std::vector<TrialResult>& trials) {
  core::Sum sum;
  for (const auto& trial : trials) {
    sum.add(ettr_of(trial));
  }
  return sum.value() / static_cast<double>(trials.size());
}

/// A job that would never end at this interval has no ETTR to speak of.
bool would_end(const JobModel& job) { return efficiency(rhythm_of(job)) > 0.02; }

}  // namespace

std::vector<IntervalPoint> interval_curve(
    const JobModel& job, Seconds optimum, int trials, int threads, StepTimes& times) {
  std::vector<IntervalPoint> curve;
  if (optimum.si() <= 0 || job.interval.si() <= 0) {
    return curve;
  }
  for (const double factor : kFactors) {
    JobModel other = job;
    other.interval = std::max(factor * optimum, job.step);
    const Seconds made = effective_interval(other);
    if (!would_end(other) || (!curve.empty() && made <= curve.back().interval)) {
      continue;  // bound by the step or by the time a save takes
    }
    const auto exact = exact_ettr(other);
    curve.push_back({made, exact ? *exact : mean_ettr(run_trials(other, trials, threads, times)),
                     exact.has_value()});
  }
  return curve;
}

std::optional<std::int64_t> spares_for(const JobModel& job, double target) {
  core::PerSecond lost;
  for (const auto& hazard : job.hazards) {
    if (hazard.nodes_lost > 1 || (hazard.nodes_lost == 1 && job.recovery.evict_replicas) || (hazard.nodes_lost == 1 && hazard.evicted > 1) ||
        (hazard.nodes_lost == 1 && !hazard.recorded.empty())) {
      return std::nullopt;
    }
    lost += hazard.nodes_lost == 1 ? hazard.rate : core::PerSecond(0);
  }
  if (lost.si() <= 0 || job.recovery.repair_crews > 0) {
    return std::nullopt;
  }
  return failures::spares_needed(1, lost, job.recovery.repair, target);
}

EarlierDetection worth_of_earlier_detection(const JobModel& job,
                                            Seconds earlier,
                                            const std::vector<TrialResult>& base,
                                            int threads,
                                            StepTimes& times) {
  JobModel other = job;
  other.recovery.noticed_earlier = earlier;
  const auto trials = run_trials(other, static_cast<int>(base.size()), threads, times);
  core::Moments gain;
  core::Moments days;
  constexpr double kDay = 86400;
  const auto clock = core::Clock::campaign();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    gain.add(ettr_of(trials[i]) - ettr_of(base[i]));
    days.add(clock.to_seconds(base[i].wall - trials[i].wall).si() / kDay);
  }
  return {earlier, gain.mean(), gain.estimate().standard_error, days.mean()};
}

Advice advise(const JobModel& job,
              const std::vector<TrialResult>& trials,
              int threads,
              StepTimes& times) {
  Advice advice;
  if (job.hazards.empty()) {
    return advice;
  }
  const int few = std::min(kTrialsPerQuestion, static_cast<int>(trials.size()));
  const bool near = !job.near.empty();
  const Seconds best =
      optimal_interval(near ? job.near.front().stall : job.stall, mean_time_between_failures(job),
                       near ? job.near.front().persist : job.persist);
  advice.interval_curve = interval_curve(job, best, few, threads, times);
  advice.wait_target = kWaitTarget;
  advice.spares = spares_for(job, kWaitTarget);
  if (few < 2) {
    return advice;  // a difference without an error says nothing
  }
  const std::vector<TrialResult> first(trials.begin(), trials.begin() + few);
  for (const double seconds : {60.0, 3600.0}) {
    advice.earlier_detection.push_back(
        worth_of_earlier_detection(job, Seconds(seconds), first, threads, times));
  }
  return advice;
}

}  // namespace headway::campaign
