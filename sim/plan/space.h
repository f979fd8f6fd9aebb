// The layouts that a search looks at: which dimensions it varies, and over which values.
//
// A layout is a shape (who computes what, when), a cut of the batch, and two choices that do not
// depend on each other: what its passes do again or move away, and who keeps which weights. All
// combinations are numbered, so that any of them can be drawn without listing them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/analytic/analytic.h"
#include "sim/core/result_fields.h"
#include "sim/training/scenario.h"

namespace headway::plan {

/// Most model chunks of a stage that are tried, beside those that divide its layers, unless others
/// are asked for. Published runs of GPT-3 have 12.
inline constexpr int kMostChunks = 8;
/// Fewest tokens of a sequence that a context rank is given unless more ranks are asked for. Below,
/// attention over so few queries no longer hides what it exchanges. Source: round value.
inline constexpr int kFewestTokens = 1024;
/// Most layers that a step runs through (micro-batches x layers): some seconds a layout. Source:
/// measured, tens of microseconds a layer.
inline constexpr std::int64_t kMostLayers = std::int64_t{1} << 18U;
/// Whether a step runs through more.
constexpr bool too_long(std::int64_t micro_batches, const workload::ModelSpec& model) {
  return micro_batches * model.layers > kMostLayers;
}
/// Most GPUs that a search simulates. Source: measured, 10 microseconds a GPU.
inline constexpr std::int64_t kMostGpus = std::int64_t{1} << 20U;
/// Most layouts of a space that is searched: DeepSeek-V3 on 2,048 GPUs has 1.2 billion with every
/// schedule, which take two minutes of a core, and 125 million with that of its framework.
/// Source: measured, rounded up.
inline constexpr std::int64_t kMostLayouts = 1'500'000'000;
/// Most shapes x layers: each shape is asked for its bound, which runs over the layers. DeepSeek-V3
/// with every schedule has 68,000 x 61. Source: measured, rounded up.
inline constexpr std::int64_t kMostShapeLayers = 6'000'000;

using workload::ParallelismSpec;

/// How a step's sequences are cut.
struct Cut {
  int micro_batch = 1;
  bool sequence = true;
};

/// What the passes of a stage do: recompute and copy, and where their neighbours are.
struct PassChoice {
  workload::Recompute recompute = workload::Recompute::none;
  std::vector<workload::RecomputePart> parts;
  int period = 1, layers = 1;
  bool offload = false;  ///< of activations
  workload::RankOrder order = workload::RankOrder::data_first;
  void apply(ParallelismSpec& layout) const;
};

/// Who keeps weights, gradients and optimizer.
struct StateChoice {
  workload::Sharding sharding = workload::Sharding::zero0;
  int group = 0;
  bool reshard = true;
  bool offload = false;  ///< of the optimizer
  void apply(ParallelismSpec& layout) const;
};

/// A shape with its choices. `layout` has degrees, schedule and stages; all else is neutral: no
/// recompute, no offload, nothing sharded.
struct Shape {
  ParallelismSpec layout;
  int data = 1;
  std::vector<StateChoice> states;
};

/// A field of the scenario and its value, or the values that are tried.
struct SearchedField {
  std::string key;  ///< dotted path
  std::string values;
  bool operator==(const SearchedField&) const = default;

  template <class V>
  void fields(V& v) const {
    v.part("key", key, "dotted path of the field");
    v.part("values", values, "what was tried, or what it has");
  }
};

/// What a search varies and what it holds as the scenario has it: both are said beside its result.
struct Searched {
  std::vector<SearchedField> varied, held;
  std::vector<SearchedField> unused;  ///< values asked for that no layout has
};

/// The layouts of one cluster, model and recipe.
class Space {
 public:
  /// @param scenario  its `search` names what is varied; what that leaves open is varied as far as
  ///                  the machine and the model go
  explicit Space(const training::Scenario& scenario);

  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] const std::vector<Cut>& cuts(const Shape& shape) const;
  [[nodiscard]] const std::vector<PassChoice>& passes(const Shape& shape) const;
  [[nodiscard]] std::int64_t layouts(const Shape& shape) const;
  /// Of all shapes.
  [[nodiscard]] std::int64_t layouts() const { return first_.back(); }
  /// The number that the first layout of a shape has among those of all.
  [[nodiscard]] std::int64_t first(std::size_t shape) const { return first_[shape]; }
  /// The shape of layout `number` of all, and the place of its choice of states.
  struct Place {
    const Shape* shape = nullptr;
    std::size_t state = 0;
  };
  [[nodiscard]] Place place(std::int64_t number) const;
  /// Its choice of passes.
  [[nodiscard]] const PassChoice& passes_of(std::int64_t number) const;
  /// Number `number` of all.
  [[nodiscard]] ParallelismSpec layout(std::int64_t number) const;
  /// Number `number` of a shape's layouts: cut by cut, pass by pass, state by state.
  [[nodiscard]] ParallelismSpec layout(const Shape& shape, std::int64_t number) const;
  [[nodiscard]] ParallelismSpec layout(const Shape& shape,
                                       const Cut& cut,
                                       const PassChoice& pass,
                                       const StateChoice& state) const;

  /// Whether recompute is open, so that layouts may recompute fewer layers than a choice of passes
  /// says.
  [[nodiscard]] bool trims_recompute() const;
  /// Whether layouts with these passes that do not fit are tried with as few recomputed layers as
  /// let them: those that recompute and copy nothing, where full recompute is varied.
  [[nodiscard]] bool tries_fewest(const PassChoice& pass) const;

  /// Whether what both choices send to host memory is asked for together.
  [[nodiscard]] bool asked(const PassChoice& pass, const StateChoice& state) const;

 private:
  [[nodiscard]] bool varies(training::SearchAxis axis) const;
  template <class T>
  std::vector<T> choose(training::SearchAxis axis,
                        const std::vector<T>& asked,
                        const T& own,
                        std::vector<T> all) const;
  void add_contexts(int tensor);
  void add_pipelines(ParallelismSpec layout);
  void add_experts(ParallelismSpec layout, int data);
  void add_schedules(const ParallelismSpec& layout, int data);
  void add_stages(ParallelismSpec layout, int data);
  void add_shape(const ParallelismSpec& layout, int data);
  void add_proportions(ParallelismSpec layout, int data);
  [[nodiscard]] int replica_batch(int data) const;
  void add_cuts(const Shape& shape);
  void list_passes();
  std::vector<StateChoice> states(const ParallelismSpec& layout, int data) const;
  std::vector<int> group_sizes(const ParallelismSpec& layout, int data) const;

  const training::Scenario& scenario_;
  std::int64_t gpus_ = 0;
  std::unique_ptr<analytic::AnalyticTier> tier_;  ///< where GPUs are of several kinds
  std::vector<Shape> shapes_;
  /// By the sequences of a replica, with tensor ranks and without.
  std::map<std::pair<int, bool>, std::vector<Cut>> cuts_;
  std::vector<PassChoice> passes_, unordered_;  ///< with orders of ranks, and with one
  std::vector<std::int64_t> first_;             ///< by shape, and the number of all layouts
};

/// Degrees, micro-batch, schedule, sharding and recompute of a layout whose `data` is known.
std::string layout_text(const ParallelismSpec& layout);

/// Every field of `parallelism` is in one of the lists; of the rest of the scenario those that
/// searches by hand vary most often.
/// @param nodes  cluster sizes that are looked at; empty: the scenario's
Searched searched(const training::Scenario& scenario, const std::vector<int>& nodes);

/// Values that `search` lists, and degrees that it holds, that no layout of the space has.
std::vector<SearchedField> unused_values(const training::Scenario& scenario, const Space& space);

/// Whether a layout has a value that `search` lists others instead of, of a field that matters to
/// it.
bool outside(const training::SearchSpec& search, const ParallelismSpec& layout);

/// Whether hsdp is tried over sizes of its groups: where they are varied, or the sharding is and
/// the scenario has no size to hold.
bool varies_groups(const training::Scenario& scenario);

/// Whether `search` leaves this field of `parallelism` to the search.
bool varies(const training::SearchSpec& search, training::SearchAxis axis);

}  // namespace headway::plan
