#include "sim/plan/fit.h"

#include <algorithm>

#include "sim/training/step/step.h"

namespace headway::plan {

std::optional<Lack> lack(core::Bytes peak,
                         core::Bytes host,
                         const training::NodeSpec& node,
                         double headroom) {
  const core::Bytes room = node.gpu.memory * (1 - training::kMemoryHeadroom);
  const core::Bytes asked = node.gpu.memory * (1 - headroom);
  const core::Bytes host_of_rank = node.host_memory / static_cast<double>(node.gpus);
  if (peak > room) {
    return Lack{Memory::gpu, peak, room};
  }
  if (host > host_of_rank) {
    return Lack{Memory::host, host, host_of_rank};
  }
  return peak > asked ? std::optional(Lack{Memory::headroom, peak, asked}) : std::nullopt;
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

std::optional<Lack> Fit::lack(const ParallelismSpec& layout, std::size_t state) {
  const auto& held = states(layout, state);
  core::Bytes peak, host;
  for (std::size_t stage = 0; stage < held.size(); ++stage) {
    const workload::StageMemory tensors = workload::at_peak(activations_[stage], held[stage]);
    host = std::max(host, tensors.host);
    peak = std::max(
        peak, training::rank_memory(scenario_.training.framework, layout, data_, tensors).total());
  }
  return plan::lack(peak, host, scenario_.cluster.node, headroom_);
}

}  // namespace headway::plan
