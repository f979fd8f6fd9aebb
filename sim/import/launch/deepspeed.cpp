// DeepSpeed's JSON. Source: deepspeedai/DeepSpeed, deepspeed/runtime/config.py, zero/config.py and
// the documentation of its keys (deepspeed.ai/docs/config-json), 2024 and 2025.
#include <algorithm>

#include "sim/core/shown_text.h"
#include "sim/import/launch/launch_fields.h"
#include "sim/import/megatron/megatron_rows.h"

namespace headway::import {

namespace {

using core::Precision;
using workload::Offload;
using workload::Sharding;

/// A number that is set, and not to "auto".
std::optional<int> whole_unless_auto(LaunchReader& reader, std::string_view key, int least = 1) {
  const auto word = reader.word(key);
  if (word && *word == "auto") {
    reader.assume(fmt::format("{} is 'auto': what starts DeepSpeed sets it", key));
    return std::nullopt;
  }
  return reader.whole(key, least);
}

bool truth_unless_auto(LaunchReader& reader, std::string_view key, bool fallback) {
  const auto word = reader.word(key);
  return word && *word != "auto" ? reader.flag(key).value_or(fallback) : fallback;
}

/// The batch that is set, or that of the ranks.
void take_batch(std::optional<int> total,
                std::optional<int> micro,
                std::optional<int> steps,
                std::int64_t replica,
                LaunchReader& reader,
                LaunchRun& run) {
  if (total) {
    run.training.global_batch = *total;
  } else if (micro && run.gpus > 0 && run.gpus % replica == 0) {
    const std::int64_t batch = ranks_product({run.gpus / replica, *micro, steps.value_or(1)});
    run.training.global_batch = static_cast<int>(std::min<std::int64_t>(batch, 2'000'000'000));
    reader.assume(fmt::format("the batch is {} x {} ranks x {} micro-batches = {}", *micro,
                              run.gpus / replica, steps.value_or(1), batch));
  } else {
    reader.lacks(run.gpus > 0
                     ? "training.global_batch: set train_batch_size, or "
                       "train_micro_batch_size_per_gpu and gradient_accumulation_steps"
                     : "training.global_batch: set train_batch_size, or name the GPUs: --gpus N");
  }
}

/// train_batch_size = micro-batch x accumulation x data-parallel ranks.
void read_deepspeed_batch(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kTotal = "train_batch_size";
  constexpr std::string_view kMicro = "train_micro_batch_size_per_gpu";
  const auto total = whole_unless_auto(reader, kTotal);
  const auto micro = whole_unless_auto(reader, kMicro);
  const auto steps = whole_unless_auto(reader, "gradient_accumulation_steps");
  workload::ParallelismSpec& p = run.parallelism;
  reader.place("training.global_batch", kTotal);
  reader.place("parallelism.micro_batch", kMicro);
  const std::int64_t replica = ranks_product({p.tensor, p.context, p.pipeline});
  if (micro) {
    p.micro_batch = *micro;
  }
  const std::int64_t data_ranks = run.gpus > 0 && run.gpus % replica == 0 ? run.gpus / replica : 0;
  if (total && steps && !micro && data_ranks > 0) {
    const std::int64_t micro_batches = ranks_product({data_ranks, *steps});
    if (*total % micro_batches != 0) {
      reader.complain(kTotal, fmt::format("a batch of {} is no multiple of {} ranks x {} "
                                          "micro-batches",
                                          *total, data_ranks, *steps));
    } else {
      p.micro_batch = static_cast<int>(*total / micro_batches);
      reader.assume(fmt::format("{} is {} / {} ranks / {} micro-batches = {}", kMicro, *total,
                                data_ranks, *steps, p.micro_batch));
    }
  }
  if (total && micro && steps) {
    const std::int64_t sample = ranks_product({*micro, *steps});
    const std::int64_t data = *total / sample;
    if (data * sample != *total) {
      reader.complain(kTotal,
                      fmt::format("a batch of {} is no multiple of {} in a micro-batch x {} "
                                  "micro-batches",
                                  *total, *micro, *steps));
    } else if (run.gpus > 0 && run.gpus != ranks_product({data, replica})) {
      reader.complain(
          kTotal,
          fmt::format("a batch of {} = {} in a micro-batch x {} micro-batches x {} "
                      "ranks, which are {} GPUs, not {}",
                      *total, *micro, *steps, data, ranks_product({data, replica}), run.gpus));
    }
    run.gpus = run.gpus > 0 ? run.gpus : ranks_product({data, replica});
  }
  take_batch(total, micro, steps, replica, reader, run);
  if (!micro && !(total && steps && data_ranks > 0)) {
    reader.assume(fmt::format("{} is not set: {}", kMicro, p.micro_batch));
  }
  need_gpus(reader, run, "name them: --gpus N");
}

void write_deepspeed_batch(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  out.whole("train_batch_size", run.training.global_batch);
  out.whole("train_micro_batch_size_per_gpu", p.micro_batch);
  const std::int64_t data = p.data.is_auto() ? 1 : *p.data.value;
  const std::int64_t sample = data * p.micro_batch;
  if (run.training.global_batch % sample == 0) {
    out.whole("gradient_accumulation_steps", run.training.global_batch / sample);
  }
}

void read_zero(LaunchReader& reader, LaunchRun& run) {
  const int stage = reader.whole("zero_optimization.stage", 0).value_or(0);
  reader.place("parallelism.sharding", "zero_optimization.stage");
  if (stage > 3) {
    reader.complain("zero_optimization.stage", fmt::format("stage {}: there are 0 to 3", stage));
    return;
  }
  run.parallelism.sharding = stage == 3   ? Sharding::zero3
                             : stage == 2 ? Sharding::zero2
                             : stage == 1 ? Sharding::zero1
                                          : Sharding::zero0;
  constexpr std::string_view kGroup = "zero_optimization.mics_shard_size";
  const bool grouped = reader.word(kGroup).value_or("-1") != "-1";  // -1: all ranks
  const auto group = grouped ? reader.whole(kGroup) : std::nullopt;
  if (group && stage == 3) {
    reader.place("parallelism.shard_group_size", "zero_optimization.mics_shard_size");
    run.parallelism.sharding = Sharding::hsdp;
    run.parallelism.shard_group_size = *group;
  }
}

void write_zero(const LaunchRun& run, LaunchWriter& out) {
  const Sharding sharding = run.parallelism.sharding;
  out.whole("zero_optimization.stage", sharding == Sharding::zero0   ? 0
                                       : sharding == Sharding::zero1 ? 1
                                       : sharding == Sharding::zero2 ? 2
                                                                     : 3);
  if (sharding == Sharding::hsdp) {
    out.whole("zero_optimization.mics_shard_size", run.parallelism.shard_group_size);
  }
}

void read_zero_offload(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kKey = "zero_optimization.offload_optimizer.device";
  const std::string device = reader.word(kKey).value_or("none");
  reader.place("parallelism.offload", kKey);
  if (device == "cpu" || device == "nvme") {
    run.parallelism.offload = Offload::optimizer;
    if (device == "nvme") {
      reader.not_modelled(kKey,
                          "read as cpu: drives are not modelled as a place for the optimizer");
    }
  } else if (device != "none") {
    reader.complain(
        kKey, fmt::format("'{}' is '{}'; it is cpu, nvme or none", kKey, core::shortened(device)));
  }
  constexpr std::string_view kWeights = "zero_optimization.offload_param.device";
  if (reader.word(kWeights).value_or("none") != "none") {
    reader.not_modelled(kWeights, "offload of weights is not modelled; they stay on the GPU");
  }
}

void write_zero_offload(const LaunchRun& run, LaunchWriter& out) {
  if (workload::offloads_optimizer(run.parallelism.offload)) {
    out.text("zero_optimization.offload_optimizer.device", "cpu");
    out.truth("zero_optimization.offload_optimizer.pin_memory", true);
  }
}

void read_deepspeed_precision(LaunchReader& reader, LaunchRun& run) {
  const bool bf16 = truth_unless_auto(reader, "bf16.enabled", false) ||
                    truth_unless_auto(reader, "bfloat16.enabled", false);
  const bool fp16 = truth_unless_auto(reader, "fp16.enabled", false);
  reader.place("training.precision", bf16 ? "bf16.enabled" : "fp16.enabled");
  if (bf16 && fp16) {
    reader.complain("fp16.enabled", "both bf16 and fp16 are enabled; leave one out");
  }
  const bool undecided = reader.word("bf16.enabled").value_or("") == "auto" && !fp16;
  run.training.precision = bf16 || undecided ? Precision::bf16
                           : fp16            ? Precision::fp16
                                             : Precision::fp32;
  if (undecided) {
    reader.assume("bf16.enabled is 'auto': bf16");
  } else if (!bf16 && !fp16) {
    reader.assume("neither bf16 nor fp16 is enabled: fp32, the framework's default");
  }
  workload::FrameworkSpec& framework = run.training.framework;
  reader.place("training.framework.reduce_bytes", "communication_data_type");
  if (const auto word = reader.word("communication_data_type")) {
    framework.reduce_bytes = *word == "fp32" ? 4 : 2;
  }
  reader.place("training.framework.gradient_bytes", "data_types.grad_accum_dtype");
  if (const auto word = reader.word("data_types.grad_accum_dtype")) {
    framework.gradient_bytes = *word == "fp32" ? 4 : 2;
  }
}

void write_deepspeed_precision(const LaunchRun& run, LaunchWriter& out) {
  const Precision precision = run.training.precision;
  const bool full = precision == Precision::fp32 || precision == Precision::tf32;
  out.truth("bf16.enabled", !full && precision != Precision::fp16);
  out.truth("fp16.enabled", precision == Precision::fp16);
  const auto dtype = [&](double bytes) {
    return bytes == 4 ? "fp32" : precision == Precision::fp16 ? "fp16" : "bf16";
  };
  out.text("communication_data_type", dtype(run.training.framework.reduce_bytes));
  out.text("data_types.grad_accum_dtype", dtype(run.training.framework.gradient_bytes));
}

void read_deepspeed_optimizer(LaunchReader& reader, LaunchRun& run) {
  const auto word = reader.word("optimizer.type");
  reader.place("training.optimizer_state", "optimizer.type");
  if (!word) {
    return;
  }
  using workload::OptimizerState;
  if (word->find("SGD") != std::string::npos || *word == "sgd") {
    run.training.optimizer_state = OptimizerState::sgd_momentum;
  } else if (word->find("uon") != std::string::npos) {
    run.training.optimizer_state = OptimizerState::muon;
  } else if (word->find("OneBit") != std::string::npos ||
             word->find("ZeroOne") != std::string::npos) {
    reader.not_modelled("optimizer.type",
                        "read as Adam with moments in fp32, whose gradients are not compressed");
  } else if (word->find("dam") == std::string::npos) {
    reader.not_modelled("optimizer.type", "read as Adam with moments in fp32");
  }
}

void write_deepspeed_optimizer(const LaunchRun& run, LaunchWriter& out) {
  using workload::OptimizerState;
  const OptimizerState state = run.training.optimizer_state;
  out.text("optimizer.type", state == OptimizerState::sgd_momentum ? "SGD"
                             : state == OptimizerState::muon       ? "Muon"
                                                                   : "AdamW");
}

/// Gradients may be reduced beside backward; stages 1 and 2 gather weights in the optimizer's step.
/// Source: deepspeed/runtime/zero/stage_1_and_2.py, step: all_gather_dp_groups.
void read_deepspeed_overlap(LaunchReader& reader, LaunchRun& run) {
  reader.place("training.framework.data_overlap", "zero_optimization.overlap_comm");
  const bool usual =
      run.parallelism.sharding == Sharding::zero3 || run.parallelism.sharding == Sharding::hsdp;
  run.training.framework.data_overlap =
      truth_unless_auto(reader, "zero_optimization.overlap_comm", usual);
  if (run.parallelism.sharding == Sharding::zero1 || run.parallelism.sharding == Sharding::zero2) {
    reader.place("training.framework.gather_overlap", "zero_optimization.stage");
    run.training.framework.gather_overlap = false;
  }
}

/// Ulysses: sequences are traded for heads.
void read_ulysses(LaunchReader& reader, LaunchRun& run) {
  reader.pass_over("data_parallel_size");  // follows from the GPUs
  if (const auto ranks = whole_unless_auto(reader, "sequence_parallel_size")) {
    reader.place("parallelism.context", "sequence_parallel_size");
    run.parallelism.context = *ranks;
    run.parallelism.context_kind = workload::ContextKind::all_to_all;
  }
}

void write_ulysses(const LaunchRun& run, LaunchWriter& out) {
  if (run.parallelism.context > 1) {
    out.whole("sequence_parallel_size", run.parallelism.context);
    out.whole("data_parallel_size", run.parallelism.data.value.value_or(1));
  }
}

void read_stages(LaunchReader& reader, LaunchRun& run) {
  reader.place("parallelism.pipeline", "pipeline.stages");
  run.parallelism.pipeline = whole_unless_auto(reader, "pipeline.stages").value_or(1);
  const auto interval = reader.whole("pipeline.activation_checkpoint_interval", 0);
  reader.place("parallelism.recompute", "pipeline.activation_checkpoint_interval");
  if (interval && *interval > 0) {
    run.parallelism.recompute = workload::Recompute::full;
  }
  if (!interval) {
    reader.assume("recompute none: what is recomputed is set in the program, not in this file");
  }
}

void write_stages(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  if (p.pipeline > 1) {
    out.whole("pipeline.stages", p.pipeline);
    out.whole("pipeline.activation_checkpoint_interval",
              p.recompute == workload::Recompute::full ? 1 : 0);
  }
}

void set_deepspeed_defaults(LaunchRun& run) {
  run.parallelism.sequence = false;
  run.parallelism.sharding = Sharding::zero0;
}

std::vector<LaunchRow> deepspeed_rows() {
  return {
      {{"tensor_parallel.autotp_size"}, {"parallelism.tensor"}, kTensor, 1, kHasTensorRanks},
      ruled({"sequence_parallel_size"}, {"parallelism.context", "parallelism.context_kind"},
            read_ulysses, write_ulysses),
      ruled({"pipeline.stages", "pipeline.activation_checkpoint_interval"},
            {"parallelism.pipeline", "parallelism.recompute"}, read_stages, write_stages),
      ruled({"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"},
            {"training.global_batch", "parallelism.micro_batch"}, read_deepspeed_batch,
            write_deepspeed_batch),
      ruled({"bf16.enabled", "fp16.enabled", "communication_data_type",
             "data_types.grad_accum_dtype"},
            {"training.precision", "training.framework.reduce_bytes",
             "training.framework.gradient_bytes"},
            read_deepspeed_precision, write_deepspeed_precision),
      ruled({"optimizer.type"}, {"training.optimizer_state"}, read_deepspeed_optimizer,
            write_deepspeed_optimizer),
      ruled({"zero_optimization.stage", "zero_optimization.mics_shard_size"},
            {"parallelism.sharding", "parallelism.shard_group_size"}, read_zero, write_zero),
      ruled(
          {"zero_optimization.offload_optimizer.device", "zero_optimization.offload_param.device"},
          {"parallelism.offload"}, read_zero_offload, write_zero_offload),
      ruled({"zero_optimization.overlap_comm"},
            {"training.framework.data_overlap", "training.framework.gather_overlap"},
            read_deepspeed_overlap,
            [](const LaunchRun& run, LaunchWriter& out) {
              out.truth("zero_optimization.overlap_comm", run.training.framework.data_overlap);
            }),
  };
}

constexpr std::string_view kDeepspeedNoEffect[]{
    "//",
    "seq_parallel_communication_data_type",
    "zero_optimization.override_module_apply",
    "zero_optimization.pipeline_loading_checkpoint",
    "zero_optimization.legacy_stage1",
    "optimizer.params.*",
    "optimizer.legacy_fusion",
    "scheduler.*",
    "gradient_clipping",
    "prescale_gradients",
    "gradient_predivide_factor",
    "sparse_gradients",
    "steps_per_print",
    "wall_clock_breakdown",
    "dump_state",
    "memory_breakdown",
    "zero_allow_untested_optimizer",
    "zero_force_ds_cpu_optimizer",
    "fp16.*",
    "bf16.*",
    "bfloat16.*",
    "flops_profiler.*",
    "comms_logger.*",
    "tensorboard.*",
    "wandb.*",
    "csv_monitor.*",
    "comet.*",
    "monitor_config.*",
    "aio.*",
    "nebula.*",
    "checkpoint.*",
    "load_universal_checkpoint",
    "use_node_local_storage",
    "data_efficiency.*",
    "dataloader_drop_last",
    "seed",
    "disable_allgather",
    "graph_harvesting",
    "timers.*",
    "zero_optimization.contiguous_gradients",
    "zero_optimization.reduce_scatter",
    "zero_optimization.reduce_bucket_size",
    "zero_optimization.allgather_bucket_size",
    "zero_optimization.allgather_partitions",
    "zero_optimization.sub_group_size",
    "zero_optimization.stage3_*",
    "zero_optimization.round_robin_gradients",
    "zero_optimization.ignore_unused_parameters",
    "zero_optimization.load_from_fp32_weights",
    "zero_optimization.elastic_checkpoint",
    "zero_optimization.offload_optimizer.*",
    "zero_optimization.offload_param.*",
    "zero_optimization.memory_efficient_linear",
    "zero_optimization.use_multi_rank_bucket_allreduce",
    "pipeline.*",
    "elasticity.*",
    "autotuning.*",
    "zero_optimization.log_trace_cache_warnings",
    "zero_optimization.cpu_offload_pin_memory",
};

constexpr NotModelled kDeepspeedNotModelled[]{
    {"zero_optimization.zero_hpz_partition_size",
     "weights are gathered from all ranks, not from a second copy in the node"},
    {"zero_optimization.zero_quantized_weights", "weights are gathered in 16 bits"},
    {"zero_optimization.zero_quantized_gradients", "gradients are reduced as reduce_bytes says"},
    {"zero_optimization.zero_quantized_nontrainable_weights", "weights are gathered in 16 bits"},
    {"zero_optimization.mics_hierarchical_params_gather", "weights are gathered in one step"},
    {"zero_optimization.cpu_offload", "an old key; set offload_optimizer.device"},
    {"zero_optimization.cpu_offload_params", "offload of weights is not modelled"},
    {"zero_optimization.offload_optimizer.ratio", "the whole optimizer is offloaded"},
    {"activation_checkpointing.partition_activations", "saved inputs lie whole on every rank"},
    {"activation_checkpointing.cpu_checkpointing", "set parallelism.offload: activations"},
    {"activation_checkpointing.contiguous_memory_optimization", "memory is not fragmented"},
    {"activation_checkpointing.number_checkpoints",
     "layers that recompute: set parallelism.recompute_layers"},
    {"activation_checkpointing.synchronize_checkpoint_boundary", "no such wait is modelled"},
    {"activation_checkpointing.profile", "no profiling is modelled"},
    {"amp.enabled", "Apex's mixed precision is not modelled; set training.precision"},
    {"sparse_attention.mode", "sparse attention is not modelled"},
    {"curriculum_learning.enabled", "every sequence has the same length"},
    {"progressive_layer_drop.enabled", "every layer is computed"},
    {"compression_training.weight_quantization", "compression is not modelled"},
};

}  // namespace

const LaunchTable& deepspeed_table() {
  static const LaunchTable table{
      "deepspeed",
      "deepspeed-json",
      "deepspeed",
      LaunchSyntax::json,
      LaunchModel::not_at_all,
      false,
      deepspeed_rows(),
      kDeepspeedNoEffect,
      kDeepspeedNotModelled,
      set_deepspeed_defaults,
      "the model, the length of a sequence and what is recomputed, which the program sets; the "
      "learning rate and its schedule, how often it saves",
  };
  return table;
}

}  // namespace headway::import
