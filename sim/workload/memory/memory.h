// Bytes a rank of each pipeline stage needs, by kind, at the peak of the step.
#pragma once

#include <vector>

#include "sim/core/units.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Memory of one rank at the moment of its peak.
struct StageMemory {
  core::Bytes weights, gradients, optimizer, activations, logits, buffers;
  core::Bytes host;  ///< of this rank in host memory; not part of the total
  [[nodiscard]] core::Bytes total() const {
    return weights + gradients + optimizer + activations + logits + buffers;
  }
  bool operator==(const StageMemory&) const = default;
};

/// Activations one layer keeps from its forward to its backward, for one micro-batch on one rank.
/// Dropout masks are counted where the model has biases (GPT-3 and its time), as in Korthikanti et
/// al. 2022.
core::Bytes saved_per_layer(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism,
                            const LayerKind& kind = {});

/// Extra bytes alive while one layer runs backward: recomputed activations and gradients in flight.
core::Bytes backward_working_set(const ModelSpec& model,
                                 const TrainingSpec& training,
                                 const ParallelismSpec& parallelism,
                                 const LayerKind& kind = {});

/// Logits kept from the head's forward to its backward, for one micro-batch on one rank of the last
/// stage.
core::Bytes logits_bytes(const ModelSpec& model,
                         const TrainingSpec& training,
                         const ParallelismSpec& parallelism);

/// Memory of every stage, by liveness over its schedule.
std::vector<StageMemory> stage_memory(const ModelSpec& model,
                                      const TrainingSpec& training,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel,
                                      int micro_batches);

}  // namespace headway::workload
