#include "sim/study/diagnose/weighing.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/study/diagnose/next_step.h"
#include "sim/study/expect/expect.h"
#include "sim/training/step/step.h"

namespace headway::study {

namespace {

/// That a node computes faster than its clock lets it is as likely as that it is so many times as
/// much slower: of what memory bounds the clock says nothing. Judged.
constexpr double kFasterThanClock = 2;

/// How much lies between two severities of a cause where all between them are possible too: of
/// shares that something keeps, which are as likely one as another, their difference; of waits and
/// deviations, which may be of any size, their ratio. 0: kinds, with nothing between them.
double width_between(Cause cause, double a, double b) {
  switch (cause) {
    case Cause::slow_node:
    case Cause::half_rate_nic:
    case Cause::slow_way:
    case Cause::power_cap:
    case Cause::slow_storage:
      return std::abs(a - b);
    case Cause::data_starvation:
    case Cause::jitter:
      return std::abs(std::log(a / b));
    default:
      return 0;
  }
}

/// Of two severities the one that is so far between them in the measure of `width_between`, as the
/// share of their difference.
double share_between(Cause cause, double a, double b, double part) {
  const bool by_ratio = cause == Cause::data_starvation || cause == Cause::jitter;
  return by_ratio ? (a * std::pow(b / a, part) - a) / (b - a) : part;
}

void add_between(const Trial& a, const Trial& b, int steps, std::vector<Severity>& out) {
  const Cause cause = a.hypothesis.cause;
  const double from = a.hypothesis.severity;
  const double to = b.hypothesis.severity;
  const double width = width_between(cause, from, to);
  if (width == 0) {
    return;
  }
  for (int step = 0; step < steps; ++step) {
    const double share = share_between(cause, from, to, (step + 0.5) / steps);
    Severity between{a.hypothesis, std::vector<double>(a.figures.size()),
                     std::lerp(a.imagined->mean_step.si(), b.imagined->mean_step.si(), share),
                     width};
    between.hypothesis.severity = std::lerp(from, to, share);
    between.hypothesis.words = words_of(between.hypothesis);
    for (std::size_t i = 0; i < between.figures.size(); ++i) {
      between.figures[i] = std::lerp(a.figures[i], b.figures[i], share);
    }
    out.push_back(std::move(between));
  }
}

}  // namespace

Weighing::Weighing(const Laboratory& laboratory, const Evidence& evidence, double kernel_error)
    : laboratory_(laboratory), evidence_(evidence), kernel_error_(kernel_error) {
  for (const Observation& observation : evidence.observations) {
    healthy_.push_back(predicted(laboratory, laboratory.healthy(), {}, observation));
  }
}

std::vector<double> Weighing::figures_of(const Imagined& imagined,
                                         const Hypothesis& hypothesis,
                                         const core::Count& count) const {
  const bool network = part_of(hypothesis, Cause::half_rate_nic) != nullptr ||
                       part_of(hypothesis, Cause::slow_way) != nullptr ||
                       part_of(hypothesis, Cause::hashed_collisions) != nullptr;
  std::vector<double> figures;
  for (std::size_t i = 0; i < evidence_.observations.size(); ++i) {
    const Observation& observation = evidence_.observations[i];
    const bool same = observation.feature == Feature::bus_bandwidth && !network;
    figures.push_back(same ? healthy_[i]
                           : predicted(laboratory_, imagined, hypothesis, observation));
    if (count) {
      count(i + 1, evidence_.observations.size());
    }
  }
  return figures;
}

double Weighing::log_likelihood_of(const std::vector<double>& figures,
                                   const Hypothesis& hypothesis) const {
  std::vector<Residual> residuals;
  residuals.reserve(figures.size());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    residuals.push_back(residual(evidence_.observations[i], figures[i], hypothesis));
  }
  return log_likelihood_in_doubt(std::move(residuals), 0);
}

double Weighing::log_likelihood_in_doubt(std::vector<Residual> residuals, std::size_t doubt) const {
  if (doubt == doubts().size()) {
    return log_likelihood(residuals);
  }
  const Doubt& doubted = doubts()[doubt];
  std::vector<Residual> widened = residuals;
  bool any = false;
  for (std::size_t i = 0; i < widened.size(); ++i) {
    if (doubted.is_of(evidence_.observations[i].feature)) {
      widened[i].deviation = std::hypot(widened[i].deviation, doubted.deviation);
      any = true;
    }
  }
  const double as_it_says = log_likelihood_in_doubt(std::move(residuals), doubt + 1);
  if (!any) {
    return as_it_says;
  }
  return log_mean({as_it_says, log_likelihood_in_doubt(std::move(widened), doubt + 1)},
                  {1 - doubted.share, doubted.share});
}

double Weighing::log_likelihood_of_unlisted() const {
  const Hypothesis unlisted{Cause::unlisted, ""};
  std::vector<double> logs;
  for (const double reach : kReachOfUnlisted) {
    std::vector<Residual> residuals;
    for (std::size_t i = 0; i < evidence_.observations.size(); ++i) {
      const Observation& seen = evidence_.observations[i];
      Residual& r = residuals.emplace_back(residual(seen, healthy_[i], unlisted));
      r.deviation = std::hypot(seen.noise, reach * own_error(seen.feature, 0, Cause::unlisted));
    }
    logs.push_back(log_likelihood(residuals));
  }
  return log_mean(logs);
}

std::array<double, 2> Weighing::interval_of(std::size_t index,
                                            double figure,
                                            const Hypothesis& hypothesis) const {
  const Observation& observation = evidence_.observations[index];
  const Residual r = residual(observation, figure, hypothesis);
  const double both = std::hypot(r.deviation, std::hypot(r.shared[0], r.shared[1])) *
                      training::kOneSidedFivePercent;
  const double scale = scale_of(observation.feature);
  std::array<double, 2> interval =
      is_ratio(observation.feature)
          ? std::array{figure * std::exp(-both), figure * std::exp(both)}
          : std::array{std::max(0.0, figure - both * scale), figure + both * scale};
  const bool any_less =
      observation.feature == Feature::spread && part_of(hypothesis, Cause::jitter) == nullptr;
  interval[0] = any_less ? 0 : interval[0];
  return interval;
}

std::vector<Severity> Weighing::severities_of(const std::vector<const Trial*>& trials,
                                              int steps) const {
  std::map<std::string, std::vector<const Trial*>> places;
  for (const Trial* trial : trials) {
    places[trial->hypothesis.node].push_back(trial);
  }
  std::vector<Severity> out;
  for (const auto& [node, severities] : places) {
    for (std::size_t i = 0; i + 1 < severities.size(); ++i) {
      add_between(*severities[i], *severities[i + 1], steps, out);
    }
  }
  if (out.empty()) {
    for (const Trial* trial : trials) {
      out.push_back({trial->hypothesis, trial->figures, trial->imagined->mean_step.si(), 1});
    }
  }
  return out;
}

double Weighing::scale_of(Feature feature) const {
  const bool share = feature == Feature::pauses || feature == Feature::regularity;
  return share || is_ratio(feature) ? 1 : laboratory_.healthy().step.time.si();
}

Residual Weighing::residual(const Observation& observation,
                            double figure,
                            const Hypothesis& hypothesis) const {
  const double scale = scale_of(observation.feature);
  Residual r;
  r.difference = is_ratio(observation.feature) ? std::log(observation.measured / figure)
                                               : (observation.measured - figure) / scale;
  // Steps that scatter less than usual are no fault: only jitter, which is scatter, is spoken
  // against by it.
  if (observation.feature == Feature::spread && part_of(hypothesis, Cause::jitter) == nullptr) {
    r.difference = std::max(0.0, r.difference);
  }
  const bool slow_node = part_of(hypothesis, Cause::slow_node) != nullptr;
  // A node may be slower than its clock, for other reasons, but hardly faster.
  if (slow_node && observation.feature == Feature::clock_ratio && r.difference < 0) {
    r.difference *= kFasterThanClock;
  }
  r.deviation =
      std::hypot(observation.noise, own_error(observation.feature, figure / scale,
                                              slow_node ? Cause::slow_node : hypothesis.cause));
  if (hypothesis.cause == Cause::unlisted) {
    return r;
  }
  r.shared[0] = shares_kernel_error(observation.feature) ? kernel_error_ : 0;
  if (observation.call) {
    r.shared[1] = bus_bandwidth_error(laboratory_.checked().scenario().cluster.node,
                                      observation.call->gpus, observation.call->per_node);
  }
  return r;
}

}  // namespace headway::study
