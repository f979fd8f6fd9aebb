#include "sim/workload/data_parallel_blocks.h"

#include "sim/workload/block_writer.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

constexpr double kWeightBytes = 2;
/// Adam in fp32: reads and writes two moments and the main weights, writes the 16-bit weights.
constexpr double kAdamBytes = 12 + 12 + kWeightBytes;

bool sharded(const ParallelismSpec& parallelism) { return parallelism.sharding != Sharding::zero0; }

CollectiveKind reduction(const ParallelismSpec& parallelism) {
  return sharded(parallelism) ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
}

/// Casts from the gradient buffer's format to the one on the wire, where they differ.
void write_cast(BlockWriter& writer, const FrameworkSpec& framework, double parameters) {
  if (framework.reduce_bytes != framework.gradient_bytes) {
    writer.compute(memory_kernel("gradient cast",
                                 (framework.gradient_bytes + framework.reduce_bytes) * parameters));
  }
}

/// Gradients of weights that several ranks of a replica hold.
void write_replica_reductions(BlockWriter& writer,
                              const BlockInput& input,
                              const OptimizerInput& optimizer) {
  const double gradient_bytes = input.training.framework.gradient_bytes;
  if (input.shape.gathers) {
    // With sequence parallelism every rank saw only its tokens: norms and row biases are summed.
    const double whole = (input.model.biases ? 6.0 : 2.0) * input.model.hidden * optimizer.layers;
    writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor,
                      Bytes(gradient_bytes * whole), "norm gradients");
  }
  if (optimizer.embedding) {
    const double table = static_cast<double>(input.shape.vocabulary) * input.model.hidden;
    writer.collective(CollectiveKind::all_reduce, Group::embedding, Activity::data,
                      Bytes(gradient_bytes * table), "tied embedding gradients");
  }
}

void write_reduction(BlockWriter& writer,
                     const BlockInput& input,
                     const OptimizerInput& optimizer) {
  const FrameworkSpec& framework = input.training.framework;
  if (optimizer.data_parallel == 1) {
    return;
  }
  if (framework.data_overlap) {
    Operation wait;
    wait.kind = OperationKind::delay;
    wait.activity = Activity::data;
    wait.name = "gradient reduction";
    wait.await = {kGradientTicket};
    writer.add(std::move(wait));
    return;
  }
  if (shards_gradients(input.parallelism.sharding)) {
    return;  // reduced after every micro-batch
  }
  write_cast(writer, framework, optimizer.parameters);
  writer.collective(reduction(input.parallelism), Group::data_context, Activity::data,
                    Bytes(framework.reduce_bytes * optimizer.parameters), "gradient reduction");
}

void write_update(BlockWriter& writer, const BlockInput& input, const OptimizerInput& optimizer) {
  const double gradient_bytes = input.training.framework.gradient_bytes;
  const bool gradients_sharded = shards_gradients(input.parallelism.sharding);
  const double held = optimizer.parameters / (gradients_sharded ? optimizer.data_parallel : 1);
  const double shard =
      optimizer.parameters / (sharded(input.parallelism) ? optimizer.data_parallel : 1);
  writer.compute({memory_kernel("gradient norm", gradient_bytes * shard)}, Activity::optimizer);
  // One number a rank, but every rank of the job waits for all others here.
  writer.collective(CollectiveKind::all_reduce, Group::world, Activity::data, Bytes(4),
                    "gradient norm");
  writer.compute({memory_kernel("optimizer", (gradient_bytes + kAdamBytes) * shard),
                  memory_kernel("clear gradients", gradient_bytes * held)},
                 Activity::optimizer);
}

}  // namespace

Block reduce_bucket(const BlockInput& input, double parameters) {
  BlockWriter writer("reduce gradients");
  write_cast(writer, input.training.framework, parameters);
  Operation reduce;
  reduce.kind = OperationKind::collective;
  reduce.collective = reduction(input.parallelism);
  reduce.group = Group::data_context;
  reduce.activity = Activity::data;
  reduce.bytes = Bytes(input.training.framework.reduce_bytes * parameters);
  reduce.name = "gradient reduction";
  reduce.asynchronous = input.training.framework.data_overlap;
  reduce.ticket = reduce.asynchronous ? kGradientTicket : -1;
  writer.add(std::move(reduce));
  return writer.finish();
}

namespace {

Operation gather_parameters(int index, double parameters) {
  Operation gather;
  gather.kind = OperationKind::collective;
  gather.collective = CollectiveKind::all_gather;
  gather.group = Group::data_context;
  gather.activity = Activity::data;
  gather.bytes = Bytes(kWeightBytes * parameters);
  gather.name = "parameter gather";
  gather.asynchronous = true;
  gather.ticket = kFirstParameterTicket + index;
  return gather;
}

}  // namespace

Block start_parameters(double parameters) {
  BlockWriter writer("gather parameters");
  writer.add(gather_parameters(0, parameters));
  return writer.finish();
}

Block gather_weights(const BlockInput& input, double parameters) {
  BlockWriter writer("gather weights");
  Operation gather = gather_parameters(0, parameters);
  gather.asynchronous = input.training.framework.data_overlap;
  gather.ticket = gather.asynchronous ? gather.ticket : -1;
  writer.add(std::move(gather));
  return writer.finish();
}

Block await_parameters(int index, double next_parameters) {
  BlockWriter writer("await parameters");
  Operation wait;
  wait.kind = OperationKind::delay;
  wait.activity = Activity::data;
  wait.name = "parameter gather";
  wait.await = {kFirstParameterTicket + index};
  writer.add(std::move(wait));
  if (next_parameters > 0) {
    writer.add(gather_parameters(index + 1, next_parameters));
  }
  return writer.finish();
}

Block finish_step(const BlockInput& input, const OptimizerInput& optimizer) {
  BlockWriter writer("finish step");
  const FrameworkSpec& framework = input.training.framework;
  write_reduction(writer, input, optimizer);
  write_replica_reductions(writer, input, optimizer);
  write_update(writer, input, optimizer);
  const bool gathers = sharded(input.parallelism) && input.parallelism.sharding != Sharding::zero3;
  if (gathers && optimizer.data_parallel > 1 && !framework.data_overlap) {
    writer.collective(CollectiveKind::all_gather, Group::data_context, Activity::data,
                      Bytes(kWeightBytes * optimizer.parameters), "parameter gather");
  }
  if (framework.step_overhead > core::Seconds(0)) {
    Operation overhead;
    overhead.kind = OperationKind::delay;
    overhead.activity = Activity::other;
    overhead.duration = framework.step_overhead;
    overhead.name = "step overhead";
    writer.add(std::move(overhead));
  }
  return writer.finish();
}

}  // namespace headway::workload
