// What adapters, frozen parts and the rest of a run do not agree on, and what of them is refused.
#pragma once

#include "sim/workload/spec.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// One sentence each; nothing where all of the model is trained.
Violations trained_problems(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism);

}  // namespace headway::workload
