#include "sim/workload/blocks/block_input.h"

namespace headway::workload {

double mlp_output(const RankShape& shape) {
  return shape.element * static_cast<double>(shape.tokens * shape.ffn);
}

TensorRegion tensor_region(BlockWriter& writer, const BlockInput& input) {
  return {writer, input.shape, input.training.framework.tensor_overlap};
}

}  // namespace headway::workload
