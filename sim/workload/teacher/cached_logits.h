// Logits of a teacher that ran before: bytes in storage and on the way to a GPU, and the loss over
// those of each token that are stored.
#pragma once

#include <cstdint>

#include "sim/core/kernel.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// What the copy to a GPU is called in a step.
inline constexpr const char* kLogitsFromHost = "logits from host";

/// Logits of a rank: its tokens times its part of the vocabulary.
inline double logits_of(const RankShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>(shape.vocabulary);
}

/// Values of a token that are stored: `top_k`, or one of each token of the vocabulary.
/// @pre  logits are read, here and below
double stored_values(const ModelSpec& model, const TrainingSpec& training);

/// What they take in storage, of one token [B]; 0 where no logits are read.
///     k (value_bits + token_id_bits) / 8;  whole vocabulary: V value_bits / 8
/// Compression is not counted: write the bits that are left after it.
double stored_logit_bytes(const ModelSpec& model, const TrainingSpec& training);

/// Bytes of a value on the GPU: 2, or 4 if it is stored in more than 16 bits.
double value_bytes(const CachedLogitsSpec& cached);

/// What a micro-batch's logits take on the way from the host to a rank, and in its memory [B].
///     tokens k (value bytes + 8), whole to each tensor rank: which of them are in its part of the
///     vocabulary it finds itself; whole vocabulary: tokens x its part x value bytes
/// Token numbers have 64 bits there, as torch.gather takes them. Source: Megatron-LM,
/// cached_logits_loss.py (TeacherTarDataset, topk_kl_div), utils_logits.py (unpack_indices), 2026.
double copied_logit_bytes(const RankShape& shape, const TrainingSpec& training);

/// The copy, pinned memory to GPU. It is queued behind the product that makes the student's logits
/// on the stream that runs the loss. Source: Megatron-LM, CachedLogitsKDLoss (`.to(device,
/// non_blocking=True)` on the current stream), 2026.
core::Kernel logits_copy(const RankShape& shape, const TrainingSpec& training);

/// What the loss over the stored values of each token moves: of a logit of this rank, and of a
/// stored value.
struct SparseLossBytes {
  double logit = 0, value = 0;  ///< [B]
  int logit_launches = 0, value_launches = 0;
};

/// Of student logits of `e` bytes and stored values of `w`; a gathered value moves a sector of 32
/// bytes. One kernel each way (`loss: fused`): forward reads logits twice, and number, value and
/// logit of each stored one; backward reads logits, writes their gradient, and adds to that of each
/// stored one. Otherwise PyTorch's operators:
///     a logit: to fp32 4 + e, largest 4, less it 8, exp 8, sum 4, less its logarithm 8; backward
///     zeros of gather 4, sign 8, sum 4, of exp 8, both together 12, to 16 bits 4 + e;
///     a value: to fp32 w + 4, which are this rank's 29, place there 32, gather 44, what is left
///     beside them 51, divergence 45; backward 5 + 12 + 8 + 5 + 12 + 12, scatter 76.
/// Sources: Megatron-LM, topk_kl_div with `add_ghost_token`, 2026; NVIDIA, CUDA C++ Programming
/// Guide (device memory is accessed in sectors of 32 bytes).
SparseLossBytes sparse_loss_forward(const RankShape& shape, const TrainingSpec& training);
SparseLossBytes sparse_loss_backward(const RankShape& shape, const TrainingSpec& training);

/// What it keeps from forward to backward, the copied logits among it where one kernel reads them
/// again, and what is there beside that at its fullest moment [B].
///     fused: e a logit, w + 8 a value; beside it e a logit
///     operators: exponentials 4 a logit; numbers, masks and both probabilities 18 a value; beside
///     it the larger of forward (8 + e) a logit and w + 37 a value, backward 12 a logit
double kept_by_sparse_loss(const RankShape& shape, const TrainingSpec& training);
double passing_by_sparse_loss(const RankShape& shape, const TrainingSpec& training);

}  // namespace headway::workload
