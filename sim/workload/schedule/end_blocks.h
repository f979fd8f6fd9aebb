// The block that ends a stage's step.
#pragma once

#include <vector>

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/layout.h"

namespace headway::workload {

/// The last block of a stage's step: what is left of the gradients' reduction, their norm, the
/// optimizer.
Block end_block(const BlockInput& input,
                const StageLayout& layout,
                const DataRanks& ranks,
                int stage);

/// Those of all stages. The specs must break no rule.
std::vector<Block> end_blocks(const ModelSpec& model,
                              const TrainingSpec& training,
                              const ParallelismSpec& parallelism,
                              int data_parallel);

}  // namespace headway::workload
