// Blocks of the step graph that know the model: decoder layer, embedding, head, each forward and
// backward.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

Block layer_forward(const BlockInput& input, const LayerKind& kind = {});
/// Recomputes first what `parallelism.recompute` says, unless only weight gradients are due.
Block layer_backward(const BlockInput& input,
                     const LayerKind& kind = {},
                     BackwardPart part = BackwardPart::whole);

/// What a multi-token prediction module does before its layer: norms of hidden state and of the
/// next token's embedding, joined by a matrix. Its layer is the model's last, its head the model's.
/// Source: DeepSeek-V3 report (arXiv 2412.19437), section 2.2.
Block prediction_forward(const BlockInput& input);
Block prediction_backward(const BlockInput& input);

Block embedding_forward(const BlockInput& input);
Block embedding_backward(const BlockInput& input);

/// Final norm and logits, of which a teacher's head has no more.
Block head_product(const BlockInput& input);
/// With the loss.
Block head_forward(const BlockInput& input);
Block head_backward(const BlockInput& input);

}  // namespace headway::workload
