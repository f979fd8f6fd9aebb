// The first half of a layer that has a mixer, alone or beside attention.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_writer.h"

namespace headway::workload {

/// From the norm's output to the half's, reduced: first matrix (its input gathered over tensor
/// ranks), convolution, scan, norm and gate, last matrix. What is compressed is so on each tensor
/// rank's tokens and gathered, as in latent attention.
///
/// Context ranks trade tokens for heads before the convolution and heads for tokens after the gate,
/// an all-to-all each way whatever `context_kind` is, so that each scans whole sequences with 1/c
/// of the heads. Source: NVIDIA/Megatron-LM, commit d98e8a64,
/// megatron/core/ssm/mamba_context_parallel.py and gated_delta_net/common.py, 2026.
void write_mixer_forward(BlockWriter& writer, const BlockInput& input);
void write_mixer_backward(BlockWriter& writer, const BlockInput& input, const BackwardMode& mode);

/// Attention and mixer side by side: both read one norm's output, gathered once, and their results
/// are added up before one reduction.
void write_hybrid_forward(BlockWriter& writer, const BlockInput& input);
/// @param again  core attention runs forward again
void write_hybrid_backward(BlockWriter& writer,
                           const BlockInput& input,
                           bool again,
                           const BackwardMode& mode);

}  // namespace headway::workload
