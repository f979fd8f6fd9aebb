#include "sim/workload/memory.h"

#include <algorithm>

#include "sim/workload/attention_blocks.h"
#include "sim/workload/layout.h"
#include "sim/workload/rank_parameters.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/schedule.h"

namespace headway::workload {

namespace {

using core::Bytes;

/// Probabilities kept for the backward of unfused attention: 2 B, and with dropout a mask and the
/// dropped copy.
double score_bytes(const RankShape& shape) { return (shape.dropout ? 5.0 : 2.0) * shape.scores(); }

double tokens_times(const RankShape& shape, std::int64_t width) {
  return static_cast<double>(shape.tokens) * static_cast<double>(width);
}

/// Bytes of keys and values kept for the backward: as they were exchanged with all-to-all (shared
/// heads may be copied), else of this rank's tokens.
double kept_keys(const RankShape& shape) {
  const bool exchanged = shape.context > 1 && shape.context_kind == ContextKind::all_to_all;
  return exchanged ? 2.0 * exchanged_keys(shape).si() : key_value_block(shape).si();
}

/// Attention's output is kept by heads for its own backward and by tokens for the projection's.
double kept_outputs(const RankShape& shape) {
  const bool exchanged = shape.context > 1 && shape.context_kind == ContextKind::all_to_all;
  return (exchanged ? 2.0 : 1.0) * 2.0 * shape.query_elements();
}

/// What the exchange of context ranks holds while a layer runs backward. Ring: the block that
/// arrives, and the gradient that arrives for the present one; all-gather: keys and values of whole
/// sequences and their gradients; all-to-all: the buffer of the largest transfer.
double exchange_buffers(const RankShape& shape) {
  if (shape.context == 1) {
    return 0;
  }
  switch (shape.context_kind) {
    case ContextKind::ring:
      return 2.0 * key_value_block(shape).si();
    case ContextKind::all_gather:
      return 2.0 * shape.context * key_value_block(shape).si();
    case ContextKind::all_to_all:
      return std::max(2.0 * shape.query_elements(), exchanged_keys(shape).si());
  }
  return 0;
}

/// Kept bytes of attention: input of the matrices, queries, keys, values, output, masks,
/// statistics.
double kept_by_attention(const RankShape& shape,
                         const FrameworkSpec& framework,
                         Recompute recompute) {
  const double operand = operand_bytes(shape.linear);
  double bytes = operand * shape.split_stream() + 2.0 * shape.query_elements() + kept_keys(shape);
  bytes += kept_outputs(shape);
  if (narrow(shape.linear)) {  // the narrow copy that the output projection multiplies
    bytes += operand * tokens_times(shape, shape.query_width());
  }
  if (shape.dropout) {
    bytes += shape.split_stream();
  }
  if (recompute == Recompute::none) {
    bytes +=
        framework.fused_attention ? 4.0 * tokens_times(shape, shape.heads) : score_bytes(shape);
  }
  return bytes;
}

double kept_by_mlp(const ModelSpec& model, const RankShape& shape) {
  const double operand = operand_bytes(shape.linear);
  double bytes = operand * shape.split_stream() +
                 2.0 * tokens_times(shape, shape.mlp_in_width(model.gated_mlp));
  bytes += operand * tokens_times(shape, shape.ffn);
  return bytes + (shape.dropout ? shape.split_stream() : 0.0);
}

/// Outputs of the two norms and of the MLP's activation, which are cheap to make again.
double elementwise_outputs(const RankShape& shape) {
  return operand_bytes(shape.linear) *
         (2.0 * shape.split_stream() + tokens_times(shape, shape.ffn));
}

double kept_by_layer(const ModelSpec& model,
                     const TrainingSpec& training,
                     const RankShape& shape,
                     Recompute recompute) {
  if (recompute == Recompute::full) {
    return 2.0 * shape.split_stream();
  }
  const double norm_inputs = 2.0 * 2.0 * shape.split_stream();
  const double all = norm_inputs + kept_by_attention(shape, training.framework, recompute) +
                     kept_by_mlp(model, shape);
  return training.framework.recompute_elementwise ? all - elementwise_outputs(shape) : all;
}

/// Inputs of the final norm and of the head.
double kept_by_head(const RankShape& shape) { return 4.0 * shape.split_stream(); }

/// The embedding's dropout mask.
double kept_by_embedding(const RankShape& shape) {
  return shape.dropout ? shape.split_stream() : 0.0;
}

/// Logits of one micro-batch, 16-bit, on one rank.
double logits_16bit(const RankShape& shape) { return 2.0 * tokens_times(shape, shape.vocabulary); }

/// Activations and logits at one moment.
struct Live {
  double activations = 0, logits = 0;
  [[nodiscard]] double total() const { return activations + logits; }
};

/// Follows the activations of one stage through its schedule.
class Liveness {
 public:
  Liveness(const ModelSpec& model, const TrainingSpec& training, const ParallelismSpec& parallelism)
      : shape_(rank_shape(model, training, parallelism)),
        per_layer_(saved_per_layer(model, training, parallelism).si()),
        working_(backward_working_set(model, training, parallelism).si()),
        logits_(logits_bytes(model, training, parallelism).si()) {}

  Live peak(const StageLayout& layout, int stage, const StageSchedule& items) {
    now_ = peak_ = {};
    for (const WorkItem& item : items) {
      const ChunkLayout& chunk = layout.at(stage, item.chunk);
      switch (item.kind) {
        case WorkKind::forward:
          forward(chunk);
          break;
        case WorkKind::backward:
          input_gradient(chunk);
          keep_layers(chunk, -1);
          break;
        case WorkKind::input_gradient:
          input_gradient(chunk);  // the weight gradients still need the activations
          break;
        case WorkKind::weight_gradient:
          keep_layers(chunk, -1);
          break;
      }
    }
    return peak_;
  }

 private:
  void forward(const ChunkLayout& chunk) {
    keep_layers(chunk, 1);
    if (chunk.head) {
      keep_head(1);
    }
    note({});
  }

  void input_gradient(const ChunkLayout& chunk) {
    if (chunk.head) {
      note({0, logits_16bit(shape_)});  // the gradient of the logits
      keep_head(-1);
    }
    note({chunk.layers > 0 ? working_ : 0, 0});
  }

  void keep_layers(const ChunkLayout& chunk, int sign) {
    now_.activations +=
        sign * (chunk.layers * per_layer_ + (chunk.embedding ? kept_by_embedding(shape_) : 0.0));
  }

  void keep_head(int sign) {
    now_.activations += sign * kept_by_head(shape_);
    now_.logits += sign * logits_;
  }

  void note(Live extra) {
    const Live moment{now_.activations + extra.activations, now_.logits + extra.logits};
    if (moment.total() > peak_.total()) {
      peak_ = moment;
    }
  }

  RankShape shape_;
  double per_layer_, working_, logits_;
  Live now_, peak_;
};

/// Narrow copies of the layers' weights for the forward and, transposed, for the backward products.
double narrow_copies(const ModelSpec& model,
                     const ParallelismSpec& parallelism,
                     const RankShape& shape,
                     int layers) {
  if (!narrow(shape.linear) || parallelism.sharding == Sharding::zero3) {
    return 0;  // sharded weights are cast layer by layer as they are gathered
  }
  return 2.0 * operand_bytes(shape.linear) * layers * layer_parameters_per_rank(model, parallelism);
}

/// Weights, gradients and optimizer of one rank [B], and what a sharded plan gathers for a while.
struct States {
  double weights = 0, gradients = 0, optimizer = 0, gathered = 0;
};

/// ZeRO-3 keeps fp32 shards, of which the 16-bit weights are made when gathered; a layer is used
/// while the next arrives. Sharded gradients exist whole for one bucket while the one before is
/// reduced.
States model_states(const TrainingSpec& training,
                    Sharding sharding,
                    double parameters,
                    double largest_bucket,
                    int data_parallel) {
  const double shard = parameters / data_parallel;
  const double gradient = training.framework.gradient_bytes;
  const double in_reduction = 2.0 * training.framework.reduce_bytes * largest_bucket;
  switch (sharding) {
    case Sharding::zero0:
      return {2.0 * parameters, gradient * parameters, 12.0 * parameters, 0};
    case Sharding::zero1:
      return {2.0 * parameters, gradient * parameters, 12.0 * shard, 0};
    case Sharding::zero2:
      return {2.0 * parameters, gradient * shard, 12.0 * shard, in_reduction};
    case Sharding::zero3:
    case Sharding::hsdp:
      return {4.0 * shard, gradient * shard, 8.0 * shard,
              2.0 * 2.0 * largest_bucket + in_reduction};
  }
  return {};
}

/// Two messages each way: one in use, one in flight.
double transfer_buffers(const TrainingSpec& training,
                        const ParallelismSpec& parallelism,
                        const RankShape& shape) {
  const bool split = shape.gathers || training.framework.scatter_gather_p2p;
  return parallelism.pipeline > 1 ? 4.0 * 2.0 * shape.stream() / (split ? shape.tensor : 1) : 0.0;
}

}  // namespace

Bytes saved_per_layer(const ModelSpec& model,
                      const TrainingSpec& training,
                      const ParallelismSpec& parallelism) {
  return Bytes(kept_by_layer(model, training, rank_shape(model, training, parallelism),
                             parallelism.recompute));
}

Bytes backward_working_set(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism) {
  const RankShape shape = rank_shape(model, training, parallelism);
  const FrameworkSpec& framework = training.framework;
  // Sequence parallelism: the gathered input and the not yet scattered gradient of a layer split by
  // columns.
  const double gathered = (shape.gathers ? 2.0 : 1.0) * 2.0 * shape.stream();
  const double mlp = 2.0 * tokens_times(shape, shape.ffn + shape.mlp_in_width(model.gated_mlp));
  double attention = 2.0 * tokens_times(shape, shape.query_width() + shape.qkv_width());
  if (!framework.fused_attention) {
    attention += 4.0 * shape.scores();  // gradients of probabilities and of scores
    attention += parallelism.recompute == Recompute::selective ? score_bytes(shape) : 0.0;
  }
  attention += exchange_buffers(shape);
  double recomputed = framework.recompute_elementwise ? elementwise_outputs(shape) : 0.0;
  if (parallelism.recompute == Recompute::full) {
    recomputed += kept_by_layer(model, training, shape, Recompute::none);
  }
  return Bytes(gathered + std::max(mlp, attention) + recomputed);
}

Bytes logits_bytes(const ModelSpec& model,
                   const TrainingSpec& training,
                   const ParallelismSpec& parallelism) {
  const RankShape shape = rank_shape(model, training, parallelism);
  const double single = training.framework.fused_cross_entropy ? 0.0 : 2.0;
  return Bytes(logits_16bit(shape) * (1.0 + single));  // unfused: the fp32 probabilities too
}

std::vector<StageMemory> stage_memory(const ModelSpec& model,
                                      const TrainingSpec& training,
                                      const ParallelismSpec& parallelism,
                                      int data_parallel,
                                      int micro_batches) {
  const StageLayout layout(model, parallelism);
  const auto schedule = pipeline_schedule(effective_schedule(parallelism), parallelism.pipeline,
                                          parallelism.virtual_stages, micro_batches);
  const RankShape shape = rank_shape(model, training, parallelism);
  Liveness liveness(model, training, parallelism);
  const int replicas = data_parallel * parallelism.context;  // ranks with the same weights
  std::vector<StageMemory> stages;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    double parameters = 0;
    double largest_bucket = 0;
    for (int chunk = 0; chunk < layout.chunks(); ++chunk) {
      const ChunkLayout& here = layout.at(stage, chunk);
      parameters += chunk_parameters_per_rank(model, parallelism, here);
      for (const Bucket& bucket : chunk_buckets(model, parallelism, here, replicas)) {
        largest_bucket = std::max(largest_bucket, bucket.parameters);
      }
    }
    const States states =
        model_states(training, parallelism.sharding, parameters, largest_bucket, replicas);
    const Live peak = liveness.peak(layout, stage, schedule[static_cast<std::size_t>(stage)]);
    StageMemory memory;
    memory.weights =
        Bytes(states.weights + narrow_copies(model, parallelism, shape, layout.layers(stage)));
    memory.gradients = Bytes(states.gradients);
    memory.optimizer = Bytes(states.optimizer);
    memory.activations = Bytes(peak.activations);
    memory.logits = Bytes(peak.logits);
    memory.buffers = Bytes(states.gathered + transfer_buffers(training, parallelism, shape));
    stages.push_back(memory);
  }
  return stages;
}

}  // namespace headway::workload
