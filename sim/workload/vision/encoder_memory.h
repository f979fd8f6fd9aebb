// What an encoder keeps from its forward to its backward, and holds while it runs.
#pragma once

#include "sim/workload/vision/encoder.h"

namespace headway::workload {

/// Of one micro-batch on a rank of the first stage [B].
struct EncoderMemory {
  double kept = 0;      ///< from forward to backward: what gradients of trained parts need
  double forward = 0;   ///< the most that is alive in one of its layers beside that, forward
  double backward = 0;  ///< the same, backward
};

/// Layers as decoder layers keep (saved_per_layer); patches their pixels; projectors the norm's
/// input and, operands of their products, T j + 2 T i. Parts that are not trained keep nothing.
/// Nothing without an encoder.
EncoderMemory encoder_memory(const ModelSpec& model,
                             const TrainingSpec& training,
                             const ParallelismSpec& parallelism);

}  // namespace headway::workload
