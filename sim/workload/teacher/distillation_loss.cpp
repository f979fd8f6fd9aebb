#include "sim/workload/teacher/distillation_loss.h"

#include <algorithm>

#include "sim/workload/blocks/kernels.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

bool fused(const TrainingSpec& training) {
  return training.framework.loss == Loss::fused && training.distillation->top_k == 0;
}

double logits_of(const RankShape& shape) {
  return static_cast<double>(shape.tokens) * static_cast<double>(shape.vocabulary);
}

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

core::Kernel passes(const char* name, const RankShape& shape, double bytes, int launches) {
  core::Kernel kernel = memory_kernel(name, bytes * logits_of(shape) / launches);
  kernel.count = launches;
  return kernel;
}

}  // namespace

LossBytes distillation_loss_bytes(const RankShape& shape, const TrainingSpec& training) {
  if (fused(training)) {
    return {4.0 * shape.element, 3.0 * shape.element, 1, 1};
  }
  const bool casts = shape.element < 4;
  const bool alone = shape.tensor == 1;
  const double cast = casts ? 4.0 + shape.element : 0.0;
  const int one = casts ? 1 : 0;
  if (training.distillation->top_k > 0) {
    return {2 * (cast + 32) + 24, 24.0 + (alone ? 24 : 8) + cast, 2 * (one + 5) + 2,
            (alone ? 7 : 5) + one};
  }
  return {2 * (cast + 40) + 36, 48.0 + (alone ? 24 : 8) + cast, 2 * (one + 6) + 4,
          (alone ? 9 : 7) + one};
}

void write_distillation_forward(BlockWriter& writer,
                                const RankShape& shape,
                                const TrainingSpec& training) {
  if (!training.distillation) {
    return;
  }
  const LossBytes bytes = distillation_loss_bytes(shape, training);
  writer.compute(passes("divergence", shape, bytes.forward, bytes.forward_launches));
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
  if (training.distillation->top_k > 0) {
    move(writer, shape, CollectiveKind::reduce_scatter,
         4.0 * candidates(shape, training) * shape.tensor, "candidates");
  }
  if (!fused(training)) {
    move(writer, shape, CollectiveKind::all_reduce, 4.0, "divergence sum");
  }
  const LossBytes bytes = distillation_loss_bytes(shape, training);
  writer.compute(passes("divergence", shape, bytes.backward, bytes.backward_launches));
}

double kept_by_distillation(const RankShape& shape, const TrainingSpec& training) {
  if (fused(training)) {
    return 2.0 * shape.element * logits_of(shape);
  }
  if (training.distillation->top_k > 0) {
    return 4.0 * logits_of(shape) +
           8.0 * candidates(shape, training) * static_cast<double>(shape.tokens);
  }
  return 8.0 * logits_of(shape);
}

double passing_by_distillation(const RankShape& shape, const TrainingSpec& training) {
  if (fused(training)) {
    return shape.element * logits_of(shape);
  }
  const double fp32 = training.distillation->top_k > 0 ? 8.0 : 20.0;
  return (fp32 + 2.0 * shape.element) * logits_of(shape);
}

}  // namespace headway::workload
