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
#include "sim/study/diagnose/pairs.h"
#include "sim/study/diagnose/prior.h"
#include "sim/study/diagnose/weighing.h"
#include "sim/study/driver.h"
#include "sim/study/predict.h"
#include "sim/study/verdict/remedies.h"
#include "sim/training/step/step.h"
#include "sim/training/unequal/check_unequal.h"

namespace headway::study {

namespace {

/// Whether the figure is outside, and stays so if the likeliest suspect is at work.
bool is_unexplained(const Compared& row) {
  return !row.within() && row.explained && !*row.explained;
}

bool shows_passes(const Evidence& evidence) {
  return std::any_of(evidence.observations.begin(), evidence.observations.end(),
                     [](const Observation& o) { return is_of_passes(o.feature); });
}

/// Hypotheses of one key have the same step: they differ in a place, saves or pauses alone.
std::string step_key(const Hypothesis& h) {
  return h.cause == Cause::frequent_saves || h.cause == Cause::regular_pauses ||
                 h.cause == Cause::slow_storage || h.cause == Cause::none
             ? std::string()
             : fmt::format("{}/{}/{}", core::to_word(h.cause), h.severity, h.variant);
}

/// Steps from one simulated severity to the next. Source: of the widest, a factor of two, each is
/// 2 to 3 %, near the noise of the surest figure of a log.
constexpr int kStepsBetween = 32;

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
        weighing_(laboratory_, evidence_, kernel_error),
        options_(options) {}

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

  /// Measured beside the healthy prediction, and beside that of the likeliest suspect.
  [[nodiscard]] std::vector<Compared> compared(const Suspect& first) const {
    std::vector<Compared> out;
    for (std::size_t i = 0; i < evidence_.observations.size(); ++i) {
      const Observation& seen = evidence_.observations[i];
      const double healthy = weighing_.healthy()[i];
      Compared row{seen.feature, seen.source, seen.measured, healthy,
                   weighing_.interval_of(i, healthy, {})};
      if (!first.figures.empty()) {
        const auto interval = weighing_.interval_of(i, first.figures[i], first.best);
        row.if_so = first.figures[i];
        row.explained = seen.measured >= interval[0] && seen.measured <= interval[1];
      }
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
    rank(out);
    // One cause is the simpler answer: two are tried where none explains what is outside.
    const auto rows = compared(out.front());
    if (out.front().figures.empty() || std::any_of(rows.begin(), rows.end(), is_unexplained)) {
      for (Suspect& pair :
           suspect_pairs(weighing_, trials_, count_of(options_, "simulating pairs of causes"))) {
        out.push_back(std::move(pair));
      }
      rank(out);
    }
    return out;
  }

  /// Mean over the logs, pauses included [s]; 0: they do not say.
  [[nodiscard]] double measured_step() const {
    const double pauses = mean_of(Feature::pauses);
    return pauses < 1 ? mean_of(Feature::step_time) / (1 - pauses) : 0;
  }

  /// A clock so low that the step would have to be longer than it is; empty: none.
  /// @param rows  with all figures of the logs, in their order
  [[nodiscard]] std::string contradiction(const std::vector<Compared>& rows) const {
    const auto of = [&](Feature feature) {
      return std::find_if(rows.begin(), rows.end(),
                          [&](const Compared& row) { return row.feature == feature; });
    };
    const auto step = of(Feature::step_time), clock = of(Feature::clock_ratio);
    if (step == rows.end() || clock == rows.end() || clock->measured >= clock->interval[0]) {
      return "";
    }
    const Hypothesis slow{Cause::slow_node, "", clock->measured};
    const double slowed = laboratory_.imagine(slow).step.time.si();
    const auto interval =
        weighing_.interval_of(static_cast<std::size_t>(step - rows.begin()), slowed, slow);
    return step->measured >= interval[0]
               ? ""
               : fmt::format(
                     "{} and {} contradict each other: {} at {} % of the others' clock "
                     "would make a step of {} s ({} s and more), the median step is {} s; "
                     "one of them is of another time, or of a node that is not the job's",
                     clock->source, step->source, evidence_.slowest_gpu,
                     core::percent(clock->measured), core::number(slowed),
                     core::number(interval[0]), core::number(step->measured));
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
  [[nodiscard]] double mean_of(Feature feature) const {
    double sum = 0, count = 0;
    for (const Observation& seen : evidence_.observations) {
      if (seen.feature == feature) {
        sum += seen.measured;
        ++count;
      }
    }
    return count > 0 ? sum / count : 0;
  }

  /// The likeliest first, with its probability.
  void rank(std::vector<Suspect>& out) const {
    const auto weight = [this](const Suspect& suspect) {
      return suspect.log_likelihood + log_prior(suspect.best, evidence_);
    };
    std::vector<double> logs;
    for (const Suspect& suspect : out) {
      logs.push_back(weight(suspect));
    }
    const double all = log_mean(logs) + std::log(static_cast<double>(logs.size()));
    for (Suspect& suspect : out) {
      suspect.probability = std::min(1.0, std::exp(weight(suspect) - all));
    }
    // A fault is not named before none at all unless it is likelier by more than rounded figures
    // and drawn collisions decide.
    constexpr double kIndistinct = 0.1;
    const auto place = [&](const Suspect& suspect) {
      return weight(suspect) + (suspect.best.cause == Cause::none ? kIndistinct : 0);
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](const Suspect& a, const Suspect& b) { return place(a) > place(b); });
  }

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
    const std::string& ruled_out = trial.hypothesis.ruled_out;
    trial.reason = ruled_out.empty() ? simulated.reason : ruled_out;
    if (!trial.reason.empty()) {
      return;
    }
    trial.imagined = laboratory_.imagine(trial.hypothesis, *simulated.step);
    trial.figures = weighing_.figures_of(*trial.imagined, trial.hypothesis, count);
    trial.log_likelihood = weighing_.log_likelihood_of(trial.figures, trial.hypothesis);
  }

  /// A cause has the mean of L over its severities and places. Between two severities that are
  /// simulated all are possible: of a grid alone a cause that falls between its points would be as
  /// good as not listed.
  [[nodiscard]] Suspect suspect_of(const std::vector<const Trial*>& trials) const {
    const Trial& best = **std::max_element(
        trials.begin(), trials.end(),
        [](const Trial* a, const Trial* b) { return a->log_likelihood < b->log_likelihood; });
    Suspect suspect;
    suspect.best = best.hypothesis;
    if (auto places = places_of(trials); places.size() > 1) {
      suspect.best.node = places.front().node;
      suspect.best.not_told_apart = not_told_apart(places);
      suspect.best.words = words_of(suspect.best);
      suspect.places = std::move(places);
    }
    suspect.step_s = best.imagined->mean_step.si();
    suspect.mending.step_share =
        std::max(0.0, 1 - laboratory_.healthy().mean_step / best.imagined->mean_step);
    suspect.figures = best.figures;
    double most = best.log_likelihood;
    std::vector<double> logs, widths;
    for (const Severity& severity : weighing_.severities_of(trials, kStepsBetween)) {
      logs.push_back(weighing_.log_likelihood_of(severity.figures, severity.hypothesis));
      widths.push_back(severity.weight);
      if (logs.back() > most) {
        most = logs.back();
        suspect.figures = severity.figures;
      }
    }
    suspect.log_likelihood = log_mean(logs, widths);
    return suspect;
  }

  /// Something that is not listed may show anything: its severities are how far it moves figures.
  [[nodiscard]] Suspect unlisted() const {
    Suspect suspect;
    suspect.best = {Cause::unlisted, "something that is not listed here"};
    suspect.log_likelihood = weighing_.log_likelihood_of_unlisted();
    return suspect;
  }

  Evidence evidence_;
  Laboratory laboratory_;
  Weighing weighing_;
  const DiagnoseOptions& options_;
  std::vector<Trial> trials_;
};

/// Holds what mending brings to what the measured step has above the healthy one: a cause whose
/// simulated severity makes the step longer than it is explains no more than that.
/// @param measured  mean step [s]; 0: not measured, and nothing is changed
void bound_mending(double measured, double healthy, std::vector<Suspect>& suspects) {
  if (measured == 0) {
    return;
  }
  for (Suspect& suspect : suspects) {
    const double saved = suspect.mending.step_share * suspect.step_s;
    const double most = std::max(0.0, measured - healthy);
    const double of_measured = suspect.step_s / measured * (saved > most ? most / saved : 1);
    suspect.mending.step_share *= of_measured;
    for (SuspectPart& part : suspect.parts) {
      part.mending.step_share *= of_measured;
    }
  }
}

/// Days and dollars of the whole run, by the time of a step that mending saves; what it does more
/// where the wall clock ends it.
/// @param measured  mean step [s]; 0: not measured, and shares are of the suspect's step
void price_mending(const training::CheckedScenario& checked,
                   Driver& driver,
                   double measured,
                   double healthy,
                   std::vector<Suspect>& suspects) {
  if (!checked.scenario().run.until) {
    return;
  }
  const auto outcome = driver.campaign(checked);
  if (!outcome) {
    return;
  }
  const auto cost = cost_of(*outcome, "");
  const auto& sound = outcome->result;
  const auto price = [&](const Suspect& suspect, Mending& mending) {
    const double longer = (measured > 0 ? measured : suspect.step_s) / healthy;
    if (checked.scenario().run.until->wall) {
      const WorkDone more =
          more_work({sound.steps.mean / longer, sound.tokens / longer}, mending.step_share);
      mending.steps = more.steps;
      mending.tokens = more.tokens;
      return;
    }
    const double more = mending.step_share * longer;
    mending.days = more * sound.wall_days.mean;
    if (cost) {
      mending.usd = more * cost->total_usd.mean;
    }
  };
  for (Suspect& suspect : suspects) {
    price(suspect, suspect.mending);
    for (SuspectPart& part : suspect.parts) {
      price(suspect, part.mending);
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
        "{}{}none of the files holds a figure that can be compared: {}",
        evidence.wrong_data.empty()
            ? ""
            : fmt::format("WRONG DATA ({}), and ", fmt::join(evidence.wrong_data, "; ")),
        evidence.unfinished.empty()
            ? ""
            : fmt::format("DID NOT END ({}), and ", fmt::join(evidence.unfinished, "; ")),
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
  report.suspects = diagnosis.suspects();
  report.compared = diagnosis.compared(report.suspects.front());
  const double measured = diagnosis.measured_step();
  const double healthy = diagnosis.laboratory().healthy().mean_step.si();
  bound_mending(measured, healthy, report.suspects);
  price_mending(checked, driver, measured, healthy, report.suspects);
  report.next = next_step(diagnosis.laboratory(), diagnosis.evidence(), report.suspects,
                          count_of(options, "simulating the likeliest causes"));
  report.place = diagnosis.evidence().slowest_gpu;
  report.left_out = diagnosis.left_out();
  report.wrong_data = diagnosis.evidence().wrong_data;
  report.unfinished = diagnosis.evidence().unfinished;
  report.findings = diagnosis.evidence().findings;
  if (const std::string why = diagnosis.contradiction(report.compared); !why.empty()) {
    report.findings.push_back(why);
  }
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

namespace {

/// " Mended, it saves 15.3 % of the time, 3.55 days of the run, 15,000 USD."
std::string mending_words(const Suspect& suspect) {
  const Mending& mending = suspect.mending;
  if (!(mending.step_share > 0.001)) {
    return "";
  }
  std::string out = fmt::format(
      " Mended, {} save{} {} % of the time{}{}{}", suspect.parts.empty() ? "it" : "both",
      suspect.parts.empty() ? "s" : "", core::percent(mending.step_share),
      mending.days ? fmt::format(", {} days of the run", core::number(*mending.days)) : "",
      mending.usd ? fmt::format(", {} USD", core::number(*mending.usd)) : "",
      mending.steps ? ", " + in_words(WorkDone{*mending.steps, *mending.tokens}) : "");
  if (suspect.parts.size() == 2) {
    out += fmt::format("; the first alone {} %, the second alone {} %",
                       core::percent(suspect.parts[0].mending.step_share),
                       core::percent(suspect.parts[1].mending.step_share));
  }
  return out + ".";
}

/// " Left unexplained: median step, 3.98 s beside 3.33 s."
std::string unexplained_words(const DiagnoseReport& report) {
  std::vector<std::string> left;
  for (const Compared& row : report.compared) {
    if (is_unexplained(row)) {
      left.push_back(fmt::format("{}, {} beside {}", in_words(row.feature),
                                 shown(row.feature, row.measured), shown(row.feature, *row.if_so)));
    }
  }
  return left.empty() ? "" : fmt::format(" Left unexplained: {}.", fmt::join(left, "; "));
}

/// " The step is as predicted, memory alone is off."
std::string memory_words(const DiagnoseReport& report) {
  bool step = false, memory = false, other = false;
  for (const Compared& row : report.compared) {
    const bool is_memory =
        row.feature == Feature::memory || row.feature == Feature::reserved_memory;
    step = step || (row.feature == Feature::step_time && row.within());
    memory = memory || (is_memory && !row.within());
    other = other || (!is_memory && !row.within());
  }
  return step && memory && !other ? " The step is as predicted, memory alone is off." : "";
}

std::string found_words(const DiagnoseReport& report) {
  return report.findings.empty() ? ""
                                 : fmt::format("Found: {}. ", fmt::join(report.findings, "; "));
}

}  // namespace

std::string diagnose_sentence(const DiagnoseReport& report) {
  if (report.suspects.empty()) {
    return "Nothing was compared.";
  }
  const Suspect& first = report.suspects.front();
  const auto outside = std::count_if(report.compared.begin(), report.compared.end(),
                                     [](const Compared& row) { return !row.within(); });
  const std::string figures = fmt::format(
      "{}{}{}{} of {} figures {} outside the interval of a sound job", found_words(report),
      report.wrong_data.empty()
          ? ""
          : "WRONG DATA: mend that first, whatever the step takes. Of speed: ",
      report.unfinished.empty()
          ? ""
          : "A TEST DID NOT END: mend that first, however fast it was until then. Else ",
      outside, report.compared.size(), outside == 1 ? "is" : "are");
  if (first.best.cause == Cause::none) {
    const double next = report.suspects.size() > 1 ? report.suspects[1].probability : 0;
    return fmt::format(
        "{}; that nothing is wrong is the likeliest ({} %), no cause is likelier than {} %: of "
        "those that slow a job by less than its interval none can be left out.{}{}",
        figures, core::percent(first.probability), core::percent(next), memory_words(report),
        unexplained_words(report));
  }
  return fmt::format("{}; the likeliest cause ({} %): {}.{}{}{}", figures,
                     core::percent(first.probability), first.best.words, mending_words(first),
                     memory_words(report), unexplained_words(report));
}

std::string cause_words(const Hypothesis& hypothesis) {
  std::string out(core::to_word(hypothesis.cause));
  for (const Hypothesis& other : hypothesis.also) {
    out += fmt::format("+{}", core::to_word(other.cause));
  }
  return out;
}

}  // namespace headway::study
