#include "sim/analytic/known_costs.h"

#include <cstddef>

#include "sim/workload/memory/offload.h"

namespace headway::analytic {

using workload::ParallelismSpec;
using workload::PipelineOrder;
using workload::ScheduleKind;

namespace {

/// What a tier remembers at most; some kilobytes each. Source: round values, 200 MB together.
constexpr std::size_t kMostRemembered = 20'000;
constexpr std::size_t kMostOrders = 500;

template <class Remembered>
void forget_much(Remembered& map, std::size_t most) {
  if (map.size() >= most) {
    map.clear();
  }
}

}  // namespace

void KnownCosts::bound() {
  forget_much(ranks_, kMostRemembered);
  forget_much(data_, kMostRemembered);
  forget_much(ends_, kMostRemembered);
  forget_much(orders_, kMostOrders);
}

const RankCosts& KnownCosts::rank(const ParallelismSpec& layout, int data_parallel, bool splits) {
  if (layout.chunk_recompute.empty()) {
    return alike_rank(layout, data_parallel, splits);
  }
  ParallelismSpec other = layout;
  other.chunk_recompute.clear();
  const RankCosts& again = alike_rank(other, data_parallel, splits);
  other.recompute = workload::Recompute::none;
  other.recompute_parts.clear();
  join_costs(scenario_.model, layout, again, alike_rank(other, data_parallel, splits), joined_);
  return joined_;
}

/// Of a layout whose chunks recompute alike.
const RankCosts& KnownCosts::alike_rank(const ParallelismSpec& layout,
                                        int data_parallel,
                                        bool splits) {
  // Experts are spread over data-parallel ranks; nothing else of a pass depends on how many there
  // are, and of these only how groups lie.
  const bool experts = layout.expert * layout.expert_tensor > 1;
  const int groups = experts ? timer_.pass_groups(layout, data_parallel) : 0;
  const auto [place, fresh] = ranks_.try_emplace(
      {rank_key(scenario_.training.framework, layout, splits), groups, layout.pipeline > 1});
  RankCosts& costs = place->second;
  if (!fresh) {
    return costs;
  }
  if (workload::offloads_activations(layout.offload)) {
    ParallelismSpec other = layout;
    other.offload = workload::Offload::none;
    other.offload_layers = {};
    costs = alike_rank(other, data_parallel, splits);
    add_copies(scenario_, layout, timer_, costs);
  } else {
    costs = rank_costs(scenario_, layout, experts ? data_parallel : 1, splits, timer_);
  }
  return costs;
}

const DataCosts& KnownCosts::data(const ParallelismSpec& layout, int data_parallel) {
  const auto [place, fresh] = data_.try_emplace({data_key(layout), data_parallel, false});
  if (fresh) {
    place->second = data_costs(scenario_, layout, data_parallel, timer_);
  }
  return place->second;
}

const ChunkKinds& KnownCosts::kinds(const ParallelismSpec& layout, const DataCosts& data) {
  if (layout.recompute_period == 1 && layout.chunk_recompute.empty()) {
    return data.kinds;
  }
  tell_kinds(data.chunks, layout, kinds_);
  return kinds_;
}

const StepEnds& KnownCosts::ends(const ParallelismSpec& layout, int data_parallel) {
  const auto [place, fresh] = ends_.try_emplace({end_key(layout), data_parallel, false});
  if (fresh) {
    place->second = step_ends(scenario_, layout, data_parallel, timer_);
  }
  return place->second;
}

const PipelineOrder& KnownCosts::order(ScheduleKind schedule,
                                       const ParallelismSpec& layout,
                                       int micro_batches) {
  const OrderKey key{schedule, layout.pipeline, layout.virtual_stages, micro_batches};
  const auto found = orders_.find(key);
  if (found != orders_.end()) {
    return found->second;
  }
  return orders_.try_emplace(key, schedule, layout.pipeline, layout.virtual_stages, micro_batches)
      .first->second;
}

}  // namespace headway::analytic
