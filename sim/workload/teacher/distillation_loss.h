// The loss of a distilled model: kernels, collectives and what they keep.
#pragma once

#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Whether the loss has a part that compares with the next token.
inline bool compares_labels(const TrainingSpec& training) {
  return !training.distillation || training.distillation->label_loss;
}

/// Bytes and launches of the divergence's passes over the logits of this rank, one vocabulary part
/// of student and teacher each. Written by hand or compiled (`loss: fused`): forward reads both
/// twice, backward reads both and writes the gradient. Otherwise PyTorch's operators in fp32, of
/// 16-bit logits and q, p the logarithms of teacher's and student's probabilities:
///     each of both: to fp32 6, by the temperature 8, largest 4, less it 8, exp 8, sum 4;
///     all: less the sum 2 x 8, exp(q) 8, q - p 12, their product 12, sum 4: 128 together;
///     backward: exp(q) 8, sign 8, sum of it 12, of the sum's logarithm 24 (8 over tensor ranks),
///     both together 12, temperature 8, to 16 bits 6: 78 (62);
///     top_k: 76 and choosing the largest, 6 reads of fp32; backward 54 (38).
/// Sources: NVIDIA/Model-Optimizer, distill/plugins/megatron.py (LogitsKLLoss, TopLogitsKLLoss);
/// PyTorch, ATen/native/Loss.cpp (kl_div), ReduceOps.cpp (logsumexp), cuda/TensorTopK.cu (four
/// passes of eight bits, two to gather), 2025. Of a teacher that ran before the logits have the
/// bytes of cached_logits.h; where some of each token are stored, all this is there.
struct LossBytes {
  double forward = 0, backward = 0;  ///< a logit of this rank [B]
  int forward_launches = 0, backward_launches = 0;
};
LossBytes distillation_loss_bytes(const RankShape& shape, const TrainingSpec& training);

/// Nothing without a teacher. Over tensor ranks the largest logit and the sum of both models are
/// reduced, and the loss itself; the candidates of top_k are gathered. Logits of a teacher that ran
/// before come from the host first.
void write_distillation_forward(BlockWriter& writer,
                                const RankShape& shape,
                                const TrainingSpec& training);
void write_distillation_backward(BlockWriter& writer,
                                 const RankShape& shape,
                                 const TrainingSpec& training);

/// What it keeps of the logits from forward to backward [B]: fused both; operators the student's
/// in fp32 (or their exponentials) and the teacher's probabilities, with top_k the first and where
/// the k are.
double kept_by_distillation(const RankShape& shape, const TrainingSpec& training);

/// What is there beside that at its fullest moment [B]: fused the gradient; operators both models'
/// logits, and their logarithms, difference and product in fp32.
double passing_by_distillation(const RankShape& shape, const TrainingSpec& training);

}  // namespace headway::workload
