// Bytes a rank of each pipeline stage needs, by kind, at the peak of the step.
#pragma once

#include <vector>

#include "sim/core/units.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Memory of one rank at the moment of its peak.
struct StageMemory {
  core::Bytes weights, gradients, optimizer, activations, logits, buffers;
  core::Bytes host;  ///< of this rank in host memory; not part of the total
  [[nodiscard]] core::Bytes total() const {
    return weights + gradients + optimizer + activations + logits + buffers;
  }
  StageMemory& operator+=(const StageMemory& other);
  bool operator==(const StageMemory&) const = default;
};

/// Memory of every stage, by liveness over its schedule.
std::vector<StageMemory> stage_memory(const ModelSpec& model,
                                      const TrainingSpec& training,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel,
                                      int micro_batches);

/// The part of it that does not depend on micro-batches and what backward recomputes: weights,
/// gradients, optimizer, and what sharded plans gather.
std::vector<StageMemory> stage_states(const ModelSpec& model,
                                      const TrainingSpec& training,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel);

/// The other part, which does not depend on sharding: activations, logits, messages.
/// @param schedule  of every stage
std::vector<StageMemory> stage_activations(const ModelSpec& model,
                                           const TrainingSpec& training,
                                           const ParallelismSpec& parallelism,
                                           const std::vector<StageSchedule>& schedule);

/// Micro-batches of a shorter step with the same peaks: schedules hold as much in their fifth round
/// of p micro-batches as in any later one; only GPipe holds all.
int peak_micro_batches(ScheduleKind schedule, int stages, int micro_batches);

}  // namespace headway::workload
