// Core attention of a layer, with the exchange of keys and values where a sequence is divided over
// context-parallel ranks.
#pragma once

#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Core attention of one layer, forward: queries, keys and values of this rank's tokens in, its
/// output out. A rank has the i-th and the i-th last of 2c chunks of each sequence, so that all
/// execute 1/c of the causal work.
///     ring: c blocks of keys, the next on its way while attention works on the present; each block
///     makes (s/c)^2 / 2 pairs of queries and keys. With a window only the blocks that any rank
///     needs, each sent straight to who needs it next (`ring_steps`)
///     all-gather: gathers keys and values, then one kernel of s/c queries and s keys; native
///     sparse attention has gathered them before it (write_native_gather)
///     all-to-all: trades the sequence's parts for heads (queries, keys, values), attends whole
///     sequences with heads/c heads, trades back (output)
/// Sources: Liu et al. 2023 (ring attention) with Megatron-Core's zig-zag chunks; The Llama 3 Herd
/// of Models 2024, section 3.3.2 (all-gather); Jacobs et al. 2023 (DeepSpeed-Ulysses).
void write_core_attention_forward(BlockWriter& writer,
                                  const RankShape& shape,
                                  const FrameworkSpec& framework);

/// Its backward.
///     ring: keys and values go round again, the gradient of each block follows it home: 2 (c-1)
///     blocks, each beside the attention of a block
///     all-gather: gathers keys and values again, reduce-scatters their gradients; compressed keys
///     of sparse attention stay gathered
///     all-to-all: mirrors the forward (the gradient of the output in, three gradients out)
void write_core_attention_backward(BlockWriter& writer,
                                   const RankShape& shape,
                                   const FrameworkSpec& framework);

/// Keys and values of this rank's tokens, 16-bit: what one step of the ring passes on.
core::Bytes key_value_block(const RankShape& shape);

/// What all-gather takes of this rank's tokens: keys and values, or the compressed keys of sparse
/// attention, of which the values are a part. Source: NVIDIA/Megatron-LM,
/// experimental_attention_variant/dsa.py (cp_comm_type allgather), absorbed_mla.py, 2026.
core::Bytes gathered_block(const RankShape& shape);

/// Attention of this rank's queries to the keys of whole sequences.
AttentionShape gathered_attention(const RankShape& shape);

/// What all-to-all sends for keys and for values: shared heads are copied where there are fewer
/// than context ranks.
core::Bytes exchanged_keys(const RankShape& shape);
core::Bytes exchanged_values(const RankShape& shape);

}  // namespace headway::workload
