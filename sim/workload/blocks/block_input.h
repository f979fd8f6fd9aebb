// What the blocks of one rank are made from.
#pragma once

#include <optional>

#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"
#include "sim/workload/trained/trained_layers.h"

namespace headway::workload {

/// What the blocks of one rank are made from.
struct BlockInput {
  const ModelSpec& model;
  const TrainingSpec& training;
  const ParallelismSpec& parallelism;
  RankShape shape;
  std::optional<ExpertShape> experts;     ///< where the model is a mixture
  Learning learning = Learning::weights;  ///< of the layer at hand
};

/// @param expert_domains  as of build_step_graph
BlockInput block_input(const ModelSpec& model,
                       const TrainingSpec& training,
                       const ParallelismSpec& parallelism,
                       int expert_domains);

/// Bytes of the output of the MLP's activation.
double mlp_output(const RankShape& shape);
/// The work of a block that the tensor group shares.
TensorRegion tensor_region(BlockWriter& writer, const BlockInput& input);

}  // namespace headway::workload
