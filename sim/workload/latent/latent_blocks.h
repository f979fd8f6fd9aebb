// Latent attention: how queries, keys and values are compressed and expanded, and sparse attention
// over keys that an indexer chooses.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_writer.h"

namespace headway::workload {

/// The matrices in place of `qkv`. Compressed on this rank's split tokens, expanded to this rank's
/// heads; without compressed queries `query_up` starts from the residual stream. Sparse attention
/// attends to the compressed keys themselves: `absorb` takes each head's queries there, and
/// `expand` its outputs back, which together are as many weights as `key_value_up`.
struct LatentLinears {
  Linear query_down, query_up, key_value_down, key_value_up, absorb, expand;
};
LatentLinears latent_linears(const RankShape& shape);

/// Bytes of the indexer's keys of whole sequences, which context ranks gather before it scores
/// them.
double gathered_index_keys(const RankShape& shape);

/// Norms over the compressed queries, keys and values.
core::Kernel latent_norms(const RankShape& shape);

/// Queries, keys and values from their compressed form.
void write_latent_up_forward(BlockWriter& writer, const BlockInput& input);

/// From the norm's output to queries, keys and values, and with sparse attention to the chosen
/// keys.
void write_latent_input_forward(BlockWriter& writer, const BlockInput& input);
/// @param mode  the halves of the matrices' gradients
void write_latent_input_backward(BlockWriter& writer,
                                 const BlockInput& input,
                                 const BackwardMode& mode);

/// From the output over compressed keys to each head's values, and its gradients; nothing where
/// attention is not sparse.
void write_latent_expand_forward(BlockWriter& writer, const BlockInput& input);
void write_latent_expand_backward(BlockWriter& writer,
                                  const BlockInput& input,
                                  const BackwardMode& mode);

/// The indexer of sparse attention (DeepSeek-V3.2, arXiv 2512.02556): I heads of width d score
/// every key before a query, with ReLU and a weight for each head; the best k are attended to. Each
/// tensor rank has the whole indexer. With K keys a query in the causal mean and k' of the chosen
/// ones:
///     index queries    r_q x I d, index keys and weights h x (d + I)
///     index scores     2 K I d FLOP a token; fp32 scores written
///     index top-k      scores read, k indices written
/// Backward trains it alone, from the probabilities of attention over the chosen keys summed over
/// heads, which are made again: 2 k' (r_kv + d_r) FLOP a head, then three products of 2 k' I d and
/// the gradients of its matrices. Nothing flows into the stream. Context ranks gather index keys of
/// whole sequences, and scatter their gradients. Source: Megatron-LM, dsa.py (DSAttention.forward),
/// 2026.
void write_indexer_backward(BlockWriter& writer, const BlockInput& input, const BackwardMode& mode);

}  // namespace headway::workload
