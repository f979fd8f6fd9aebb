// Joins what a rank needs (workload) with what a GPU has (gpu).
#pragma once

#include "sim/training/check.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// Process groups of more than one rank that a rank is in; each has its own communicator buffers.
int communicators(const CheckedScenario& checked);

// predict_memory(checked) is declared in step.h.

}  // namespace headway::training
