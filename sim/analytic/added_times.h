// What a layout's step has beside the passes of its ranks: exchanges between sites, waits for the
// data rank with the most work.
#pragma once

#include "sim/analytic/analytic.h"
#include "sim/training/scenario.h"

namespace headway::analytic {

/// Data ranks that meet in every step: with local steps those of one site.
int synchronous(const training::Scenario& scenario, int data_parallel);

/// What exchanges between sites add to a step, by their closed form.
void add_exchanges(const training::Scenario& scenario,
                   const workload::ParallelismSpec& layout,
                   int data_parallel,
                   AnalyticStep& step);

/// What waits for the data rank with the most work add, by their closed form.
/// @param data_parallel  that meet in every step
void add_imbalance(const training::Scenario& scenario,
                   const workload::ParallelismSpec& layout,
                   int data_parallel,
                   int micro_batches,
                   AnalyticStep& step);

}  // namespace headway::analytic
