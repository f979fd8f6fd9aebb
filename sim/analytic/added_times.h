// What a layout's step has beside the passes of its ranks: exchanges between sites, waits for the
// data rank with the most work.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "sim/analytic/analytic.h"
#include "sim/analytic/layout_key.h"
#include "sim/training/imbalance/rank_imbalance.h"
#include "sim/training/scenario.h"

namespace headway::analytic {

/// Data ranks that meet in every step: with local steps those of one site.
int synchronous(const training::Scenario& scenario, int data_parallel);

/// What exchanges between sites add to a step, by their closed form.
void add_exchanges(const training::Scenario& scenario,
                   const workload::ParallelismSpec& layout,
                   int data_parallel,
                   AnalyticStep& step);

/// What waits for the data rank with the most work add, by their closed form; remembers what
/// layouts share.
class RankWaits {
 public:
  /// @param data_parallel  that meet in every step
  void add(const training::Scenario& scenario,
           const workload::ParallelismSpec& layout,
           int data_parallel,
           int micro_batches,
           AnalyticStep& step);

 private:
  // Looked up only, never iterated.
  std::unordered_map<LayoutKey, training::MicroBatchSpread, KeyHash> spreads_;
  std::map<std::pair<std::int64_t, std::int64_t>, training::WaitFactors> factors_;
};

}  // namespace headway::analytic
