// The mixture of experts of a layer: router, way to the experts and back, their grouped products,
// shared experts.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/expert_shape.h"

namespace headway::workload {

/// Linear layers of a mixture on one rank; the routed ones have one group for each local expert. Of
/// latent experts: tokens' way to their width before the exchange and back after it, which each
/// tensor rank holds whole and applies to its own tokens (Megatron-Core: parallel_mode
/// "duplicated"); else empty.
struct ExpertLinears {
  Linear router, in, out, shared_in, shared_out, down, up;
};
ExpertLinears expert_linears(const ModelSpec& model,
                             const RankShape& rank,
                             const ExpertShape& shape,
                             const FrameworkSpec& framework);

/// The activation in the experts, and the bounds on its inputs where operators of their own draw
/// them.
/// @param output  bytes of its result
std::vector<core::Kernel> expert_activation(const BlockInput& input, double output, bool backward);

/// The exchange that brings tokens to their experts, where it runs beside the work of another
/// micro-batch (`expert_overlap`): what this rank computes meanwhile is another's, so it starts
/// with the block and is awaited where its tokens are needed. In the middle of many micro-batches a
/// block then takes as long as its computation or its exchanges, whichever is longer.
/// @returns the transfers in flight; none without overlap
std::vector<int> start_dispatch(BlockWriter& writer, const BlockInput& input);

/// After the norm, up to where the residual is added.
/// @param dispatch  from start_dispatch of this block
void write_experts_forward(BlockWriter& writer,
                           const BlockInput& input,
                           const std::vector<int>& dispatch);

/// Its backward: the gradient of the output travels to the experts as tokens did, that of the input
/// comes back as their outputs did.
void write_experts_backward(BlockWriter& writer, const BlockInput& input, const BackwardMode& mode);

}  // namespace headway::workload
