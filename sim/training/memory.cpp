// Joins what a rank needs (workload) with what a GPU has (gpu).
#include "sim/training/memory.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/gpu/memory.h"
#include "sim/training/refusals.h"
#include "sim/training/step/step.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/layout.h"

namespace headway::training {

namespace {

/// Process groups of more than one rank that a rank is in; each has its own communicator buffers.
int communicators(const workload::ParallelismSpec& p, int data_parallel) {
  return (p.tensor > 1 ? 1 : 0) + (p.pipeline > 1 ? 1 : 0) + (p.context > 1 ? 1 : 0) +
         (p.expert > 1 ? 2 : 0) + (p.expert_tensor > 1 ? 1 : 0) +
         (data_parallel * workload::copies_of_layers(p) > 1 ? 1 : 0);
}

/// Of a step that is simulated with the retries of an allocator that finds no room.
std::string retry_warning(core::Seconds retry, const MemoryResult& memory) {
  using namespace core::literals;
  return fmt::format(
      "stage {} needs {:.1f} of {:.1f} GiB: each of its passes is simulated with {:g} s in which "
      "the "
      "allocator frees and allocates again (training.framework.allocation.retry)",
      memory.peak_stage, memory.peak / 1_GiB, memory.capacity / 1_GiB, retry.si());
}

}  // namespace

MemoryByKind rank_memory(const workload::FrameworkSpec& framework,
                         const workload::ParallelismSpec& parallelism,
                         int data_parallel,
                         const workload::StageMemory& tensors) {
  const auto reserved = gpu::reserved_memory(communicators(parallelism, data_parallel),
                                             tensors.total(), framework.allocation.slack);
  return {tensors.weights,
          tensors.gradients,
          tensors.optimizer,
          tensors.activations,
          tensors.logits,
          tensors.buffers + reserved.collectives,
          reserved.context + reserved.allocator + tensors.pool};
}

bool near_memory_limit(const MemoryResult& memory) {
  return memory.fits && memory.peak > memory.capacity * (1 - kMemoryHeadroom);
}

std::string memory_limit_warning(const MemoryResult& memory) {
  return fmt::format(
      "the peak is {:.1f} % of the GPU's memory: an allocator that finds no room frees and "
      "allocates again, and steps of such runs took 3 to 8 times as long; leave {:.0f} % free",
      100 * (memory.peak / memory.capacity), 100 * kMemoryHeadroom);
}

std::vector<std::string> memory_warnings(const Scenario& scenario, const MemoryResult& memory) {
  const core::Seconds retry = scenario.training.framework.allocation.retry;
  std::vector<std::string> warnings;
  if (retry > core::Seconds(0) && memory.peak > memory.capacity) {
    warnings.push_back(retry_warning(retry, memory));
  }
  if (near_memory_limit(memory)) {
    warnings.push_back(memory_limit_warning(memory));
  }
  return warnings;
}

std::vector<std::string> software_warnings(const Scenario& scenario) {
  using workload::Recompute;
  const workload::ParallelismSpec& p = scenario.parallelism;
  const workload::FrameworkSpec& framework = scenario.training.framework;
  const workload::RecomputeAbilitySpec& can = framework.recomputes;
  std::vector<std::string> warnings;
  auto parts = p.recompute_parts;
  if (p.recompute == Recompute::selective && parts.empty()) {
    parts = {workload::RecomputePart::core_attention};
  }
  const bool experts = scenario.model.moe.has_value();
  for (const auto part : parts) {
    if (!can.has(part, experts)) {
      warnings.push_back(fmt::format(
          "{} does not recompute '{}' by itself{}: simulated as if it did "
          "(training.framework.recomputes)",
          framework.name, core::to_word(part), can.has(part, true) ? " without experts" : ""));
    }
  }
  const bool by_chunk = !p.chunk_recompute.empty() &&
                        (!can.has_fewest() ||
                         (can.layers == workload::RecomputeLayers::alike &&
                          (p.recompute == Recompute::selective || !workload::recomputes_alike(p))));
  if (by_chunk || !can.has_period(p.recompute_period, p.recompute_layers)) {
    warnings.push_back(fmt::format(
        "{} cannot recompute {}: simulated as if it could (training.framework.recomputes.layers: "
        "{})",
        framework.name, by_chunk ? "other numbers of layers in each chunk" : "these of its layers",
        core::to_word(can.layers)));
  }
  if (const auto refused = refusal(framework, scenario)) {
    warnings.push_back(fmt::format("{}: simulated as if it did", refused->text));
  }
  return warnings;
}

namespace {

std::vector<workload::StageMemory> tensors_of_stages(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  return workload::stage_memory(s.model, s.training, s.parallelism, checked.synchronous_data(),
                                checked.micro_batches());
}

MemoryByKind by_kind(const CheckedScenario& checked, const workload::StageMemory& tensors) {
  const Scenario& s = checked.scenario();
  return rank_memory(s.training.framework, s.parallelism, checked.synchronous_data(), tensors);
}

}  // namespace

std::vector<MemoryByKind> memory_of_stages(const CheckedScenario& checked) {
  std::vector<MemoryByKind> stages;
  for (const auto& tensors : tensors_of_stages(checked)) {
    stages.push_back(by_kind(checked, tensors));
  }
  return stages;
}

MemoryResult predict_memory(const CheckedScenario& checked) {
  const auto& cluster = checked.scenario().cluster;
  const auto rooms =
      room_of_stages(cluster, checked.scenario().parallelism, checked.data_parallel());
  const auto& allocator = checked.scenario().training.framework.allocation;
  MemoryResult result;
  for (const auto& tensors : tensors_of_stages(checked)) {
    const std::size_t stage = result.stage_peak.size();
    const StageRoom& room = rooms[stage];
    const MemoryByKind kinds = by_kind(checked, tensors);
    const core::Bytes host = tensors.host * static_cast<double>(cluster.node.gpus);
    result.stage_peak.push_back(kinds.total());
    result.stage_allocated.push_back(tensors.total());
    result.stage_reserved.push_back(tensors.pool + tensors.total() * (1 + allocator.slack));
    if (stage == 0 || kinds.total() / room.gpu > result.peak / result.capacity) {
      result.peak = kinds.total();
      result.capacity = room.gpu;
      result.peak_stage = static_cast<int>(stage);
      result.by_kind = kinds;
      result.allocated = result.stage_allocated.back();
      result.reserved = result.stage_reserved.back();
    }
    if (stage == 0 || host / room.host > result.host_peak / result.host_capacity) {
      result.host_peak = host;
      result.host_capacity = room.host;
    }
  }
  result.fits = result.peak <= result.capacity && result.host_peak <= result.host_capacity;
  return result;
}

}  // namespace headway::training
