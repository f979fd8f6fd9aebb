#include "sim/study/diagnose/diagnose.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <oneapi/tbb/parallel_for.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/study/diagnose/likelihood.h"
#include "sim/study/diagnose/next_step.h"
#include "sim/study/driver.h"
#include "sim/study/expect/expect.h"
#include "sim/study/predict.h"
#include "sim/training/step/step.h"
#include "sim/training/unequal/check_unequal.h"

namespace headway::study {

namespace {

/// One hypothesis come true.
struct Trial {
  Hypothesis hypothesis;
  std::optional<Imagined> imagined;  ///< none: it cannot be simulated
  std::vector<double> figures;       ///< one an observation
  double log_likelihood = 0;
  std::string reason;  ///< why not
};

bool shows_passes(const Evidence& evidence) {
  return std::any_of(evidence.observations.begin(), evidence.observations.end(),
                     [](const Observation& o) { return is_of_passes(o.feature); });
}

/// Hypotheses of one key have the same step: they differ in a place or in saves alone.
std::string step_key(const Hypothesis& h) {
  return h.cause == Cause::frequent_saves || h.cause == Cause::slow_storage ||
                 h.cause == Cause::none
             ? std::string()
             : fmt::format("{}/{}/{}", core::to_word(h.cause), h.severity, h.variant);
}

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

/// Steps from one simulated severity to the next. Source: of the widest, a factor of two, each is
/// 2 to 3 %, near the noise of the surest figure of a log.
constexpr int kStepsBetween = 32;

/// Of two severities the one that is so far between them in the measure of `width_between`, as the
/// share of their difference.
double share_between(Cause cause, double a, double b, double part) {
  const bool by_ratio = cause == Cause::data_starvation || cause == Cause::jitter;
  return by_ratio ? (a * std::pow(b / a, part) - a) / (b - a) : part;
}

/// A step, or why there is none.
struct SimulatedStep {
  std::optional<training::ObservedStep> step;
  std::string reason;
};

/// What tells how much of `what` is done.
core::Count count_of(const DiagnoseOptions& options, const char* what) {
  if (!options.progress) {
    return {};
  }
  return [tell = options.progress, what](std::size_t done, std::size_t total) {
    tell(what, done, total);
  };
}

class Diagnosis {
 public:
  Diagnosis(const training::CheckedScenario& checked,
            Evidence evidence,
            double kernel_error,
            const DiagnoseOptions& options)
      : evidence_(std::move(evidence)),
        laboratory_(
            checked, shows_passes(evidence_), count_of(options, "simulating the sound job")),
        kernel_error_(kernel_error),
        options_(options) {
    for (const Observation& observation : evidence_.observations) {
      healthy_.push_back(predicted(laboratory_, laboratory_.healthy(), {}, observation));
    }
  }

  void run() {
    for (auto& hypothesis : hypotheses(laboratory_, evidence_)) {
      trials_.push_back({std::move(hypothesis), {}, {}, 0, ""});
    }
    std::map<std::string, SimulatedStep> steps;
    for (const Trial& trial : trials_) {
      steps[step_key(trial.hypothesis)];
    }
    simulate_steps(steps);
    core::JointProgress progress(count_of(options_, "weighing causes"), trials_.size());
    oneapi::tbb::parallel_for(std::size_t{0}, trials_.size(), [&](std::size_t i) {
      weigh(steps.at(step_key(trials_[i].hypothesis)), progress.counted_piece(), trials_[i]);
    });
  }

  /// Measured beside the healthy prediction.
  [[nodiscard]] std::vector<Compared> compared() const {
    std::vector<Compared> out;
    for (std::size_t i = 0; i < evidence_.observations.size(); ++i) {
      const Observation& observation = evidence_.observations[i];
      const Residual r = residual(observation, healthy_[i], Cause::none);
      const double both = std::hypot(r.deviation, std::hypot(r.shared[0], r.shared[1])) *
                          training::kOneSidedFivePercent;
      const double scale = scale_of(observation.feature);
      Compared row{observation.feature, observation.source, observation.measured, healthy_[i], {}};
      row.interval =
          is_ratio(observation.feature)
              ? std::array{healthy_[i] * std::exp(-both), healthy_[i] * std::exp(both)}
              : std::array{std::max(0.0, healthy_[i] - both * scale), healthy_[i] + both * scale};
      row.interval[0] = observation.feature == Feature::spread ? 0 : row.interval[0];
      out.push_back(std::move(row));
    }
    return out;
  }

  [[nodiscard]] std::vector<Suspect> suspects() const {
    std::map<Cause, std::vector<const Trial*>> by_cause;
    for (const Trial& trial : trials_) {
      if (trial.imagined) {
        by_cause[trial.hypothesis.cause].push_back(&trial);
      }
    }
    std::vector<Suspect> out;
    for (const auto& [cause, trials] : by_cause) {
      out.push_back(suspect_of(trials));
    }
    out.push_back(unlisted());
    std::vector<double> logs;
    for (const Suspect& suspect : out) {
      logs.push_back(suspect.log_likelihood);
    }
    const double all = log_mean(logs) + std::log(static_cast<double>(logs.size()));
    for (Suspect& suspect : out) {
      suspect.probability = std::min(1.0, std::exp(suspect.log_likelihood - all));
    }
    // A fault is not named before none at all unless it is likelier by more than rounded figures
    // and drawn collisions decide.
    constexpr double kIndistinct = 0.1;
    const auto rank = [](const Suspect& suspect) {
      return suspect.log_likelihood + (suspect.best.cause == Cause::none ? kIndistinct : 0);
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](const Suspect& a, const Suspect& b) { return rank(a) > rank(b); });
    return out;
  }

  [[nodiscard]] std::vector<std::string> left_out() const {
    std::vector<std::string> out;
    for (const Trial& trial : trials_) {
      const std::string line =
          fmt::format("{}: {}", core::to_word(trial.hypothesis.cause), trial.reason);
      if (!trial.reason.empty() && std::find(out.begin(), out.end(), line) == out.end()) {
        out.push_back(line);
      }
    }
    return out;
  }

  [[nodiscard]] const Laboratory& laboratory() const { return laboratory_; }
  [[nodiscard]] const Evidence& evidence() const { return evidence_; }

 private:
  void simulate_steps(std::map<std::string, SimulatedStep>& steps) const {
    std::vector<const Hypothesis*> first;
    std::vector<SimulatedStep*> places;
    for (auto& [key, place] : steps) {
      places.push_back(&place);
      first.push_back(&std::find_if(trials_.begin(), trials_.end(), [&k = key](const Trial& trial) {
                         return step_key(trial.hypothesis) == k;
                       })->hypothesis);
    }
    core::JointProgress progress(count_of(options_, "simulating causes"), places.size());
    oneapi::tbb::parallel_for(std::size_t{0}, places.size(), [&](std::size_t i) {
      const auto told = progress.piece();
      try {
        places[i]->step = step_key(*first[i]).empty() ? laboratory_.healthy().step
                                                      : laboratory_.imagine(*first[i], told).step;
      } catch (const core::Error& error) {
        places[i]->reason = error.diagnostics().front().message;
      }
      if (told) {
        told(1);
      }
    });
  }

  /// @param count  told how many figures are predicted; may be empty
  void weigh(const SimulatedStep& simulated, const core::Count& count, Trial& trial) const {
    trial.reason = simulated.reason;
    if (!simulated.step) {
      return;
    }
    trial.imagined = laboratory_.imagine(trial.hypothesis, *simulated.step);
    const Cause cause = trial.hypothesis.cause;
    const bool network = cause == Cause::half_rate_nic || cause == Cause::slow_way ||
                         cause == Cause::hashed_collisions;
    for (std::size_t i = 0; i < evidence_.observations.size(); ++i) {
      const Observation& observation = evidence_.observations[i];
      const bool same = observation.feature == Feature::bus_bandwidth && !network;
      trial.figures.push_back(
          same ? healthy_[i]
               : predicted(laboratory_, *trial.imagined, trial.hypothesis, observation));
      if (count) {
        count(i + 1, evidence_.observations.size());
      }
    }
    trial.log_likelihood = likelihood_of(trial.figures, cause);
  }

  /// @param figures  predicted, one an observation
  [[nodiscard]] double likelihood_of(const std::vector<double>& figures, Cause cause) const {
    std::vector<Residual> residuals;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      residuals.push_back(residual(evidence_.observations[i], figures[i], cause));
    }
    return log_likelihood(residuals);
  }

  /// log of the mean of L over the severities and places of a cause. Between two severities that
  /// are simulated all are possible, and their figures are taken to lie evenly between: of a grid
  /// alone a cause that falls between its points would be as good as not listed.
  [[nodiscard]] double log_mean_of(const std::vector<const Trial*>& trials) const {
    std::map<std::string, std::vector<const Trial*>> places;
    for (const Trial* trial : trials) {
      places[trial->hypothesis.node].push_back(trial);
    }
    std::vector<double> logs, widths;
    for (const auto& [node, severities] : places) {
      for (std::size_t i = 0; i + 1 < severities.size(); ++i) {
        add_between(*severities[i], *severities[i + 1], logs, widths);
      }
    }
    if (logs.empty()) {
      for (const Trial* trial : trials) {
        logs.push_back(trial->log_likelihood);
      }
      widths.assign(logs.size(), 1);
    }
    return log_mean(logs, widths);
  }

  void add_between(const Trial& a,
                   const Trial& b,
                   std::vector<double>& logs,
                   std::vector<double>& widths) const {
    const Cause cause = a.hypothesis.cause;
    const double width = width_between(cause, a.hypothesis.severity, b.hypothesis.severity);
    if (width == 0) {
      return;
    }
    std::vector<double> figures(a.figures.size());
    for (int step = 0; step < kStepsBetween; ++step) {
      const double share = share_between(cause, a.hypothesis.severity, b.hypothesis.severity,
                                         (step + 0.5) / kStepsBetween);
      for (std::size_t i = 0; i < figures.size(); ++i) {
        figures[i] = std::lerp(a.figures[i], b.figures[i], share);
      }
      logs.push_back(likelihood_of(figures, cause));
      widths.push_back(width);
    }
  }

  [[nodiscard]] double scale_of(Feature feature) const {
    const bool share = feature == Feature::pauses || feature == Feature::regularity;
    return share || is_ratio(feature) ? 1 : laboratory_.healthy().step.time.si();
  }

  [[nodiscard]] Residual residual(const Observation& observation,
                                  double figure,
                                  Cause cause) const {
    const double scale = scale_of(observation.feature);
    Residual r;
    r.difference = is_ratio(observation.feature) ? std::log(observation.measured / figure)
                                                 : (observation.measured - figure) / scale;
    // Steps that scatter less than usual are no fault: only jitter, which is scatter, is spoken
    // against by it.
    if (observation.feature == Feature::spread && cause != Cause::jitter) {
      r.difference = std::max(0.0, r.difference);
    }
    r.deviation =
        std::hypot(observation.noise, own_error(observation.feature, figure / scale, cause));
    if (cause == Cause::unlisted) {
      return r;
    }
    r.shared[0] = shares_kernel_error(observation.feature) ? kernel_error_ : 0;
    if (observation.call) {
      r.shared[1] = bus_bandwidth_error(laboratory_.checked().scenario().cluster.node,
                                        observation.call->gpus, observation.call->per_node);
    }
    return r;
  }

  [[nodiscard]] Suspect suspect_of(const std::vector<const Trial*>& trials) const {
    const Trial& best = **std::max_element(
        trials.begin(), trials.end(),
        [](const Trial* a, const Trial* b) { return a->log_likelihood < b->log_likelihood; });
    Suspect suspect;
    suspect.best = best.hypothesis;
    suspect.log_likelihood = log_mean_of(trials);
    suspect.step_s = best.imagined->mean_step.si();
    suspect.mending.step_share =
        std::max(0.0, 1 - laboratory_.healthy().mean_step / best.imagined->mean_step);
    return suspect;
  }

  /// Something that is not listed may show anything: its severities are how far it moves figures.
  [[nodiscard]] Suspect unlisted() const {
    std::vector<double> logs;
    for (const double reach : kReachOfUnlisted) {
      std::vector<Residual> residuals;
      for (std::size_t i = 0; i < evidence_.observations.size(); ++i) {
        const Observation& seen = evidence_.observations[i];
        Residual& r = residuals.emplace_back(residual(seen, healthy_[i], Cause::unlisted));
        r.deviation = std::hypot(seen.noise, reach * own_error(seen.feature, 0, Cause::unlisted));
      }
      logs.push_back(log_likelihood(residuals));
    }
    Suspect suspect;
    suspect.best = {Cause::unlisted, "something that is not listed here"};
    suspect.log_likelihood = log_mean(logs);
    return suspect;
  }

  Evidence evidence_;
  Laboratory laboratory_;
  double kernel_error_;
  const DiagnoseOptions& options_;
  std::vector<double> healthy_;  ///< one an observation
  std::vector<Trial> trials_;
};

/// Days and dollars of the whole run, by the share of the step that mending saves.
void price_mending(const training::CheckedScenario& checked,
                   Driver& driver,
                   std::vector<Suspect>& suspects) {
  if (!checked.scenario().run.until) {
    return;
  }
  const auto outcome = driver.campaign(checked);
  if (!outcome) {
    return;
  }
  const auto cost = cost_of(*outcome, "");
  for (Suspect& suspect : suspects) {
    const double more = suspect.mending.step_share / (1 - suspect.mending.step_share);
    suspect.mending.days = more * outcome->result.wall_days.mean;
    if (cost) {
      suspect.mending.usd = more * cost->total_usd.mean;
    }
  }
}

}  // namespace

DiagnoseReport diagnose(const config::LoadedScenario& loaded,
                        const std::vector<LogFile>& files,
                        const DiagnoseOptions& options) {
  const auto checked = training::check(loaded.scenario, loaded.marks);
  training::refuse_unequal(checked, "a diagnosis of");
  Evidence evidence = read_evidence(checked, files);
  if (evidence.observations.empty()) {
    throw core::Error(fmt::format(
        "{}none of the files holds a figure that can be compared: {}",
        evidence.wrong_data.empty()
            ? ""
            : fmt::format("WRONG DATA ({}), and ", fmt::join(evidence.wrong_data, "; ")),
        fmt::join(evidence.remarks, "; ")));
  }
  Driver driver({.threads = options.threads,
                 .trace = false,
                 .progress = count_of(options, "simulating the sound job")});
  training::StepResult step = driver.step(checked);
  if (!options.known_errors.empty()) {
    validation::set_interval(checked.scenario(), options.known_errors, step);
  }
  const double error =
      std::log(step.interval_high / step.interval_low) / (2 * training::kOneSidedFivePercent);
  Diagnosis diagnosis(checked, std::move(evidence), error, options);
  diagnosis.run();
  DiagnoseReport report;
  report.scenario = label_of(checked.scenario(), scenario_digest(loaded));
  for (const LogFile& file : files) {
    report.files.push_back(file.name);
  }
  report.compared = diagnosis.compared();
  report.suspects = diagnosis.suspects();
  price_mending(checked, driver, report.suspects);
  report.next = next_step(diagnosis.laboratory(), diagnosis.evidence(), report.suspects,
                          count_of(options, "simulating the likeliest causes"));
  report.place = diagnosis.evidence().slowest_gpu;
  report.left_out = diagnosis.left_out();
  report.wrong_data = diagnosis.evidence().wrong_data;
  report.remarks = diagnosis.evidence().remarks;
  for (const Compared& row : report.compared) {
    if (row.feature == Feature::step_time && row.measured < row.interval[0]) {
      report.remarks.push_back(
          fmt::format("{}: its steps are faster than the scenario allows; is it this job's (model, "
                      "batch, GPUs)?",
                      row.source));
    }
  }
  return report;
}

std::string diagnose_sentence(const DiagnoseReport& report) {
  if (report.suspects.empty()) {
    return "Nothing was compared.";
  }
  const Suspect& first = report.suspects.front();
  const auto outside = std::count_if(report.compared.begin(), report.compared.end(),
                                     [](const Compared& row) { return !row.within(); });
  const std::string figures =
      fmt::format("{}{} of {} figures are outside the interval of a sound job",
                  report.wrong_data.empty()
                      ? ""
                      : "WRONG DATA: mend that first, whatever the step takes. Of speed: ",
                  outside, report.compared.size());
  if (first.best.cause == Cause::none) {
    const double next = report.suspects.size() > 1 ? report.suspects[1].probability : 0;
    return fmt::format(
        "{}; that nothing is wrong is the likeliest ({} %), no cause is likelier than {} %: of "
        "those that slow a job by less than its interval none can be left out.",
        figures, core::percent(first.probability), core::percent(next));
  }
  std::string mended;
  if (first.mending.step_share > 0.001) {
    mended = fmt::format(
        " Mended, it saves {} % of the time{}{}.", core::percent(first.mending.step_share),
        first.mending.days ? fmt::format(", {} days of the run", core::number(*first.mending.days))
                           : "",
        first.mending.usd ? fmt::format(", {} USD", core::number(*first.mending.usd)) : "");
  }
  return fmt::format("{}; the likeliest cause ({} %): {}.{}", figures,
                     core::percent(first.probability), first.best.words, mended);
}

}  // namespace headway::study
