#include "sim/workload/blocks/block_input.h"

namespace headway::workload {

BlockInput block_input(const ModelSpec& model,
                       const TrainingSpec& training,
                       const ParallelismSpec& parallelism,
                       int expert_domains) {
  BlockInput input{model, training, parallelism, rank_shape(model, training, parallelism), {}};
  if (model.moe) {
    input.experts = expert_shape(model, training, parallelism, input.shape, expert_domains);
  }
  return input;
}

double mlp_output(const RankShape& shape) {
  return shape.element * static_cast<double>(shape.tokens * shape.ffn);
}

TensorRegion tensor_region(BlockWriter& writer, const BlockInput& input) {
  return {writer, input.shape, input.training.framework.tensor_overlap};
}

}  // namespace headway::workload
