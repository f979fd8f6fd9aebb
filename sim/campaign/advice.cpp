#include "sim/campaign/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "sim/campaign/job/optimum.h"
#include "sim/campaign/job/rates.h"
#include "sim/campaign/trials.h"
#include "sim/core/statistics.h"
#include "sim/failures/closed_form.h"

namespace headway::campaign {

using namespace core::literals;
using core::Seconds;

namespace {

/// Trials that one question may cost where each sees some failures: the answer is a difference of
/// equal draws.
constexpr int kTrialsPerQuestion = 50;
/// Failures that all trials of a question should see. With a tenth of them the differences are of
/// failures that were not drawn, and the formula knows more. Source: chosen.
constexpr double kFailuresPerQuestion = 100;
constexpr std::array kFactors{0.125, 0.25, 0.5, 0.70710678118654752, 1.0, 1.41421356237309505,
                              2.0,   4.0,  8.0};

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

/// How far the closed form may be from the mean of the campaign's own trials beside their noise:
/// what a run that ends takes from a formula for one that does not. Source: chosen.
constexpr double kAgreement = 0.002;
/// Of a run that is longer than so many intervals its end hardly shows. Source: chosen.
constexpr double kLongRun = 20;

/// The formula stands for the trials: nobody waited for a spare, which it does not know, and it
/// says what they say.
bool formula_holds(const JobModel& job, const std::vector<TrialResult>& trials) {
  const auto exact = exact_ettr(job);
  core::Moments seen;
  for (const auto& trial : trials) {
    seen.add(ettr_of(trial));
  }
  return exact && !anyone_waited(trials) &&
         std::abs(*exact - seen.mean()) <= 4 * seen.standard_error() + kAgreement;
}

/// Interruptions that one trial sees in the mean; 0 if nothing stops the job.
double failures_per_trial(const JobModel& job) {
  const Seconds between = mean_time_between_interruptions(job);
  return between.si() > 0 ? length_of(job.end) / between : 0;
}

int trials_per_question(const JobModel& job, std::size_t trials) {
  const double wanted = kFailuresPerQuestion / std::max(failures_per_trial(job), 1e-9);
  return static_cast<int>(
      std::clamp(std::ceil(wanted), double{kTrialsPerQuestion},
                 std::max(double{kTrialsPerQuestion}, static_cast<double>(trials))));
}

bool is_long(const JobModel& job) {
  return kLongRun * effective_interval(job) <= length_of(job.end) ||
         (job.end.work && job.persist.si() == 0);
}

/// Trials of a job that is only asked about.
/// @returns nothing if it would hardly end
std::optional<std::vector<TrialResult>> try_trials(const JobModel& job,
                                                   int trials,
                                                   int threads,
                                                   StepTimes& times) {
  try {
    return run_trials(job, trials, threads, times);
  } catch (const HardlyEnds&) {
    return std::nullopt;
  }
}

/// One question about one job: what if its interval, or something else of it, were another?
class OtherJobQuestion {
 public:
  OtherJobQuestion(const JobModel& job,
                   const std::vector<TrialResult>& base,
                   int threads,
                   StepTimes& times)
      : job_(job),
        few_(std::min(trials_per_question(job, base.size()), static_cast<int>(base.size()))),
        threads_(threads),
        times_(times),
        formula_(formula_holds(job, base)),
        few_failures_(few_ * failures_per_trial(job) < kFailuresPerQuestion / 10),
        own_(mean_ettr(base)),
        own_of_few_(mean_ettr(std::span(base).first(static_cast<std::size_t>(few_)))) {}

  [[nodiscard]] IntervalPoint at(Seconds interval) const {
    JobModel other = job_;
    other.interval = interval;
    const Seconds made = effective_interval(other);
    const Answer answer = ask(other, made == effective_interval(job_));
    return {made, answer.ettr, answer.exact};
  }

  struct Answer {
    std::optional<double> ettr;
    bool exact = false;
  };

  /// @param same  it is the job itself
  [[nodiscard]] Answer ask(JobModel other, bool same) const {
    if (formula_ && (is_long(other) || few_failures_)) {
      return {exact_ettr(other), is_long(other)};
    }
    if (same) {
      return {own_, false};
    }
    // One that is four times as slow as the job itself, and 2 % at most, is as good as none.
    other.patience = std::max<std::int64_t>(50, std::llround(4 / std::max(own_, 1e-3)));
    const auto trials = try_trials(other, few_, threads_, times_);
    if (!trials) {
      return {std::nullopt, false};
    }
    // The same random numbers: what the first trials have more or less of them than all cancels.
    return {std::clamp(own_ + mean_ettr(*trials) - own_of_few_, 0.0, 1.0), false};
  }

 private:
  const JobModel& job_;
  int few_, threads_;
  StepTimes& times_;
  bool formula_, few_failures_;
  double own_, own_of_few_;
};

}  // namespace

std::vector<IntervalPoint> interval_curve(const JobModel& job,
                                          Seconds optimum,
                                          const std::vector<TrialResult>& base,
                                          int threads,
                                          StepTimes& times) {
  std::vector<IntervalPoint> curve;
  if (optimum.si() <= 0 || job.interval.si() <= 0) {
    return curve;
  }
  std::vector<Seconds> intervals{job.interval};
  for (const double factor : kFactors) {
    intervals.push_back(std::max(factor * optimum, shortest_interval(job)));
  }
  std::sort(intervals.begin(), intervals.end());
  const OtherJobQuestion question(job, base, threads, times);
  for (const Seconds interval : intervals) {
    JobModel other = job;
    other.interval = interval;
    // Bound by the step, by the time a save takes, or by the run, two intervals are the same.
    if (curve.empty() || effective_interval(other) > curve.back().interval) {
      curve.push_back(question.at(interval));
    }
  }
  return curve;
}

std::vector<StoragePoint> storage_curve(const JobModel& job,
                                        const std::vector<OtherStorage>& others,
                                        const std::vector<TrialResult>& base,
                                        int threads,
                                        StepTimes& times) {
  const OtherJobQuestion question(job, base, threads, times);
  std::vector<StoragePoint> curve;
  for (const OtherStorage& other : others) {
    const bool same = other.job.stall == job.stall && other.job.persist == job.persist &&
                      other.job.recovery.load == job.recovery.load &&
                      other.job.interval == job.interval;
    const auto answer = question.ask(other.job, same);
    curve.push_back(
        {other.factor, other.bandwidth, effective_interval(other.job), answer.ettr, answer.exact});
  }
  return curve;
}

bool spares_matter(const JobModel& job) {
  return nodes_out(job).any && racks_of(job) == 0;  // spares of a rack are none of another
}

std::int64_t most_spares(const JobModel& job) {
  constexpr double kTimesTheMean = 4;  // Source: chosen; of losses of any size that lie far apart,
  constexpr double kFew = 10;          // too, the number away is seldom more
  const NodesOut out = nodes_out(job);
  return std::max(job.gpus / job.gpus_per_node,
                  static_cast<std::int64_t>(kTimesTheMean * (out.mean + out.together) + kFew));
}

std::optional<SparesNeeded> spares_for(
    const JobModel& job, double target, int trials, int threads, StepTimes& times) {
  if (!spares_matter(job)) {
    return std::nullopt;
  }
  const NodesOut out = nodes_out(job);
  const std::int64_t most = most_spares(job);
  const bool queue_of_other_law = job.recovery.repair_crews > 0 && job.recovery.repair_sigma > 0;
  const bool all_come_back = job.recovery.retire_after == 0 && !job.recovery.retire_score;
  if (out.erlang && !queue_of_other_law && all_come_back) {
    const auto exact = failures::spares_needed(out.mean, job.recovery.repair_crews, target, most);
    return exact ? std::optional(SparesNeeded{*exact, true}) : std::nullopt;
  }
  const auto enough = [&](std::int64_t spares) {
    JobModel other = job;
    other.spare_nodes = spares;
    const auto tried = try_trials(other, trials, threads, times);
    return tried && waiting_share(*tried) < target;
  };
  // Far too few spares would make trials that hardly end, so the search begins at the mean number
  // in repair, goes up by doubling, and then halves what lies between.
  std::int64_t low = -1;
  std::int64_t high = std::min(most, static_cast<std::int64_t>(out.mean));
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

std::optional<EarlierDetection> worth_of_earlier_detection(const JobModel& job,
                                                           Seconds earlier,
                                                           const std::vector<TrialResult>& base,
                                                           int threads,
                                                           StepTimes& times) {
  JobModel other = job;
  other.recovery.noticed_earlier = earlier;
  const auto tried = try_trials(other, static_cast<int>(base.size()), threads, times);
  if (!tried) {
    return std::nullopt;
  }
  const auto& trials = *tried;
  core::Moments gain;
  core::Moments days;
  const auto clock = core::Clock::campaign();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    gain.add(ettr_of(trials[i]) - ettr_of(base[i]));
    days.add(clock.to_seconds(base[i].wall - trials[i].wall) / 1_days);
  }
  return EarlierDetection{earlier, gain.mean(), gain.estimate().standard_error, days.mean()};
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
  advice.interval_curve = interval_curve(job, best_interval(job), trials, threads, times);
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
    if (const auto gain = worth_of_earlier_detection(job, earlier, first, threads, times)) {
      advice.earlier_detection.push_back(*gain);
    }
  }
  return advice;
}

}  // namespace headway::campaign
