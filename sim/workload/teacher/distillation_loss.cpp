#include "sim/workload/teacher/distillation_loss.h"

#include <algorithm>

#include "sim/workload/blocks/kernels.h"
#include "sim/workload/teacher/cached_logits.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

bool fused(const TrainingSpec& training) {
  return training.framework.loss == Loss::fused && training.distillation->top_k == 0;
}

/// Some logits of each token are stored: the teacher's vocabulary is nowhere whole.
bool sparse(const TrainingSpec& training) {
  return reads_logits(training) && training.distillation->top_k > 0;
}

/// Bytes of a logit of the teacher.
double teacher_element(const RankShape& shape, const TrainingSpec& training) {
  return reads_logits(training) ? value_bytes(*training.distillation->cached) : shape.element;
}

/// To fp32, an element of so many bytes.
double widened(double element) { return element < 4 ? 4 + element : 0; }

/// Candidates of a rank: no more than its part of the vocabulary.
double candidates(const RankShape& shape, const TrainingSpec& training) {
  return static_cast<double>(
      std::min<std::int64_t>(training.distillation->top_k, shape.vocabulary));
}

/// Between tensor ranks, `bytes` of every token.
void move(BlockWriter& writer,
          const RankShape& shape,
          CollectiveKind kind,
          double bytes,
          const char* name) {
  if (shape.tensor > 1) {
    writer.collective(kind, Group::tensor, Activity::tensor,
                      Bytes(bytes * static_cast<double>(shape.tokens)), name);
  }
}

core::Kernel passes(const char* name, double bytes, int launches) {
  core::Kernel kernel = memory_kernel(name, bytes / launches);
  kernel.count = launches;
  return kernel;
}

std::vector<core::Kernel> sparse_passes(const RankShape& shape,
                                        const TrainingSpec& training,
                                        const SparseLossBytes& bytes) {
  const double values =
      static_cast<double>(shape.tokens) * static_cast<double>(training.distillation->top_k);
  return {passes("divergence", bytes.logit * logits_of(shape), bytes.logit_launches),
          passes("stored tokens", bytes.value * values, bytes.value_launches)};
}

/// Over tensor ranks the student's largest logit, the sum of its exponentials, its probability of
/// the stored tokens, and the loss. In one kernel the three sums travel together.
void write_sparse_forward(BlockWriter& writer,
                          const RankShape& shape,
                          const TrainingSpec& training) {
  writer.compute(sparse_passes(shape, training, sparse_loss_forward(shape, training)));
  move(writer, shape, CollectiveKind::all_reduce, 4.0, "divergence maximum");
  if (training.framework.loss == Loss::fused) {
    move(writer, shape, CollectiveKind::all_reduce, 3 * 4.0, "divergence sum");
    return;
  }
  move(writer, shape, CollectiveKind::all_reduce, 4.0, "divergence sum");
  move(writer, shape, CollectiveKind::all_reduce, 4.0, "stored probability");
  if (shape.tensor > 1) {
    // One number of the whole micro-batch.
    writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor, Bytes(4),
                      "divergence");
  }
}

void write_sparse_backward(BlockWriter& writer,
                           const RankShape& shape,
                           const TrainingSpec& training) {
  if (training.framework.loss != Loss::fused) {
    move(writer, shape, CollectiveKind::all_reduce, 4.0, "stored probability");
    move(writer, shape, CollectiveKind::all_reduce, 4.0, "divergence sum");
  }
  writer.compute(sparse_passes(shape, training, sparse_loss_backward(shape, training)));
}

}  // namespace

LossBytes distillation_loss_bytes(const RankShape& shape, const TrainingSpec& training) {
  const double taught = teacher_element(shape, training);
  if (fused(training)) {
    return {2.0 * (shape.element + taught), 2.0 * shape.element + taught, 1, 1};
  }
  const bool casts = shape.element < 4;
  const bool alone = shape.tensor == 1;
  const double cast = widened(shape.element);
  const int one = casts ? 1 : 0;
  if (training.distillation->top_k > 0) {
    return {2 * (cast + 32) + 24, 24.0 + (alone ? 24 : 8) + cast, 2 * (one + 5) + 2,
            (alone ? 7 : 5) + one};
  }
  return {cast + widened(taught) + 2 * 40 + 36, 48.0 + (alone ? 24 : 8) + cast,
          one + (taught < 4 ? 1 : 0) + 2 * 6 + 4, (alone ? 9 : 7) + one};
}

void write_distillation_forward(BlockWriter& writer,
                                const RankShape& shape,
                                const TrainingSpec& training) {
  if (!training.distillation) {
    return;
  }
  if (reads_logits(training)) {
    writer.compute({logits_copy(shape, training)}, Activity::input);
  }
  if (sparse(training)) {
    write_sparse_forward(writer, shape, training);
    return;
  }
  const LossBytes bytes = distillation_loss_bytes(shape, training);
  writer.compute(passes("divergence", bytes.forward * logits_of(shape), bytes.forward_launches));
  if (fused(training)) {
    // Of both models together; the sums travel with the divergence's own.
    move(writer, shape, CollectiveKind::all_reduce, 2 * 4.0, "divergence maximum");
    move(writer, shape, CollectiveKind::all_reduce, 3 * 4.0, "divergence sum");
    return;
  }
  for (int model = 0; model < 2; ++model) {
    move(writer, shape, CollectiveKind::all_reduce, 4.0, "divergence maximum");
    move(writer, shape, CollectiveKind::all_reduce, 4.0, "divergence sum");
  }
  if (training.distillation->top_k == 0) {
    move(writer, shape, CollectiveKind::all_reduce, 4.0, "divergence");
    return;
  }
  const double gathered = 4.0 * candidates(shape, training) * shape.tensor;
  for (int model = 0; model < 2; ++model) {
    move(writer, shape, CollectiveKind::all_gather, gathered, "candidates");
  }
}

void write_distillation_backward(BlockWriter& writer,
                                 const RankShape& shape,
                                 const TrainingSpec& training) {
  if (!training.distillation) {
    return;
  }
  if (sparse(training)) {
    write_sparse_backward(writer, shape, training);
    return;
  }
  if (training.distillation->top_k > 0) {
    move(writer, shape, CollectiveKind::reduce_scatter,
         4.0 * candidates(shape, training) * shape.tensor, "candidates");
  }
  if (!fused(training)) {
    move(writer, shape, CollectiveKind::all_reduce, 4.0, "divergence sum");
  }
  const LossBytes bytes = distillation_loss_bytes(shape, training);
  writer.compute(passes("divergence", bytes.backward * logits_of(shape), bytes.backward_launches));
}

double kept_by_distillation(const RankShape& shape, const TrainingSpec& training) {
  if (sparse(training)) {
    return kept_by_sparse_loss(shape, training);
  }
  if (fused(training)) {
    return (shape.element + teacher_element(shape, training)) * logits_of(shape);
  }
  if (training.distillation->top_k > 0) {
    return 4.0 * logits_of(shape) +
           8.0 * candidates(shape, training) * static_cast<double>(shape.tokens);
  }
  return 8.0 * logits_of(shape);
}

double passing_by_distillation(const RankShape& shape, const TrainingSpec& training) {
  if (sparse(training)) {
    return passing_by_sparse_loss(shape, training);
  }
  if (fused(training)) {
    return shape.element * logits_of(shape);
  }
  const double fp32 = training.distillation->top_k > 0 ? 8.0 : 20.0;
  return (fp32 + shape.element + teacher_element(shape, training)) * logits_of(shape);
}

}  // namespace headway::workload
