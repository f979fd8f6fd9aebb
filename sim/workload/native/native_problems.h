// What native sparse attention does not go with.
#pragma once

#include "sim/workload/spec.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// One sentence each. That attention has to be fused is another rule's.
Violations native_problems(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism);

}  // namespace headway::workload
