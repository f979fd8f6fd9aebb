// What the tensors of a rank take of its GPU, with what is not theirs.
#pragma once

#include "sim/training/step/step_result.h"
#include "sim/workload/memory/memory.h"

namespace headway::training {

/// A rank's memory by kind: its tensors, the buffers of its communicators, and what the driver and
/// the allocator keep.
MemoryByKind rank_memory(const workload::FrameworkSpec& framework,
                         const workload::ParallelismSpec& parallelism,
                         int data_parallel,
                         const workload::StageMemory& tensors);

}  // namespace headway::training
