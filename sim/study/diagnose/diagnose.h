// What `headway diagnose` asks: why a job is slower than it should be.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/model_constant.h"
#include "sim/core/result_fields.h"
#include "sim/study/diagnose/cause.h"
#include "sim/study/diagnose/places.h"
#include "sim/study/evidence/evidence.h"
#include "sim/study/run_report.h"
#include "sim/validation/compared/compared_runs.h"

namespace headway::study {

/// One figure of the logs beside the healthy prediction.
struct Compared {
  Feature feature = Feature::step_time;
  std::string source;
  double measured = 0, expected = 0;
  std::array<double, 2> interval{};  ///< 90 %, of the healthy job
  std::optional<double> if_so = {};  ///< predicted if the first suspect is at work; none: unlisted
  std::optional<bool> explained = {};  ///< measured is in the 90 % interval of that

  [[nodiscard]] bool within() const { return measured >= interval[0] && measured <= interval[1]; }

  template <class V>
  void fields(V& v) const {
    v.part("feature", feature, "which figure");
    v.part("words", std::string(in_words(feature)), "the same in words");
    v.part("unit", std::string(unit_of(feature)), "of the figures below");
    v.part("source", source, "file it was read from");
    v.figure("measured", measured, "", "by the file");
    v.figure("expected", expected, "", "predicted of the job as its scenario has it");
    v.figure("interval", interval, "", "90 % interval of that, noise of the log included");
    v.part("within", within(), "the measured figure is in it");
    v.figure("if_so", if_so, "",
             "predicted if the first of the suspects is at work, at its likeliest severity; null: "
             "it is what is not listed, which foretells nothing");
    v.part("explained", explained, "the measured figure is in the 90 % interval of that");
  }
};

/// What mending a cause brings: no more than what the measured step has above the healthy one.
struct Mending {
  double step_share = 0;  ///< of the measured time that it saves; of the simulated one where no
                          ///< step was measured
  std::optional<double> days, usd, steps, tokens;

  template <class V>
  void fields(V& v) const {
    v.figure("share", step_share, "1", "of the time that it saves", core::non_negative);
    v.figure("days", days, "d",
             "that the whole run is shorter by; null without `run.until`, or where the wall clock "
             "ends it",
             core::non_negative);
    v.figure("usd", usd, "USD",
             "that the whole run costs less; null without prices, or where the wall clock ends it",
             core::non_negative);
    v.figure("steps", steps, "",
             "that the run does more in its time; null where no wall clock ends it",
             core::non_negative);
    v.figure("tokens", tokens, "", "of those steps", core::non_negative);
  }
};

/// One of the two causes of a pair.
struct SuspectPart {
  Cause cause = Cause::none;
  std::string words;
  Mending mending;  ///< of it alone

  template <class V>
  void fields(V& v) const {
    v.part("cause", cause, "which");
    v.part("words", words, "its likeliest severity and place");
    v.part("mending", mending, "what it brings to mend it alone");
  }
};

/// One cause, or two at once, and how much speaks for it.
struct Suspect {
  Hypothesis best;  ///< of the cause's hypotheses the likeliest
  double probability = 0;
  double log_likelihood = 0;  ///< of the cause: mean over its hypotheses
  double step_s = 0;          ///< mean step if it is so; 0: nothing is predicted
  Mending mending;
  std::vector<SuspectPart> parts = {};  ///< both causes of a pair; empty: it is one
  std::vector<Place> places = {};       ///< of a cause that may be at several, the likeliest first
  std::vector<double> figures = {};     ///< predicted at the likeliest severity, one an observation

  template <class V>
  void fields(V& v) const {
    v.part("cause", best.cause, "which; of a pair the first");
    v.part("words", best.words, "its likeliest severity and place");
    v.figure("probability", probability, "1",
             "posterior: every cause, `none` and `unlisted` are as likely before, a pair of "
             "causes a fiftieth of that, a setting of the software a hundredth where steps became "
             "slower on the way",
             core::probability);
    v.figure("log_likelihood", log_likelihood, "",
             "of the logs if it is so: mean over severities and places");
    v.figure("step_s", core::if_positive(step_s), "s", "mean step if it is so, pauses included",
             core::non_negative);
    v.part("mending", mending, "what it brings to mend it");
    v.part("places", places,
           "nodes it may be at, the likeliest first; empty: no file tells places apart");
    v.part("parts", parts, "the two causes of a pair; empty: it is a single one");
  }
};

/// The measurement that tells the two likeliest of the listed causes apart best, or the likeliest
/// from what is not listed.
struct NextStep {
  Feature feature = Feature::step_time;
  std::string command, reads;
  /// Between what both predict, in standard deviations; where nothing tells them apart, how many of
  /// the first one's what is not listed may move the figure.
  double deviations = 0;
  bool of_places = false;  ///< it tells which node it is, not which cause

  template <class V>
  void fields(V& v) const {
    v.part("feature", feature, "what to measure");
    v.part("of_places", of_places, "it tells at which node the first suspect is, not which it is");
    v.part("command", command, "how");
    v.part("reads", reads, "what it says in each case");
    v.figure("deviations", deviations, "",
             "between the two predictions, in standard deviations; where those agree, how many of "
             "the first one's what is not listed may move the figure",
             core::non_negative);
  }
};

struct DiagnoseReport {
  ScenarioLabel scenario;
  std::vector<std::string> files;
  std::vector<Compared> compared;
  std::vector<Suspect> suspects;  ///< the likeliest first
  std::optional<NextStep> next;
  std::string place;                    ///< the slowest GPU that a monitor saw; empty: none
  std::vector<std::string> left_out;    ///< causes that could not be simulated, with the reason
  std::vector<std::string> wrong_data;  ///< that collectives moved
  std::vector<std::string> unfinished;  ///< tests of collectives that came to no end, and how
  std::vector<std::string> findings;    ///< what files say that no single figure does
  std::vector<std::string> remarks;

  template <class V>
  void fields(V& v) const;
};

/// "slow_node", or "slow_node+data_starvation" of a pair.
std::string cause_words(const Hypothesis& hypothesis);

/// What it comes to, in a sentence or three.
std::string diagnose_sentence(const DiagnoseReport& report);

template <class V>
void DiagnoseReport::fields(V& v) const {
  v.part("version", HEADWAY_VERSION, "of the program");
  v.part("scenario", scenario, "which scenario");
  v.part("files", files, "that were read");
  v.part("compared", compared, "measured beside predicted, one a figure");
  v.part("suspects", suspects, "the likeliest first");
  v.part("next", next,
         "what to measure next; null: nothing that is known tells the first two listed apart");
  v.part("slowest_gpu", place.empty() ? std::nullopt : std::optional(place),
         "the GPU of the lowest clock, of those that were watched");
  v.part("limit", diagnose_sentence(*this), "one sentence: what it comes to");
  v.part("left_out", left_out, "causes that could not be simulated, and why");
  v.part("wrong_data", wrong_data,
         "logs of nccl-tests that found wrong values in what was moved: a fault whatever it costs");
  v.part(
      "unfinished", unfinished,
      "logs of nccl-tests whose test came to no end, and how: a fault, however fast it was until "
      "then");
  v.part("findings", findings,
         "what files say that no single figure does: a restart, steps that changed or grew on the "
         "way, files that contradict each other");
  v.part("remarks", remarks, "what of the files was left out");
}

struct DiagnoseOptions {
  int threads = 0;
  validation::KnownErrors known_errors{};  ///< validation::load_known_errors
  /// Told what is done now and how much of it, by several threads; may be empty.
  std::function<void(const char* what, std::size_t done, std::size_t total)> progress{};
};

/// Simulates the job with each cause in a few severities and weighs how well each explains all
/// figures of the logs together:
///     log L = -1/2 (r' C^-1 r + log det C),  C = diag(noise^2 + own^2) + sum_k u_k u_k'
/// with r measured less predicted (logarithms of times and rates; of scatter not below zero, but
/// where jitter is the cause: too little of it is no fault), own the error of one figure's
/// prediction, and u_k the errors that predictions share: of the speed of kernels, and of the
/// network. Memory and clocks of monitors may be of something else than is predicted: L is the mean
/// over both. A cause has the mean of L over its hypotheses, and over the severities between them,
/// times how likely it is before (prior.h).
/// Where the likeliest leaves a figure outside, or is none that is listed, pairs are tried too.
/// @throws core::Error if the scenario breaks a rule or a file cannot be read
DiagnoseReport diagnose(const config::LoadedScenario& loaded,
                        const std::vector<LogFile>& files,
                        const DiagnoseOptions& options = {});

/// Errors of predictions that likelihoods are made with, for `headway catalog constants`.
std::vector<core::ModelConstant> diagnose_constants();

}  // namespace headway::study
