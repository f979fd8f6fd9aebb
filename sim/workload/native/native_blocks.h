// Native sparse attention: its compression, and the kernels of its three branches.
#pragma once

#include <vector>

#include "sim/core/kernel.h"
#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/rank_shape.h"

namespace headway::workload {

/// Keys and values of blocks from those of their tokens; nothing in other models. Blocks that
/// overlap are rows of one product that begin before the last ends: none is copied. Backward adds
/// the gradients of a token's blocks up. Each key-value head has weights of its own, so that tensor
/// ranks divide them. Over context ranks each compresses the blocks of whole sequences: forward
/// after it gathered their keys and values, backward before it scatters their fp32 gradients.
void write_compression_forward(BlockWriter& writer, const BlockInput& input);
void write_compression_backward(BlockWriter& writer,
                                const BlockInput& input,
                                const BackwardMode& mode);

/// Over context ranks: keys and values of whole sequences, those of one head of keys at a time;
/// once more before anything of the layer's attention runs backward. Source:
/// mdy666/Scalable-Flash-Native-Sparse-Attention, flash_nsa/modules/megatron_level_nsa.py
/// (CPNSAFunction), 2025; it has one set of keys for all branches, here each branch has its own.
void write_native_gather(BlockWriter& writer, const BlockInput& input);

/// Bytes of gathered keys and values of one head of keys, and of their fp32 gradients.
double native_buffers(const RankShape& shape);

/// Core attention of a rank. With k the keys that a query meets in a branch (native_shape), a query
/// heads and g heads of keys, FLOP a token:
///     compressed blocks  2 k a (dk + dv), a flash kernel of M keys
///     block scores       2 k a dk: scores of compressed keys once more, summed over the heads that
///                        share a key; an fp32 number a block of l' tokens written
///     block choice       reads them, writes n numbers
///     chosen blocks      2 k a (dk + dv); each query fetches its k g (dk + dv) elements itself
///     window             2 k a (dk + dv)
///     branch gates       three outputs and gates read, their sum written
std::vector<core::Kernel> native_attention_forward(const RankShape& shape);

/// Its backward: 2 k a (3 dk + 2 dv) FLOP a branch; scores and choice have none. Of chosen blocks
/// one pass fetches keys and values again for the gradient of queries, another for each block the
/// queries, output gradients and statistics of those that chose it.
std::vector<core::Kernel> native_attention_backward(const RankShape& shape);

/// Bytes kept for the backward beside queries, keys, values and the sum of the outputs: compressed
/// keys and values and what is inside their MLPs, gates; where core attention is not made again
/// each branch's output and statistics and the choice.
double kept_by_native(const RankShape& shape, bool core_again);

/// Bytes alive while it runs: gradients of the branches' outputs and of compressed keys and values,
/// and forward the scores of all blocks.
double native_gradients(const RankShape& shape);

}  // namespace headway::workload
