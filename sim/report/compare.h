// Two scenarios side by side, and which layer of the architecture makes the difference.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/fields.h"
#include "sim/report/run_report.h"
#include "sim/report/shapley.h"

namespace headway::report {

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
/// rest           everything else: model, recipe, GPUs, failure rates, prices.
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
};

/// One figure of the comparison: its name in JSON, its heading, how it is read.
struct FigureColumn {
  std::string_view key, heading;
  std::function<std::optional<double>(const Figures&)> read;
};
const std::vector<FigureColumn>& figure_columns();

/// The difference of one figure, divided among the layers that differ.
struct Attribution {
  std::string key;                          ///< as in `figure_columns`
  std::vector<Contribution> contributions;  ///< one for each of `CompareReport::differing`
};

/// One mixed architecture: A with some layers of B.
struct Mixture {
  std::vector<Layer> from_b;
  Figures figures;
};

struct CompareReport {
  std::string version;
  std::string name_a, name_b, digest_a, digest_b;
  Figures a, b;
  std::vector<Layer> differing;           ///< layers in which A and B are not equal
  std::vector<Mixture> mixtures;          ///< all of them, if asked for
  std::vector<Attribution> attributions;  ///< of every figure that both have, if asked for
  std::int64_t step_simulations = 0;
  std::vector<std::string> warnings;
};

struct CompareOptions {
  bool layers = false;  ///< divide the differences among the layers
  int threads = 0;
  bool fold = true;
  std::function<void(std::size_t done, std::size_t total)> progress;
};

/// Predicts both scenarios, and with `layers` every mixture of their layers; equal steps are
/// simulated once.
/// @throws core::Error if a scenario, or a mixture of both, breaks a rule
CompareReport compare(const config::LoadedScenario& a,
                      const config::LoadedScenario& b,
                      const CompareOptions& options);

}  // namespace headway::report
