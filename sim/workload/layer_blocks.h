// Blocks of the step graph that know the model: decoder layer, embedding, head, each forward and
// backward.
#pragma once

#include "sim/workload/block_writer.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// What the blocks of one rank are made from.
struct BlockInput {
  const ModelSpec& model;
  const TrainingSpec& training;
  const ParallelismSpec& parallelism;
  RankShape shape;
};

Block layer_forward(const BlockInput& input);
/// Recomputes first what `parallelism.recompute` says, unless only weight gradients are due.
Block layer_backward(const BlockInput& input, BackwardPart part = BackwardPart::whole);

Block embedding_forward(const BlockInput& input);
Block embedding_backward(const BlockInput& input);

/// Final norm, logits and loss.
Block head_forward(const BlockInput& input);
Block head_backward(const BlockInput& input);

}  // namespace headway::workload
