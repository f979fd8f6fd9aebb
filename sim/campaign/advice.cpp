#include "sim/campaign/advice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/campaign/trials.h"
#include "sim/core/statistics.h"
#include "sim/failures/closed_form.h"

namespace headway::campaign {

using namespace core::literals;
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

/// Share of all time that the job stands still for want of a spare.
double waiting_share(const std::vector<TrialResult>& trials) {
  core::Sum waiting;
  core::Sum wall;
  for (const auto& trial : trials) {
    waiting.add(static_cast<double>(trial[Account::wait]));
    wall.add(static_cast<double>(trial.wall));
  }
  return waiting.value() / wall.value();
}

/// The nodes that failures take out of the job.
struct Losses {
  bool any = false;
  bool one_at_a_time = true;  ///< Erlang's formula knows nothing else
  core::PerSecond nodes;      ///< mean
};

Losses losses_of(const JobModel& job) {
  Losses losses;
  const double group = job.recovery.evict_replicas
                           ? static_cast<double>(job.gpus) / job.gpus_per_node / job.replicas
                           : 1;
  for (const auto& hazard : job.hazards) {
    if (hazard.nodes_lost == 0 && hazard.recorded.empty()) {
      continue;
    }
    const auto several = static_cast<double>(std::max(hazard.nodes_lost, hazard.evicted));
    losses.any = true;
    losses.nodes += hazard.rate * std::max(several, group);
    losses.one_at_a_time =
        losses.one_at_a_time && several == 1 && group == 1 && hazard.recorded.empty();
  }
  return losses;
}

/// By Erlang's formula, or by that of so many crews.
std::optional<std::int64_t> exact_spares(const JobModel& job,
                                         core::PerSecond lost,
                                         double target,
                                         std::int64_t most) {
  const double offered = lost * job.recovery.repair;
  const int crews = job.recovery.repair_crews;
  if (crews == 0) {
    return failures::spares_needed(1, lost, job.recovery.repair, target);
  }
  for (std::int64_t spares = 0; spares <= most; ++spares) {
    if (failures::stalled_share_with_crews(offered, spares, crews) < target) {
      return spares;
    }
  }
  return std::nullopt;
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
  std::vector<Seconds> intervals{job.interval};
  for (const double factor : kFactors) {
    intervals.push_back(std::max(factor * optimum, job.step));
  }
  std::sort(intervals.begin(), intervals.end());
  for (const Seconds interval : intervals) {
    JobModel other = job;
    other.interval = interval;
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

std::optional<SparesNeeded> spares_for(
    const JobModel& job, double target, int trials, int threads, StepTimes& times) {
  const Losses losses = losses_of(job);
  if (!losses.any) {
    return std::nullopt;
  }
  const std::int64_t most = std::max<std::int64_t>(1, job.gpus / job.gpus_per_node);
  const bool queue_of_other_law = job.recovery.repair_crews > 0 && job.recovery.repair_sigma > 0;
  if (losses.one_at_a_time && !queue_of_other_law) {
    const auto exact = exact_spares(job, losses.nodes, target, most);
    return exact ? std::optional(SparesNeeded{*exact, true}) : std::nullopt;
  }
  const auto enough = [&](std::int64_t spares) {
    JobModel other = job;
    other.spare_nodes = spares;
    return waiting_share(run_trials(other, trials, threads, times)) < target;
  };
  // Far too few spares would make trials that hardly end, so the search begins at the mean number
  // in repair, goes up by doubling, and then halves what lies between.
  std::int64_t low = -1;
  std::int64_t high = std::min(most, static_cast<std::int64_t>(losses.nodes * job.recovery.repair));
  std::int64_t stride = 1;
  while (!enough(high)) {
    if (high == most) {
      return std::nullopt;
    }
    low = high;
    high = std::min(most, high + stride);
    stride *= 2;
  }
  // Where the first guess was enough, go down from it the same way.
  for (stride = 1; low < 0 && high > 0; stride *= 2) {
    const std::int64_t fewer = std::max<std::int64_t>(0, high - stride);
    if (!enough(fewer)) {
      low = fewer;
    } else {
      high = fewer;
    }
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return SparesNeeded{high, false};
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
  const auto clock = core::Clock::campaign();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    gain.add(ettr_of(trials[i]) - ettr_of(base[i]));
    days.add(clock.to_seconds(base[i].wall - trials[i].wall) / 1_days);
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
  if (const auto spares = spares_for(job, kWaitTarget, few, threads, times)) {
    advice.spares = spares->nodes;
    advice.spares_exact = spares->exact;
  }
  if (few < 2) {
    return advice;  // a difference without an error says nothing
  }
  const std::vector<TrialResult> first(trials.begin(), trials.begin() + few);
  for (const Seconds earlier : {1_min, 1_h}) {
    advice.earlier_detection.push_back(
        worth_of_earlier_detection(job, earlier, first, threads, times));
  }
  return advice;
}

}  // namespace headway::campaign
