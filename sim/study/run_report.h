// Everything `headway run` has to say, as plain values: the last type of the pipeline, read by all
// printers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/campaign/campaign.h"
#include "sim/core/result_fields.h"
#include "sim/study/power.h"
#include "sim/training/explain/explain.h"
#include "sim/training/explain/stage_advice.h"
#include "sim/training/explain/timeline.h"
#include "sim/training/scenario.h"
#include "sim/training/step/step_result.h"

namespace headway::study {

enum class Status { ok, infeasible, assert_failed, incomplete };
constexpr auto enum_words(Status) {
  using E = core::EnumWord<Status>;
  return std::array{E{Status::ok, "ok"}, E{Status::infeasible, "infeasible"},
                    E{Status::assert_failed, "assert_failed"}, E{Status::incomplete, "incomplete"}};
}

/// What the scenario came to once `auto` was resolved.
struct Layout {
  std::int64_t gpus = 0;  ///< that train, spares not counted
  int data_parallel = 1;
  int micro_batches = 1;  ///< of one pipeline replica in a step
};

/// What is trained, in figures that a model card has.
struct ModelSize {
  std::string name;
  double parameters = 0, active_parameters = 0, trained_parameters = 0;
  double teacher_parameters = 0;
  core::Bytes logits_per_token;
  double encoder_parameters = 0;
  double tokens_per_step = 0;

  template <class V>
  void fields(V& v) const {
    v.part("name", name, "of the model");
    v.figure("parameters", parameters, "", "all of them, multi-token prediction layers left out",
             core::non_negative);
    v.figure("active_parameters", active_parameters, "",
             "those that one token meets, embedding and head included", core::non_negative);
    v.figure(
        "trained_parameters", trained_parameters, "",
        "those that are trained: all, prediction modules included, or adapters and what is not "
        "frozen; checkpoints hold these",
        core::non_negative);
    v.figure("teacher_parameters", teacher_parameters, "",
             "those of the model whose probabilities are learned; 0: none runs",
             core::non_negative);
    v.figure("logits_bytes_per_token", logits_per_token, "B",
             "cached logits of a teacher that ran before, in storage: k (value bits + bits of a "
             "token's number) / 8, or vocabulary x value bits / 8; 0: none are read",
             core::non_negative);
    v.figure("encoder_parameters", encoder_parameters, "",
             "of `parameters`, those of an encoder of images and its projectors; 0: none",
             core::non_negative);
    v.figure("tokens_per_step", tokens_per_step, "", "global batch x sequence length",
             core::non_negative);
  }
};

/// Something to change, and what it would bring.
struct Remedy {
  std::string change;    ///< "a checkpoint every 149 s of work, not 900 s"
  std::string brings;    ///< "2.08 days less, ETTR +2.7 %"
  double gain = 0;       ///< share of the wall clock, or of the step where there is no run
  bool at_most = false;  ///< the gain is an upper bound: all of one loss
  std::string way{};     ///< `change` without the loss that it makes smaller, for small screens

  template <class V>
  void fields(V& v) const {
    v.part("change", change, "what to change");
    v.part("brings", brings, "what that brings");
    v.figure("gain", gain, "1", "share of the wall clock saved, or of the step without a run",
             core::non_negative);
    v.part("at_most", at_most,
           "the gain is an upper bound while all else takes as long as now: the whole of one loss, "
           "of the longest path or of the mean rank, whichever is more (a change that shortens "
           "several, as a faster network, may bring the sum of theirs); else it is computed, or "
           "estimated where `brings` says `about`");
  }
};

/// What a report shows beside the figures.
struct Pictures {
  training::Timeline timeline;
  training::Streams streams;
  std::optional<training::LinkMap> cables;  ///< where there are switches above the leaves
  std::string cables_why;                   ///< why there are none; empty where there are
  std::vector<training::LinkLoad> loads;
  std::vector<training::MemoryByKind> stage_memory;
  std::string scenario;                                ///< resolved, as YAML
  std::optional<campaign::CampaignPictures> campaign;  ///< where there is one

  template <class V>
  void fields(V& v) const {
    v.part("timeline", timeline, "what each stage did when");
    v.part("streams", streams, "what runs beside each other on the GPU of a rank of each stage");
    v.part("cables", cables,
           "what the cables between leaves and spines carry; null where there are none, or none "
           "carries anything");
    v.part("cables_why", cables_why, "why `cables` is null; empty where it is not");
    v.part("loads", loads, "the busiest link of each tier, moment by moment");
    v.figure("stage_memory_bytes", stage_memory, "B",
             "the fullest GPU of each stage by what the bytes hold", core::non_negative);
    v.part("scenario", scenario, "the scenario as it was read, all defaults written out, in YAML");
    v.part("campaign", campaign,
           "how the trials spread, and one of them; null without `run.until`");
  }
};

/// One published figure beside ours.
struct Comparison {
  std::string quantity;  ///< with its unit, as "MFU [%]"
  double published = 0;
  double predicted = 0;
  [[nodiscard]] double error() const { return predicted / published - 1; }

  template <class V>
  void fields(V& v) const {
    v.part("quantity", quantity, "what is compared, with its unit");
    v.figure("published", published, "", "of the scenario's `claim`, in that unit");
    v.figure("predicted", predicted, "", "ours, in the same unit");
    v.figure("error", core::if_finite(error()), "1", "predicted / published - 1");
  }
};

/// What became of the scenario's `claim:`.
struct ClaimReport {
  std::vector<Comparison> comparisons;
  std::vector<std::string> impossible;  ///< why physics forbids it; empty: it does not
  std::vector<std::string> remarks;     ///< a missed claim, and what is possible instead
};

/// Cost of the run over the trials.
struct CostReport {
  campaign::Distribution total_usd;
  price::Bill bill;          ///< of the mean usage
  std::string price_source;  ///< the price entry

  template <class V>
  void fields(V& v) const {
    v.figure("total_usd", total_usd, "USD",
             "GPUs + spares + storage (kept, written, read) + electricity where the GPU price "
             "leaves it out",
             core::non_negative);
    v.figure("usd_per_million_tokens", bill.usd_per_million_tokens, "USD",
             "total / durable tokens x 10^6", core::non_negative);
    v.figure("usd_per_useful_gpu_hour", bill.usd_per_useful_gpu_hour, "USD",
             "total / (GPUs x wall x ETTR)", core::non_negative);
    v.figure("energy_kwh", bill.energy.si() / 3.6e6, "kWh",
             "energy of GPUs, hosts and switches x PUE; GPUs draw board power while kernels run, "
             "idle power otherwise",
             core::non_negative);
    v.part("price_source", price_source, "where the prices are from, with their date");
    bill.fields(v);
    v.figure("co2_kg", bill.co2_kg, "kg", "`energy_kwh` x carbon intensity of the electricity",
             core::non_negative);
  }
};

/// Nothing where the scenario has no prices.
std::optional<CostReport> cost_of(const campaign::CampaignOutcome& outcome,
                                  const std::string& price_source);

/// How long the program itself took; the only part that varies between runs.
struct Timing {
  core::Seconds load, step, campaign, total;
  int threads = 1;

  template <class V>
  void fields(V& v) const {
    v.figure("load_s", load, "s", "reading the files", core::non_negative);
    v.figure("step_s", step, "s", "simulating the step", core::non_negative);
    v.figure("campaign_s", campaign, "s", "simulating the run", core::non_negative);
    v.figure("total_s", total, "s", "all of it", core::non_negative);
    v.figure("threads", threads, "", "used", core::at_least_one);
  }
};

/// What tells one prediction from another.
struct ScenarioLabel {
  std::string name, digest;
  std::int64_t seed = 0;
  std::string calibration;

  template <class V>
  void fields(V& v) const {
    v.part("name", name, "as the file calls it");
    v.part("digest", digest, "over the resolved input, the calibration and the program version");
    v.figure("seed", seed, "", "of all draws", core::non_negative);
    v.part("calibration", calibration,
           "the profile of measurements, as it calls itself; `catalogue`: none, the catalogue's "
           "figures stand");
  }
};

/// @param digest  of the resolved input, the calibration and the program version
inline ScenarioLabel label_of(const training::Scenario& scenario, std::string digest) {
  return {scenario.name, std::move(digest), scenario.run.seed, scenario.calibration.name};
}

struct RunReport {
  std::string version;
  Status status = Status::ok;
  std::vector<std::string> reasons;  ///< why the status is not ok
  training::Scenario scenario;
  std::string digest;  ///< of the resolved input, the calibration and the program version
  Layout layout;
  std::vector<std::string> asked;  ///< model, cluster and layout, a sentence each
  ModelSize model;
  training::StepResult step;
  std::optional<campaign::CampaignResult> campaign;
  std::optional<CostReport> cost;
  ClaimReport claim;
  std::optional<training::Explanation> explanation;   ///< where it was asked for
  std::optional<training::StageAdvice> stage_advice;  ///< where moving layers would help
  std::optional<Pictures> pictures;                   ///< where it was asked for
  std::optional<PowerReport> power;                   ///< where it was asked for
  std::string limit;
  std::vector<Remedy> remedies;       ///< the best first
  std::vector<std::string> compared;  ///< published runs like this one, and how far we were off
  std::vector<training::Assumption> assumptions;
  std::vector<std::string> warnings;
  Timing timing;

  template <class V>
  void fields(V& v) const {
    v.part("version", version, "of the program");
    v.part("status", status, "also the exit code: 0, 3, 4, 5");
    v.part("reasons", reasons, "why the status is not ok");
    v.part("scenario", label_of(scenario, digest), "What tells one prediction from another.");
    v.part("asked", asked, "model, cluster and layout in sentences");
    v.part("model", model, "What is trained.");
    v.part("step", step, "One step on a healthy cluster.");
    v.part("memory", step.memory, "Of the fullest GPU.");
    v.part("campaign", campaign,
           "The run, over the trials; null without `run.until`. Time is measured on the wall clock "
           "of the job; D, R, C, P and tau as in "
           "[`sim/campaign/README.md`](../sim/campaign/README.md).");
    v.part("cost", cost, "The bill of the mean run; null without prices.");
    v.part("published", claim.comparisons, "the figures of the scenario's `claim` beside ours");
    v.part("limit", limit,
           "the sentence that names what limits the run. A plan that does not fit is limited by "
           "memory. Else the wall clock is compute, the other causes of the step, and "
           "interruptions (`1 - ettr`; the causes of the step then count `ettr` times); the "
           "largest part that is not compute is the largest loss. Compute is the limit where it "
           "has half or more, and the largest loss is named beside it; else the largest loss is "
           "the limit, and compute is named beside it. Shares are of the step, or of the wall "
           "clock where interruptions are the largest loss");
    v.part("remedies", remedies, "what to change, the best first, and what it would bring");
    v.part("compared", compared,
           "the published runs most like this one, and how far their predictions were off; they "
           "decide how wide the interval of the step is");
    v.part("stage_advice", stage_advice,
           "layers that should be on other stages; null where moving them would not help");
    v.part("assumptions", assumptions, "what the prediction rests on and no file says");
    v.part("warnings", warnings, "what else to know");
    v.part("timing", timing, "How long the program took; the only part that varies between runs.");
    v.on_request("explanation", explanation, "With `--explain`: why the step takes as long.");
    v.on_request(
        "power", power,
        "With `--power` or `--show power`: what the cluster draws over a step. A GPU draws "
        "its limit while kernels run and idle power else.");
    v.on_request("pictures", pictures, "With `--pictures`: what `headway report` draws.");
  }
};

}  // namespace headway::study
