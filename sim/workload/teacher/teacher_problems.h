// What a teacher and the rest of a run do not agree on, and what of it is refused.
#pragma once

#include "sim/workload/spec.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// What does not depend on how a model is cut into stages, one sentence each; nothing without a
/// teacher.
Violations teacher_problems(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism);

/// How a teacher that runs does not divide over the student's ranks, one sentence each.
Violations teacher_layout_problems(const TrainingSpec& training,
                                   const ParallelismSpec& parallelism);

}  // namespace headway::workload
