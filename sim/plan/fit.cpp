#include "sim/plan/fit.h"

#include <algorithm>

#include "sim/training/step/step.h"

namespace headway::plan {

std::optional<Lack> lack(const Fullest& f, double headroom) {
  const core::Bytes room = f.gpu * (1 - training::kMemoryHeadroom);
  const core::Bytes asked = f.gpu * (1 - headroom);
  if (f.peak > room) {
    return Lack{Memory::gpu, f.peak, room, f.kind};
  }
  if (f.host > f.host_of_rank) {
    return Lack{Memory::host, f.host, f.host_of_rank, f.kind};
  }
  return f.peak > asked ? std::optional(Lack{Memory::headroom, f.peak, asked, f.kind})
                        : std::nullopt;
}

Fit::Fit(const training::Scenario& scenario, const Shape& shape, double headroom)
    : scenario_(scenario),
      shape_(shape),
      headroom_(headroom),
      data_(scenario.training.local_steps && scenario.cluster.sites
                ? shape.data / scenario.cluster.sites->count
                : shape.data),
      states_(shape.states.size()) {}

void Fit::set_micro_batches(int micro_batches) {
  const auto& p = shape_.layout;
  const auto schedule = workload::effective_schedule(p);
  const int enough = workload::peak_micro_batches(schedule, p.pipeline, micro_batches);
  if (enough != micro_batches_) {
    schedule_ = workload::pipeline_schedule(schedule, p.pipeline, p.virtual_stages, enough);
    micro_batches_ = enough;
  }
}

void Fit::set_passes(const ParallelismSpec& layout) {
  activations_ =
      workload::stage_activations(scenario_.model, scenario_.training, layout, schedule_);
}

const std::vector<workload::StageStates>& Fit::states(const ParallelismSpec& layout,
                                                      std::size_t state) {
  auto& known = states_[state];
  if (known.empty()) {
    known = workload::stage_states(scenario_.model, scenario_.training, layout, data_);
  }
  return known;
}

/// Which stages are on which nodes depends on the order of the ranks alone.
const std::vector<training::StageRoom>& Fit::rooms(const ParallelismSpec& layout) {
  auto& known = rooms_[layout.rank_order == workload::RankOrder::pipeline_first ? 1 : 0];
  if (known.empty()) {
    known = training::room_of_stages(scenario_.cluster, layout, shape_.data);
  }
  return known;
}

std::optional<Lack> Fit::lack(const ParallelismSpec& layout, std::size_t state) {
  const auto& held = states(layout, state);
  const auto& has = rooms(layout);
  const double gpus = scenario_.cluster.node.gpus;
  Fullest f{{}, has.front().gpu, {}, has.front().host / gpus, has.front().kind};
  for (std::size_t stage = 0; stage < held.size(); ++stage) {
    const workload::StageMemory tensors = workload::at_peak(activations_[stage], held[stage]);
    const core::Bytes peak =
        training::rank_memory(scenario_.training.framework, layout, data_, tensors).total();
    if (peak / has[stage].gpu > f.peak / f.gpu) {
      f.peak = peak;
      f.gpu = has[stage].gpu;
      f.kind = has[stage].kind;
    }
    if (tensors.host / (has[stage].host / gpus) > f.host / f.host_of_rank) {
      f.host = tensors.host;
      f.host_of_rank = has[stage].host / gpus;
    }
  }
  return plan::lack(f, headroom_);
}

}  // namespace headway::plan
