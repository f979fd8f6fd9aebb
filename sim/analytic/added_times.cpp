#include "sim/analytic/added_times.h"

#include <algorithm>

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

namespace {

/// What a micro-batch's deviation does not depend on is the same for all.
LayoutKey spread_key(const ParallelismSpec& layout) {
  LayoutKey key{layout, 1, false};
  key.layout.data = {};
  key.layout.rank_order = workload::RankOrder::data_first;
  key.layout.offload = workload::Offload::none;
  key.layout.offload_layers = {};
  return key;
}

/// Entries at most, of half a kilobyte. Source: round value, as the tier's other memories.
constexpr std::size_t kMostSpreads = 20'000;

}  // namespace

void RankWaits::add(const Scenario& s,
                    const ParallelismSpec& layout,
                    int data_parallel,
                    int micro_batches,
                    AnalyticStep& step) {
  if (data_parallel < 2 || !training::ranks_differ(s)) {
    return;
  }
  if (spreads_.size() >= kMostSpreads) {
    spreads_.clear();
  }
  const auto [spread, fresh] = spreads_.try_emplace(spread_key(layout));
  if (fresh) {
    spread->second = training::micro_batch_spread(s, spread->first.layout);
  }
  const training::RankMeetings meetings = training::rank_meetings(s, layout, data_parallel);
  const auto [factors, first] = factors_.try_emplace({meetings.ranks, meetings.group});
  if (first) {
    factors->second = training::wait_factors(meetings);
  }
  const core::Seconds wait = training::expected_wait(
      factors->second, micro_batches,
      training::longest_wait(factors->second, micro_batches, spread->second));
  step.imbalance += wait;
  step.time += wait;
}

}  // namespace headway::analytic
