#include "sim/workload/memory/narrow_copies.h"

#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/memory/rank_parameters.h"

namespace headway::workload {

double narrow_copies(const ModelSpec& model,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism,
                     const RankShape& shape,
                     const StageLayout& layout,
                     int stage) {
  const bool passing =
      shape.scaling != Scaling::delayed && !training.framework.allocation.narrow_weights;
  if (!narrow(shape.linear) || passing || shards_weights(parallelism.sharding)) {
    return 0;  // sharded weights are cast layer by layer as they are gathered
  }
  double parameters = 0;
  for (int chunk = 0; chunk < layout.chunks(); ++chunk) {
    const ChunkLayout& here = layout.at(stage, chunk);
    for (const LayerRun& run : layer_runs(model, parallelism, here.first_layer, here.layers)) {
      if (!run.kind.sixteen_bit) {
        parameters += run.layers * layer_parameters_per_rank(model, parallelism, run.kind).total();
      }
    }
    parameters += here.head ? prediction_parameters_per_rank(model, parallelism).total() : 0.0;
  }
  const bool alone =
      training.framework.allocation.narrow_weights && operand_bytes(shape.linear) >= 1.0;
  return (2.0 * operand_bytes(shape.linear) - (alone ? shape.element : 0.0)) * parameters;
}

}  // namespace headway::workload
