// What a step loses where a stage needs more than the memory of its GPU.
#pragma once

#include "sim/training/check.h"
#include "sim/workload/step_graph.h"

namespace headway::training {

/// Begins each pass of the stages that do not fit with a wait of `allocation.retry`: an allocator
/// that finds no room gives what no tensor has back to the driver and asks for it again. Changes
/// nothing where all stages fit.
void add_retries(const CheckedScenario& checked, workload::StepGraph& graph);

}  // namespace headway::training
