// A small Llama that learns from a larger one.
#pragma once

#include "sim/workload/blocks/build.h"
#include "sim/workload/spec.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload::tests {

inline constexpr double kVocabulary = 128256;

/// 8 layers of Llama 70B: as many stages as that divides over, quickly.
inline ModelSpec teacher_of_few(int layers = 8) {
  ModelSpec model = llama_70b();
  model.layers = layers;
  return model;
}

inline ModelSpec student(int layers = 4) {
  ModelSpec model = llama_8b();
  model.layers = layers;
  return model;
}

inline TrainingSpec taught(int batch, Loss loss = Loss::fused) {
  TrainingSpec training = recipe(int(kS), batch);
  training.framework.loss = loss;
  training.distillation = DistillationSpec{teacher_of_few(), {}, 0, false};
  return training;
}

/// The same of a teacher that ran before: `top_k` of its logits of each token are stored.
inline TrainingSpec taught_before(int batch, int top_k, Loss loss = Loss::fused) {
  TrainingSpec training = recipe(int(kS), batch);
  training.framework.loss = loss;
  training.distillation = DistillationSpec{};
  training.distillation->top_k = top_k;
  training.distillation->cached = CachedLogitsSpec{};
  return training;
}

// Llama 70B, a layer: query and output 8192^2, key and value 8192 x 1024, three of 8192 x 28672.
inline constexpr double kTaughtLayer = 2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672;
inline constexpr double kTaughtHead = 8192.0 * kVocabulary;
// Core attention of a layer and micro-batch, forward: two products of s^2 / 2 pairs of 64 heads of
// 128.
inline constexpr double kTaughtCore = 2 * 2 * kS * kS / 2 * 64 * 128;

}  // namespace headway::workload::tests
