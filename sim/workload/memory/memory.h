// Bytes a rank of each pipeline stage needs, by kind, at the peak of the step.
#pragma once

#include <vector>

#include "sim/core/units.h"
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

/// Memory of every stage, by liveness over its schedule.
std::vector<StageMemory> stage_memory(const ModelSpec& model,
                                      const TrainingSpec& training,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel,
                                      int micro_batches);

}  // namespace headway::workload
