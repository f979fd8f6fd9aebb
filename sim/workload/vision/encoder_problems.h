// What an encoder of images cannot be combined with.
#pragma once

#include "sim/workload/spec.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// One sentence each; empty if nothing, and without an encoder and images.
Violations encoder_problems(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism);

}  // namespace headway::workload
