#include "sim/workload/memory/outer_state.h"

#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/memory/rank_parameters.h"

namespace headway::workload {

double exchanged_values(const ModelSpec& model,
                        const ParallelismSpec& parallelism,
                        const StageLayout& layout,
                        int stage,
                        int data_parallel) {
  const RankParameters held = stage_parameters_per_rank(model, parallelism, layout, stage);
  const DataRanks ranks = data_ranks(parallelism, data_parallel);
  return held.shared / ranks.shared + held.experts / ranks.experts;
}

}  // namespace headway::workload
