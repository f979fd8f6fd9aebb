// Copies of weights in the format of narrow products.
#pragma once

#include "sim/workload/layout.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Narrow copies of the layers' weights of a rank of a stage, also transposed for the backward
/// products, less the 16-bit ones where the software holds none [B]. With other scales than delayed
/// none stays (AllocationSpec::narrow_weights). Layers that stay in 16 bits have none.
/// @param shape  of most layers
double narrow_copies(const ModelSpec& model,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism,
                     const RankShape& shape,
                     const StageLayout& layout,
                     int stage);

}  // namespace headway::workload
