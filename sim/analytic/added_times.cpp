#include "sim/analytic/added_times.h"

#include <algorithm>

#include "sim/training/imbalance/rank_imbalance.h"
#include "sim/training/sites/site_exchange.h"

namespace headway::analytic {

using training::Scenario;
using workload::ParallelismSpec;

int synchronous(const Scenario& s, int data_parallel) {
  const bool apart = s.training.local_steps && s.cluster.sites;
  return apart ? std::max(1, data_parallel / s.cluster.sites->count) : data_parallel;
}

void add_exchanges(const Scenario& s,
                   const ParallelismSpec& layout,
                   int data_parallel,
                   AnalyticStep& step) {
  if (!s.training.local_steps || !s.cluster.sites) {
    return;
  }
  const auto time = training::exchange_closed_form(s, layout, data_parallel);
  const auto share = training::exchange_share(*s.training.local_steps, time, step.time);
  step.update += share.kernels + share.waited;
  step.time += share.kernels + share.waited;
}

void add_imbalance(const Scenario& s,
                   const ParallelismSpec& layout,
                   int data_parallel,
                   int micro_batches,
                   AnalyticStep& step) {
  const core::Seconds wait = training::rank_imbalance(s, layout, data_parallel, micro_batches);
  step.imbalance += wait;
  step.time += wait;
}

}  // namespace headway::analytic
