// Joins what a rank needs (workload) with what a GPU has (gpu).
#include "sim/gpu/memory.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/training/step/step.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/memory.h"

namespace headway::training {

namespace {

/// Process groups of more than one rank that a rank is in; each has its own communicator buffers.
int communicators(const CheckedScenario& checked) {
  const auto& p = checked.scenario().parallelism;
  return (p.tensor > 1 ? 1 : 0) + (p.pipeline > 1 ? 1 : 0) + (p.context > 1 ? 1 : 0) +
         (p.expert > 1 ? 2 : 0) + (p.expert_tensor > 1 ? 1 : 0) +
         (checked.data_parallel() * workload::copies_of_layers(p) > 1 ? 1 : 0);
}

}  // namespace

bool near_memory_limit(const MemoryResult& memory) {
  return memory.fits && memory.peak > memory.capacity * (1 - kMemoryHeadroom);
}

std::string memory_limit_warning(const MemoryResult& memory) {
  return fmt::format(
      "the peak is {:.1f} % of the GPU's memory: an allocator that finds no room frees and "
      "allocates again, and steps of such runs took 3 to 8 times as long; leave {:.0f} % free",
      100 * (memory.peak / memory.capacity), 100 * kMemoryHeadroom);
}

MemoryResult predict_memory(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  const auto& gpu = s.cluster.node.gpu;
  const auto stages = workload::stage_memory(s.model, s.training, s.parallelism,
                                             checked.data_parallel(), checked.micro_batches());
  MemoryResult result;
  result.capacity = gpu.memory;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const auto& tensors = stages[stage];
    const auto reserved = gpu::reserved_memory(communicators(checked), tensors.total());
    const MemoryByKind kinds{tensors.weights,
                             tensors.gradients,
                             tensors.optimizer,
                             tensors.activations,
                             tensors.logits,
                             tensors.buffers + reserved.collectives,
                             reserved.context + reserved.allocator};
    result.stage_peak.push_back(kinds.total());
    if (stage == 0 || kinds.total() > result.peak) {
      result.peak = kinds.total();
      result.peak_stage = static_cast<int>(stage);
      result.by_kind = kinds;
    }
  }
  for (const auto& tensors : stages) {
    result.host_peak =
        std::max(result.host_peak, tensors.host * static_cast<double>(s.cluster.node.gpus));
  }
  result.host_capacity = s.cluster.node.host_memory;
  result.fits = result.peak <= result.capacity && result.host_peak <= result.host_capacity;
  return result;
}

}  // namespace headway::training
