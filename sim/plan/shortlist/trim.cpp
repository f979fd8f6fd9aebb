#include "sim/plan/shortlist/trim.h"

#include <algorithm>

#include "sim/analytic/analytic.h"
#include "sim/plan/shortlist/fit.h"

namespace headway::plan {

namespace {

bool all_layers_recompute(const ParallelismSpec& layout) {
  return layout.recompute != workload::Recompute::none && layout.recompute_period == 1 &&
         layout.chunk_recompute.empty() && !workload::offloads_activations(layout.offload);
}

/// Whether some layer recomputes; where none has to, the layout that says so is in the space.
bool some_recompute(const ParallelismSpec& layout) {
  return std::any_of(layout.chunk_recompute.begin(), layout.chunk_recompute.end(),
                     [](int layers) { return layers > 0; });
}

}  // namespace

void trim_recompute(const training::Scenario& scenario,
                    const Space& space,
                    double headroom,
                    std::vector<Estimate>& layouts) {
  analytic::AnalyticTier tier(scenario);
  for (Estimate& estimate : layouts) {
    if (!all_layers_recompute(estimate.layout)) {
      continue;
    }
    const auto [shape, state] = space.place(estimate.number);
    Fit fit(scenario, *shape, headroom);
    fit.set_micro_batches(estimate.micro_batches);
    const auto trimmed = fit.fewest_recomputed(estimate.layout, state);
    if (!trimmed || !some_recompute(*trimmed)) {
      continue;
    }
    const auto time = tier.evaluate(*trimmed, shape->data, estimate.micro_batches).time;
    if (time <= estimate.time) {
      estimate.time = time;
      estimate.layout = *trimmed;
    }
  }
  std::stable_sort(layouts.begin(), layouts.end(),
                   [](const Estimate& a, const Estimate& b) { return a.time < b.time; });
}

}  // namespace headway::plan
