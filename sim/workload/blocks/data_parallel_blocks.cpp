#include "sim/workload/blocks/data_parallel_blocks.h"

#include <algorithm>
#include <cmath>

#include "sim/workload/blocks/block_writer.h"
#include "sim/workload/constants.h"
#include "sim/workload/elementwise/elementwise.h"
#include "sim/workload/memory/optimizer_state.h"
#include "sim/workload/muon/muon.h"
#include "sim/workload/trained/trained_parameters.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;

/// With fp16's scaled loss gradients are copied to fp32 (written), divided by the scale and clipped
/// (each read and written) in passes of their own. Source: Megatron-LM 2.x,
/// megatron/optimizer/optimizer.py, Float16Optimizer.step.
constexpr double kUnscaleBytes = 4 + 8 + 8;

/// Buckets of one moment that are told apart; more would be events without a difference.
constexpr int kMostPieces = 64;

bool sharded(const ParallelismSpec& parallelism) { return parallelism.sharding != Sharding::zero0; }

CollectiveKind reduction(const ParallelismSpec& parallelism) {
  return sharded(parallelism) ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
}

/// Software that leaves elementwise work to PyTorch clips gradients by a product over all of them,
/// and rounds master weights to 16 bits in a copy of its own (read again) where each rank holds
/// both. Source: torch.nn.utils.clip_grad_norm_, torch._foreach_copy_.
double separate_bytes(const BlockInput& input) {
  const FrameworkSpec& framework = input.training.framework;
  if (framework.elementwise == Elementwise::fused) {
    return 0;
  }
  const bool copies = !full_precision(input.training.precision) && !sharded(input.parallelism);
  return 2 * framework.gradient_bytes + (copies ? kMasterBytes : 0);
}

core::Kernel list_kernel(const char* name, double bytes) {
  core::Kernel kernel = memory_kernel(name, bytes);
  kernel.issued = kListIssue;
  return kernel;
}

/// Casts from the gradient buffer's format to the one on the wire, where they differ.
void write_cast(BlockWriter& writer, const FrameworkSpec& framework, double parameters) {
  if (framework.reduce_bytes != framework.gradient_bytes) {
    writer.compute(memory_kernel("gradient cast",
                                 (framework.gradient_bytes + framework.reduce_bytes) * parameters));
  }
}

/// Parameters of one kind, shared or experts, and the ranks that divide their states.
struct Divided {
  double parameters = 0;
  Group group = Group::data_context;
  int shards = 1;                 ///< hsdp: ranks of the group
  Group copies = Group::replica;  ///< hsdp: ranks of other groups with the same shard
};

/// Calls `visit` for the two kinds of parameters, where there are any.
template <class F>
void for_each_group(const RankParameters& parameters, const ParallelismSpec& parallelism, F visit) {
  const bool hybrid = parallelism.sharding == Sharding::hsdp;
  if (parameters.shared > 0) {
    visit(Divided{parameters.shared, hybrid ? Group::shard : Group::data_context,
                  parallelism.shard_group_size, Group::replica});
  }
  if (parameters.experts > 0) {
    visit(Divided{parameters.experts, hybrid ? Group::expert_shard : Group::expert_data,
                  expert_shard_ranks(parallelism), Group::expert_replica});
  }
}

/// Buckets that gradients of so many parameters are reduced in: one, or where the software states a
/// size as many as reach it, but no tensor is in two.
double reduction_pieces(const BlockInput& input, double parameters, int tensors) {
  const auto& bucket = input.training.framework.gradient_bucket;
  if (!bucket || shards_weights(input.parallelism.sharding)) {
    return 1;
  }
  const Bytes bytes(input.shape.element * parameters);
  return std::clamp(std::floor(bytes / *bucket), 1.0, static_cast<double>(tensors));
}

/// Reductions of gradients, and with hsdp that of each rank's share over the copies.
void add_reductions(BlockWriter& writer,
                    const BlockInput& input,
                    const RankParameters& parameters,
                    int tensors,
                    bool overlap) {
  const FrameworkSpec& framework = input.training.framework;
  write_cast(writer, framework, parameters.total());
  const auto add = [&](CollectiveKind kind, Group group, double count) {
    const double pieces = reduction_pieces(input, count, tensors);
    Operation reduce;
    reduce.kind = OperationKind::collective;
    reduce.collective = kind;
    reduce.group = group;
    reduce.activity = Activity::data;
    reduce.bytes = Bytes(framework.reduce_bytes * count / pieces);
    reduce.name = "gradient reduction";
    reduce.asynchronous = overlap;
    reduce.ticket = overlap ? kGradientTicket : -1;
    for (double piece = 0; piece < pieces; ++piece) {
      writer.add(reduce);
    }
  };
  for_each_group(parameters, input.parallelism, [&](const Divided& divided) {
    add(reduction(input.parallelism), divided.group, divided.parameters);
    if (input.parallelism.sharding == Sharding::hsdp) {
      add(CollectiveKind::all_reduce, divided.copies, divided.parameters / divided.shards);
    }
  });
}

/// Gradients of weights that several ranks of a replica hold.
void write_replica_reductions(BlockWriter& writer,
                              const BlockInput& input,
                              const OptimizerInput& optimizer) {
  const double gradient_bytes = input.training.framework.gradient_bytes;
  if (input.shape.gathers && optimizer.replicated > 0) {
    // With sequence parallelism every rank saw only its tokens: what all hold whole is summed.
    writer.collective(CollectiveKind::all_reduce, Group::tensor, Activity::tensor,
                      Bytes(gradient_bytes * optimizer.replicated), "norm gradients");
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
  if (!optimizer.ranks.several() || optimizer.parameters.total() <= 0) {
    return;
  }
  if (reduces_beside_backward(framework, input.parallelism)) {
    Operation wait;
    wait.kind = OperationKind::delay;
    wait.activity = Activity::data;
    wait.name = "gradient reduction";
    wait.await = {kGradientTicket};
    writer.add(std::move(wait));
    return;
  }
  if (reduces_every_micro_batch(framework, input.parallelism)) {
    return;
  }
  add_reductions(writer, input, optimizer.parameters, kMostPieces, false);
}

core::Kernel host_kernel(core::KernelKind kind, const char* name, double bytes) {
  core::Kernel kernel = memory_kernel(name, bytes);
  kernel.kind = kind;
  return kernel;
}

void write_update(BlockWriter& writer, const BlockInput& input, const OptimizerInput& optimizer) {
  const double gradient_bytes = input.training.framework.gradient_bytes;
  const RankParameters& all = optimizer.parameters;
  const double shard =
      all.shared / optimizer.ranks.shards + all.experts / optimizer.ranks.expert_shards;
  const double held = shards_gradients(input.parallelism.sharding) ? shard : all.total();
  const double updated = sharded(input.parallelism) ? shard : all.total();
  if (input.training.precision == core::Precision::fp16) {
    writer.compute({memory_kernel("unscale gradients", (gradient_bytes + kUnscaleBytes) * updated)},
                   Activity::optimizer);
  }
  if (updated > 0) {
    writer.compute({list_kernel("gradient norm", gradient_bytes * updated)}, Activity::optimizer);
  }
  // One number a rank, but every rank of the job waits for all others here.
  writer.collective(CollectiveKind::all_reduce, Group::world, Activity::data, Bytes(4),
                    "gradient norm");
  if (all.total() <= 0) {
    return;  // nothing of this stage is trained
  }
  const core::Kernel clear = memory_kernel("clear gradients", gradient_bytes * held);
  const bool full = full_precision(input.training.precision);
  const double weight_bytes = element_bytes(input.training.precision);
  const OptimizerState state = input.training.optimizer_state;
  const double others =
      state == OptimizerState::muon
          ? (1 - optimizer.matrix_share) *
                (update_bytes(OptimizerState::adam_fp32, full) - update_bytes(state, full))
          : 0.0;
  const double moved = (gradient_bytes + update_bytes(state, full) + others) * updated;
  if (!optimizer.products.empty()) {
    writer.compute(optimizer.products, Activity::optimizer);
  }
  write_newton_schulz(writer, optimizer.orthogonal, muon_mode(input.training));
  if (offloads_optimizer(input.parallelism.offload)) {
    writer.compute(
        {host_kernel(core::KernelKind::host_copy, "gradients to host", gradient_bytes * updated),
         host_kernel(core::KernelKind::host_update, "optimizer on host", moved),
         host_kernel(core::KernelKind::host_copy, "weights from host", weight_bytes * updated),
         clear},
        Activity::optimizer);
    return;
  }
  writer.compute({list_kernel("optimizer", moved + separate_bytes(input) * updated), clear},
                 Activity::optimizer);
}

void add_gathers(BlockWriter& writer,
                 const BlockInput& input,
                 int index,
                 const RankParameters& bytes,
                 bool overlap) {
  for_each_group(bytes, input.parallelism, [&](const Divided& divided) {
    Operation gather;
    gather.kind = OperationKind::collective;
    gather.collective = CollectiveKind::all_gather;
    gather.group = divided.group;
    gather.activity = Activity::data;
    gather.bytes = Bytes(divided.parameters);
    gather.name = "parameter gather";
    gather.asynchronous = overlap;
    gather.ticket = overlap ? kFirstParameterTicket + index : -1;
    writer.add(std::move(gather));
  });
}

}  // namespace

Block reduce_bucket(const BlockInput& input, const Bucket& bucket) {
  constexpr int kTensorsOfALayer = 6;  // keys with queries, output, gate with up, down, norms
  int tensors = 1;                     // embedding or output matrix
  for (const LayerRun& run : bucket.runs) {
    tensors += kTensorsOfALayer * run.layers;
  }
  for (const EncoderRun& run : bucket.encoder) {
    tensors += kTensorsOfALayer * run.count;
  }
  BlockWriter writer("reduce gradients", 2);
  add_reductions(writer, input, bucket.trained, std::min(tensors, kMostPieces),
                 input.training.framework.data_overlap);
  return writer.finish();
}

RankParameters gathered_bytes(const BlockInput& input,
                              const RankParameters& trained,
                              const LayerRuns& runs) {
  const RankShape& shape = input.shape;
  RankParameters bytes = shape.element * trained;
  if (!input.training.framework.allocation.narrow_weights || shape.linear != core::Precision::fp8) {
    return bytes;
  }
  for (const LayerRun& run : runs) {
    if (!run.kind.sixteen_bit) {
      const double saved = (shape.element - operand_bytes(shape.linear)) * run.layers;
      bytes += -saved * held_by_layer(input.model, input.parallelism, run.kind).trained;
    }
  }
  return bytes;
}

Block start_parameters(const BlockInput& input, std::span<const RankParameters> bytes) {
  BlockWriter writer("gather parameters");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    add_gathers(writer, input, static_cast<int>(i), bytes[i], true);
  }
  return writer.finish();
}

Block gather_weights(const BlockInput& input, const Bucket& bucket) {
  BlockWriter writer("gather weights");
  // A bucket of sharded weights has one layer, so one kind.
  const bool narrows =
      input.shape.narrow_gathers && !bucket.runs.empty() && !bucket.runs.front().kind.sixteen_bit;
  const double element = narrows ? operand_bytes(input.shape.linear) : input.shape.element;
  add_gathers(writer, input, 0, element * bucket.parameters, input.training.framework.data_overlap);
  return writer.finish();
}

Block await_parameters(const BlockInput& input,
                       int index,
                       int next,
                       std::span<const RankParameters> next_bytes) {
  BlockWriter writer("await parameters", 2 + next_bytes.size());
  Operation wait;
  wait.kind = OperationKind::delay;
  wait.activity = Activity::data;
  wait.name = "parameter gather";
  wait.await = {kFirstParameterTicket + index};
  writer.add(std::move(wait));
  for (std::size_t i = 0; i < next_bytes.size(); ++i) {
    add_gathers(writer, input, next + static_cast<int>(i), next_bytes[i], true);
  }
  return writer.finish();
}

Block finish_step(const BlockInput& input, const OptimizerInput& optimizer) {
  BlockWriter writer("finish step");
  const FrameworkSpec& framework = input.training.framework;
  write_reduction(writer, input, optimizer);
  write_replica_reductions(writer, input, optimizer);
  write_update(writer, input, optimizer);
  const bool kept =
      !shards_weights(input.parallelism.sharding) || gathers_once(framework, input.parallelism);
  const bool gathers = sharded(input.parallelism) && kept;
  if (gathers && optimizer.ranks.several() && !framework.gathers_beside_forward()) {
    add_gathers(writer, input, 0, optimizer.gathered, false);
    const auto pieces = static_cast<double>(optimizer.weights * optimizer.ranks.shards);
    writer.wait(pieces * framework.host.piece, Activity::launch, "pieces of weights");
  }
  writer.wait(framework.step_overhead, Activity::other, "step overhead");
  return writer.finish();
}

std::vector<core::ModelConstant> gradient_constants() {
  return {{"workload.unscale_bytes", kUnscaleBytes, "B", 0,
           "Megatron-LM 2.x, megatron/optimizer/optimizer.py, Float16Optimizer.step"}};
}

}  // namespace headway::workload
