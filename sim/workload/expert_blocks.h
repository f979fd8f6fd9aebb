// The mixture of experts of a layer: router, way to the experts and back, their grouped products,
// shared experts.
#pragma once

#include "sim/workload/block_writer.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/layer_blocks.h"

namespace headway::workload {

/// Linear layers of a mixture on one rank; the routed ones have one group for each local expert.
struct ExpertLinears {
  Linear router, in, out, shared_in, shared_out;
};
ExpertLinears expert_linears(const ModelSpec& model,
                             const RankShape& rank,
                             const ExpertShape& shape);

/// After the norm, up to where the residual is added.
void write_experts_forward(BlockWriter& writer, const BlockInput& input);

/// Its backward: the gradient of the output travels to the experts as tokens did, that of the input
/// comes back as their outputs did.
void write_experts_backward(BlockWriter& writer, const BlockInput& input, const BackwardMode& mode);

}  // namespace headway::workload
