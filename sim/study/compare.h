// Two scenarios side by side, and which layer of the architecture makes the difference.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/differences.h"
#include "sim/config/load.h"
#include "sim/core/result_fields.h"
#include "sim/study/run_report.h"
#include "sim/study/verdict/shapley.h"

namespace headway::study {

/// The layers of a training cluster that can be exchanged as a whole.
enum class Layer { orchestration, storage, interconnect, observability, rest };
constexpr auto enum_words(Layer) {
  using E = core::EnumWord<Layer>;
  return std::array{E{Layer::orchestration, "orchestration"}, E{Layer::storage, "storage"},
                    E{Layer::interconnect, "interconnect"},
                    E{Layer::observability, "observability"}, E{Layer::rest, "rest"}};
}
inline constexpr std::size_t kLayers = enum_words(Layer{}).size();

/// What a layer consists of, for people.
std::string_view contents_of(Layer layer);

/// `base` with one layer taken from `other`:
/// orchestration  placement, spares, the response to a failure, what is done about lemons;
/// storage        the storage and the checkpoints;
/// interconnect   fabric, NICs, the network inside the node, the path to storage;
/// observability  how failures are detected and how the bad part is found;
/// rest           everything else: model, recipe, layout, GPUs, failure rates, prices.
training::Scenario with_layer(training::Scenario base,
                              const training::Scenario& other,
                              Layer layer);

/// The figures that are compared; absent where the scenario has no such part.
struct Figures {
  double step_time = 0;     ///< [s]
  double tokens_per_s = 0;  ///< of a healthy step
  double mfu = 0;
  std::optional<double> ettr, goodput, wall_days, tokens;  ///< means over the trials
  std::optional<double> usd, usd_per_million_tokens;       ///< mean; of the mean usage
  bool fits = true;                                        ///< in memory
  std::string memory_warning;  ///< where a peak that fits leaves the allocator no room
  std::vector<training::Assumption> assumptions;  ///< of the step
  core::ByActivity<core::Seconds> breakdown{};    ///< of the step
  std::optional<campaign::Ledger> ledger{};       ///< mean over the trials [GPU s]
  std::optional<price::Bill> bill{};              ///< of the mean usage

  template <class V>
  void fields(V& v) const {
    v.figure("step_time_s", core::if_finite(step_time), "s", "`step.time_s` of `headway run`");
    v.figure("tokens_per_s", core::if_finite(tokens_per_s), "1/s", "`step.tokens_per_s`");
    v.figure("mfu", core::if_finite(mfu), "1", "`step.mfu`");
    v.figure("ettr", ettr, "1", "mean of `campaign.ettr`");
    v.figure("goodput", goodput, "1", "mean of `campaign.goodput`");
    v.figure("wall_days", wall_days, "d", "mean of `campaign.wall_days`");
    v.figure("tokens", tokens, "", "`campaign.tokens`");
    v.figure("total_usd", usd, "USD", "mean of `cost.total_usd`");
    v.figure("usd_per_million_tokens", usd_per_million_tokens, "USD",
             "bill of the mean usage / durable tokens x 10^6");
    v.part("fits", fits, "`memory.fits`");
  }
};

/// The difference of one figure, divided among the layers that differ.
struct Attribution {
  std::string key;                               ///< of the figure, as in the list of `Figures`
  std::vector<LayerContribution> contributions;  ///< one for each of `CompareReport::differing`
};

/// One mixed architecture: A with some layers of B.
struct Mixture {
  std::vector<Layer> from_b;
  Figures figures;

  template <class V>
  void fields(V& v) const {
    v.part("from_b", from_b, "layers of B; the others are A's");
    v.part("figures", figures, "the figures of the mixture");
  }
};

/// What one part of a whole (a step, the GPU time of a run, its bill) is on both sides.
struct PartDifference {
  std::string part;   ///< its key in the result of `headway run`
  std::string words;  ///< for people
  double a = 0, b = 0;
  double share = 0;  ///< (b - a) / the whole of A

  template <class V>
  void fields(V& v) const {
    v.part("part", part, "its key in the result of `headway run`");
    v.part("words", words, "the same for people");
    v.figure("a", a, "", "of the first file");
    v.figure("b", b, "", "of the second file");
    v.figure("difference", b - a, "", "b - a");
    v.figure("share", share, "1",
             "`difference` / the whole of the first file: those of all parts add up to B / A - 1");
  }
};

/// One of the two scenarios.
struct ComparedSide {
  ScenarioLabel label;
  Figures figures;
  std::string resolved;

  template <class V>
  void fields(V& v) const {
    label.fields(v);
    v.part("figures", figures, "what is compared; B - A is the difference, B / A the ratio");
    v.part("assumptions", figures.assumptions, "what its step rests on and no file says");
    v.part("resolved", resolved, "the scenario as it was read, all defaults written out, in YAML");
  }
};

/// What one layer contributes to the difference of each figure.
struct LayerShares {
  Layer layer = Layer::rest;
  std::vector<std::pair<std::string, LayerContribution>> figures;  ///< by the figure's key

  template <class V>
  void fields(V& v) const {
    v.part("layer", layer, "the layer that is switched");
    v.part("figures", figures, "its part of the difference of each figure that both have");
  }
};

struct CompareReport {
  std::string version;
  ScenarioLabel label_a, label_b;
  std::string resolved_a, resolved_b;  ///< as YAML
  Figures a, b;
  /// By part, the largest difference first; parts that neither has are left out. Empty where a side
  /// lacks the whole.
  std::vector<PartDifference> step_parts, ledger_parts, cost_parts;
  std::vector<config::FieldDifference> differences;
  std::vector<Layer> differing;           ///< layers in which A and B are not equal
  std::vector<Mixture> mixtures;          ///< all of them, if asked for
  std::vector<Attribution> attributions;  ///< of every figure that both have, if asked for
  std::int64_t step_simulations = 0;
  std::vector<std::string> warnings;

  /// The attributions by layer.
  [[nodiscard]] std::vector<LayerShares> shares() const;
  /// On which of them a step takes longer; of layers, which makes most of the difference.
  [[nodiscard]] std::string verdict() const;

  template <class V>
  void fields(V& v) const {
    v.part("version", version, "of the program");
    v.on_request("verdict", std::optional(verdict()),
                 "what it comes to: on which of them a step takes longer; with `--layers` which "
                 "layer makes most of the difference");
    v.part("a", ComparedSide{label_a, a, resolved_a}, "the first file");
    v.part("b", ComparedSide{label_b, b, resolved_b}, "the second file");
    v.figure("step_parts_s", step_parts, "s",
             "where the step differs: `step.breakdown_s` of both, the largest difference first");
    v.figure(
        "ledger_parts_gpu_s", ledger_parts, "GPU s",
        "where the GPU time of the run differs: `campaign.ledger_gpu_s` of both; empty where a "
        "side has no run");
    v.figure("cost_parts_usd", cost_parts, "USD",
             "where the bill of the mean usage differs: `cost` of both; empty where a side has no "
             "run or no prices");
    v.part("differences", differences,
           "the fields in which the two scenarios differ, defaults included; of parts with other "
           "names (a node, a model) the names");
    v.part("differing_layers", differing, "layers in which the two scenarios are not equal");
    v.part("layers", shares(), "with `--layers`: who makes the difference");
    v.part("mixtures", mixtures, "with `--layers`: A with the layers `from_b` of B");
    v.figure("step_simulations", step_simulations, "",
             "different steps that were simulated; equal ones once", core::non_negative);
    v.part("warnings", warnings, "what else to know");
  }
};

/// Two sides that are called alike are called by what differs too: ", with parallelism.tensor=2".
void name_apart(CompareReport& report);

struct CompareOptions {
  bool layers = false;  ///< divide the differences among the layers
  int threads = 0;
  bool fold = true;
  std::function<void(std::size_t done, std::size_t total)> progress;
  /// Told how far one prediction of them is, by several threads; may be empty.
  std::function<void(std::size_t done, std::size_t total)> count{};
};

/// Predicts both scenarios, and with `layers` every mixture of their layers; equal steps are
/// simulated once.
/// @throws core::Error if a scenario, or a mixture of both, breaks a rule
CompareReport compare(const config::LoadedScenario& a,
                      const config::LoadedScenario& b,
                      const CompareOptions& options);

}  // namespace headway::study
