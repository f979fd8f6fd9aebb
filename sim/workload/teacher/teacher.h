// The teacher of a distilled model as a model of its own: its recipe, its layout, what it keeps.
#pragma once

#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// The teacher as it runs: without dropout and prediction modules, which only training needs.
/// Source: Model-Optimizer, distill/plugins/megatron.py (`eval` under `no_grad`).
/// @pre  there is a teacher that runs, here and in teacher_layout
ModelSpec teacher_model(const TrainingSpec& training);

/// The student's recipe without a teacher.
TrainingSpec teacher_training(const TrainingSpec& training);

/// The student's tensor, context, expert, pipeline and data ranks; layers even over the stages or
/// as `teacher_layers` has them; nothing recomputed, since nothing is kept. A teacher without
/// experts has no expert ranks.
ParallelismSpec teacher_layout(const TrainingSpec& training, const ParallelismSpec& parallelism);

/// Elements of a message between stages, whole: the student's stream, and beside it the teacher's
/// in both directions, as one array. Source: get_tensor_shapes_adjust_fn_for_distillation, there.
double message_elements(const TrainingSpec& training, const RankShape& shape);

/// What a stage holds of a teacher [B].
struct TeacherBytes {
  double weights = 0;    ///< whole, or this rank's share where weights are sharded
  double at_layers = 0;  ///< while it runs: two layers' weights that were gathered
  double at_head = 0;    ///< its gathered head
};

/// Weights in the format of activations, and those of layers once more where products are narrower;
/// no gradients, no optimizer. None without a teacher that runs.
TeacherBytes teacher_bytes(const TrainingSpec& training,
                           const ParallelismSpec& parallelism,
                           int stage,
                           DataRanks ranks);

/// The most that is alive inside one of its layers, by what a layer would keep for a backward [B].
double teacher_working_set(const TrainingSpec& training, const ParallelismSpec& parallelism);

}  // namespace headway::workload
