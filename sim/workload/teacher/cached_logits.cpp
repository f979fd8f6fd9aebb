#include "sim/workload/teacher/cached_logits.h"

#include <algorithm>

namespace headway::workload {

namespace {

/// Bits of the number of a token where none are written. Source: NVIDIA/Megatron-LM,
/// utils_logits.py (pack_indices: uint16 and a bool of one byte), 2026.
constexpr int kTokenIdBits = 24;

/// Source: PyTorch, torch.gather (its index is int64).
constexpr double kTokenIdBytes = 8;

/// Source: NVIDIA, CUDA C++ Programming Guide, device memory accesses.
constexpr double kSector = 32;

double values_of_rank(const RankShape& shape, const TrainingSpec& training) {
  return static_cast<double>(shape.tokens) * training.distillation->top_k;
}

bool in_one_kernel(const TrainingSpec& training) { return training.framework.loss == Loss::fused; }

}  // namespace

double stored_values(const ModelSpec& model, const TrainingSpec& training) {
  const int few = training.distillation->top_k;
  return few > 0 ? few : static_cast<double>(model.vocabulary);
}

double stored_logit_bytes(const ModelSpec& model, const TrainingSpec& training) {
  if (!reads_logits(training)) {
    return 0;
  }
  const CachedLogitsSpec& cached = *training.distillation->cached;
  const int number =
      training.distillation->top_k > 0 ? cached.token_id_bits.value_or(kTokenIdBits) : 0;
  return stored_values(model, training) * (cached.value_bits + number) / 8;
}

double value_bytes(const CachedLogitsSpec& cached) { return cached.value_bits <= 16 ? 2 : 4; }

double copied_logit_bytes(const RankShape& shape, const TrainingSpec& training) {
  const double value = value_bytes(*training.distillation->cached);
  return training.distillation->top_k > 0
             ? values_of_rank(shape, training) * (value + kTokenIdBytes)
             : logits_of(shape) * value;
}

core::Kernel logits_copy(const RankShape& shape, const TrainingSpec& training) {
  core::Kernel copy;
  copy.kind = core::KernelKind::host_copy;
  copy.name = kLogitsFromHost;
  copy.traffic = core::Bytes(copied_logit_bytes(shape, training));
  return copy;
}

SparseLossBytes sparse_loss_forward(const RankShape& shape, const TrainingSpec& training) {
  const double value = value_bytes(*training.distillation->cached);
  if (in_one_kernel(training)) {
    return {2 * shape.element, kTokenIdBytes + value + kSector, 1, 1};
  }
  const bool casts = shape.element < 4;
  const bool widens = value < 4;
  const double gather = kTokenIdBytes + kSector + 4;
  // Of 21 kernels over the values none is launched for a logit, nor are 9 over the tokens alone.
  return {(casts ? 4 + shape.element : 0) + 32,
          (widens ? value + 4 : 0) + 29 + 32 + gather + 51 + 45, (casts ? 1 : 0) + 5,
          (widens ? 1 : 0) + 21 + 9};
}

SparseLossBytes sparse_loss_backward(const RankShape& shape, const TrainingSpec& training) {
  const double value = value_bytes(*training.distillation->cached);
  // Added to in place: its sector is read and written.
  const double scatter = kTokenIdBytes + 2 * kSector;
  if (in_one_kernel(training)) {
    return {2 * shape.element, scatter + value, 1, 1};
  }
  const bool casts = shape.element < 4;
  return {36 + (casts ? 4 + shape.element : 0), 5 + 12 + 8 + 5 + 12 + 12 + scatter + 4,
          5 + (casts ? 1 : 0), 7 + 5};
}

double kept_by_sparse_loss(const RankShape& shape, const TrainingSpec& training) {
  const double values = values_of_rank(shape, training);
  if (in_one_kernel(training)) {
    return shape.element * logits_of(shape) + copied_logit_bytes(shape, training);
  }
  return 4 * logits_of(shape) + 18 * values;
}

double passing_by_sparse_loss(const RankShape& shape, const TrainingSpec& training) {
  const double logits = logits_of(shape);
  if (in_one_kernel(training)) {
    return shape.element * logits;
  }
  const double value = value_bytes(*training.distillation->cached);
  const double forward = (shape.element < 4 ? 8 + shape.element : 8) * logits +
                         (value + 37) * values_of_rank(shape, training);
  return std::max(forward, 12 * logits);
}

}  // namespace headway::workload
