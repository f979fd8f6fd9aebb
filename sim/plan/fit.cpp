#include "sim/plan/fit.h"

#include <algorithm>
#include <limits>

#include "sim/training/step/step.h"

namespace headway::plan {

Fit::Fit(const training::Scenario& scenario, const Shape& shape)
    : scenario_(scenario),
      shape_(shape),
      capacity_(scenario.cluster.node.gpu.memory * (1 - training::kMemoryHeadroom)),
      host_of_rank_(scenario.cluster.node.host_memory /
                    static_cast<double>(scenario.cluster.node.gpus)),
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

const std::vector<workload::StageMemory>& Fit::states(const ParallelismSpec& layout,
                                                      std::size_t state) {
  auto& known = states_[state];
  if (known.empty()) {
    known = workload::stage_states(scenario_.model, scenario_.training, layout, shape_.data);
  }
  return known;
}

std::optional<core::Bytes> Fit::excess(const ParallelismSpec& layout, std::size_t state) {
  const auto& held = states(layout, state);
  core::Bytes peak;
  for (std::size_t stage = 0; stage < held.size(); ++stage) {
    workload::StageMemory tensors = activations_[stage];
    tensors += held[stage];
    if (tensors.host > host_of_rank_) {
      return core::Bytes(std::numeric_limits<double>::infinity());
    }
    peak = std::max(peak, training::rank_memory(layout, shape_.data, tensors).total());
  }
  return peak <= capacity_ ? std::nullopt : std::optional(peak);
}

}  // namespace headway::plan
