#include "sim/workload/teacher/teacher.h"

#include <algorithm>

#include "sim/workload/layout.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/number_formats.h"

namespace headway::workload {

ModelSpec teacher_model(const TrainingSpec& training) {
  ModelSpec model = *training.distillation->teacher;
  model.dropout = false;
  model.multi_token_prediction = 0;
  return model;
}

TrainingSpec teacher_training(const TrainingSpec& training) {
  TrainingSpec own = training;
  own.distillation.reset();
  own.local_steps.reset();
  return own;
}

ParallelismSpec teacher_layout(const TrainingSpec& training, const ParallelismSpec& parallelism) {
  ParallelismSpec own;
  own.tensor = parallelism.tensor;
  own.sequence = parallelism.sequence;
  own.pipeline = parallelism.pipeline;
  own.context = parallelism.context;
  own.context_kind = parallelism.context_kind;
  own.data = parallelism.data;
  own.sharding = parallelism.sharding;
  own.shard_group_size = parallelism.shard_group_size;
  own.micro_batch = parallelism.micro_batch;
  own.schedule = parallelism.schedule;
  own.rank_order = parallelism.rank_order;
  if (training.distillation->teacher->moe) {
    own.expert = parallelism.expert;
    own.expert_tensor = parallelism.expert_tensor;
  }
  own.chunk_layers = training.distillation->teacher_layers;
  return own;
}

double message_elements(const TrainingSpec& training, const RankShape& shape) {
  const double beside = runs_teacher(training) ? static_cast<double>(shape.tokens) *
                                                     training.distillation->teacher->hidden
                                               : 0.0;
  return shape.stream() + beside;
}

TeacherBytes teacher_bytes(const TrainingSpec& training,
                           const ParallelismSpec& parallelism,
                           int stage,
                           DataRanks ranks) {
  TeacherBytes bytes;
  if (!runs_teacher(training)) {
    return bytes;
  }
  const ModelSpec model = teacher_model(training);
  const TrainingSpec recipe = teacher_training(training);
  const ParallelismSpec layout = teacher_layout(training, parallelism);
  const StageLayout stages(model, layout);
  const RankShape shape = rank_shape(model, recipe, layout);
  const RankParameters all = stage_parameters_per_rank(model, layout, stages, stage);
  const bool sharded =
      shards_weights(parallelism.sharding) && !gathers_once(training.framework, parallelism);
  bytes.weights = shape.element * (sharded ? ranks.shard_of(all) : all.total());
  double layers = 0;
  for (const Bucket& bucket :
       chunk_buckets(model, recipe, layout, stages.at(stage, 0), ranks.shared)) {
    const double weights = shape.element * bucket.parameters.total();
    layers += bucket.runs.empty() ? 0.0 : bucket.parameters.total();
    if (sharded && ranks.several() && !bucket.embedding) {
      double& most = bucket.head ? bytes.at_head : bytes.at_layers;
      most = std::max(most, bucket.head ? weights : 2.0 * weights);
    }
  }
  if (narrow(shape.linear) && !sharded) {
    bytes.weights += operand_bytes(shape.linear) * layers;
  }
  return bytes;
}

double teacher_working_set(const TrainingSpec& training, const ParallelismSpec& parallelism) {
  if (!runs_teacher(training)) {
    return 0;
  }
  const ModelSpec model = teacher_model(training);
  const TrainingSpec recipe = teacher_training(training);
  const ParallelismSpec layout = teacher_layout(training, parallelism);
  double most = 0;
  for (const LayerRun& run : layer_runs(model, layout, 0, model.layers)) {
    most = std::max(most, saved_per_layer(model, recipe, layout, run.kind).si());
  }
  return most;
}

}  // namespace headway::workload
