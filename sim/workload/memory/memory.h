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
  core::Bytes pool;  ///< held by the allocator for one stream; not part of the total
  core::Bytes host;  ///< of this rank in host memory; not part of the total
  [[nodiscard]] core::Bytes total() const {
    return weights + gradients + optimizer + activations + logits + buffers;
  }
  bool operator==(const StageMemory&) const = default;
};

/// What a rank of a stage holds whichever micro-batch it is at: weights, gradients, optimizer and
/// buffers from first to last, and what is there for a while only.
struct StageStates {
  core::Bytes weights, gradients, optimizer, buffers;
  core::Bytes at_head;    ///< while the head computes its gradients
  core::Bytes at_layers;  ///< while the gradients of a layer are computed
  core::Bytes at_update;  ///< while matrices are updated, after the last backward
  core::Bytes pool;       ///< held by the allocator for one stream
  core::Bytes host;
};

/// Activations and logits at one moment.
struct LiveActivations {
  core::Bytes activations, logits;
  [[nodiscard]] core::Bytes total() const { return activations + logits; }
};

/// The most that micro-batches hold of a stage at its two kinds of moments, and its messages.
struct StageActivations {
  LiveActivations at_head;    ///< nothing where the stage has no head
  LiveActivations at_layers;  ///< while the gradients of a layer are computed
  core::Bytes buffers;
  core::Bytes host;
};

/// What micro-batches hold of a stage while it works through its schedule, one entry an item.
struct StageMoments {
  std::vector<StageActivations> during;  ///< the fullest moments of the item
  std::vector<LiveActivations> after;    ///< what is left when it has ended
};

/// Memory of every stage, by liveness over its schedule.
std::vector<StageMemory> stage_memory(const ModelSpec& model,
                                      const TrainingSpec& training,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel,
                                      int micro_batches);

/// The part of it that does not depend on micro-batches and what backward recomputes: weights,
/// gradients, optimizer, and what sharded plans gather.
std::vector<StageStates> stage_states(const ModelSpec& model,
                                      const TrainingSpec& training,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel);

/// The other part, which does not depend on sharding: activations, logits, messages.
/// @param schedule  of every stage
std::vector<StageActivations> stage_activations(const ModelSpec& model,
                                                const TrainingSpec& training,
                                                const ParallelismSpec& parallelism,
                                                const std::vector<StageSchedule>& schedule);

/// The same item by item: the fullest of all items is what `stage_activations` says.
std::vector<StageMoments> stage_moments(const ModelSpec& model,
                                        const TrainingSpec& training,
                                        const ParallelismSpec& parallelism,
                                        const std::vector<StageSchedule>& schedule);

/// Both parts at the moment when they take most together.
StageMemory at_peak(const StageActivations& activations, const StageStates& states);

/// Micro-batches of a shorter step with the same peaks: schedules hold as much in their fifth round
/// of p micro-batches as in any later one; only GPipe holds all.
int peak_micro_batches(ScheduleKind schedule, int stages, int micro_batches);

}  // namespace headway::workload
