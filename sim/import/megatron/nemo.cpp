// NeMo 1's megatron_gpt_config.yaml. Source: NVIDIA/NeMo,
// examples/nlp/language_modeling/conf/megatron_gpt_config.yaml, 2023 and 2024.
#include <algorithm>

#include "sim/core/shown_text.h"
#include "sim/import/launch/launch_evaluation.h"
#include "sim/import/launch/launch_fields.h"
#include "sim/import/launch/launch_saves.h"
#include "sim/import/megatron/megatron_rows.h"
#include "sim/import/megatron/nemo_lists.h"

namespace headway::import {

namespace {

using core::Precision;
using workload::Sharding;

void read_nemo_world(LaunchReader& reader, LaunchRun& run) {
  const auto devices = reader.whole("trainer.devices");
  const auto nodes = reader.whole("trainer.num_nodes");
  run.gpus_per_node = devices.value_or(0);
  if (run.gpus == 0 && devices && nodes) {
    run.gpus = ranks_product({*devices, *nodes});
  }
  reader.place("cluster.nodes", "trainer.num_nodes");
  need_gpus(reader, run, "set trainer.devices and trainer.num_nodes, or --gpus N");
}

void write_nemo_world(const LaunchRun& run, LaunchWriter& out) {
  if (run.gpus > 0 && run.gpus_per_node > 0) {
    out.whole("trainer.devices", run.gpus_per_node);
    out.whole("trainer.num_nodes", run.gpus / run.gpus_per_node);
  }
}

/// Micro-batches follow from the batch of a step: NeMo refuses another number.
void look_at_trainer(LaunchReader& reader) {
  look_at_evaluation(reader, "trainer.val_check_interval", "trainer.limit_val_batches");
  constexpr std::string_view kAccumulated = "trainer.accumulate_grad_batches";
  if (reader.word(kAccumulated).value_or("1") != "1") {
    reader.not_modelled(kAccumulated, "micro-batches follow from model.global_batch_size");
  }
  constexpr std::string_view kShare = "trainer.limit_train_batches";
  if (reader.word(kShare).value_or("1.0") != "1.0") {
    reader.not_modelled(kShare, "the run ends with trainer.max_steps");
  }
  constexpr std::string_view kStrategy = "trainer.strategy._target_";
  const std::string strategy = reader.word(kStrategy).value_or("MegatronStrategy");
  if (strategy.find("MegatronStrategy") == std::string::npos) {
    reader.not_modelled(kStrategy, "read as MegatronStrategy");
  }
}

void read_nemo_steps(LaunchReader& reader, LaunchRun& run) {
  look_at_trainer(reader);
  reader.place("run.until.steps", "trainer.max_steps");
  const auto word = reader.word("trainer.max_steps");
  if (word && *word != "-1") {
    run.steps = reader.count("trainer.max_steps");
  }
}

void write_nemo_steps(const LaunchRun& run, LaunchWriter& out) {
  if (run.steps) {
    out.whole("trainer.max_steps", *run.steps);
  }
}

constexpr std::string_view kNemoInterval =
    "exp_manager.checkpoint_callback_params.every_n_train_steps";
constexpr std::string_view kNemoWeights =
    "exp_manager.checkpoint_callback_params.save_weights_only";

void read_nemo_saves(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kSwitch = "exp_manager.create_checkpoint_callback";
  if (!reader.flag(kSwitch).value_or(true)) {
    reader.not_modelled(kSwitch, "the scenario saves all the same: set run.checkpoint");
    return;
  }
  constexpr std::string_view kOptimizer = "model.ckpt_save_optimizer";  // of NeMo 2's strategy
  const bool without = !reader.flag(kOptimizer).value_or(true);
  read_saves(reader, run, kNemoInterval, kNemoAsync, reader.flag(kNemoAsync).value_or(false),
             without ? kOptimizer : kNemoWeights,
             reader.flag(kNemoWeights).value_or(false) || without);
}

void write_nemo_saves(const LaunchRun& run, LaunchWriter& out) {
  if (run.saves) {
    out.whole(kNemoInterval, run.saves->every);
    out.truth(kNemoAsync, run.saves->asynchronous);
    if (run.saves->weights_only) {
      out.truth(kNemoWeights, true);
    }
  }
}

void read_nemo_precision(LaunchReader& reader, LaunchRun& run) {
  const auto written = reader.word("trainer.precision");
  const std::string word = written.value_or("32");
  reader.place("training.precision", "trainer.precision");
  if (word.starts_with("bf16")) {
    run.training.precision = Precision::bf16;
  } else if (word.starts_with("16") || word.starts_with("fp16")) {
    run.training.precision = Precision::fp16;
  } else if (word.starts_with("32") || word == "fp32") {
    run.training.precision = Precision::fp32;
  } else {
    reader.complain("trainer.precision", fmt::format("'trainer.precision' is '{}'; bf16, 16 and 32 "
                                                     "are read",
                                                     core::shortened(word)));
  }
  if (!reader.flag("model.fp8_wgrad").value_or(true)) {
    reader.not_modelled("model.fp8_wgrad",
                        "weight gradients are multiplied in the narrow format too");
  }
  if (reader.flag("model.fp8").value_or(false)) {
    run.training.precision = Precision::fp8;
    run.training.framework.scaling = workload::Scaling::delayed;
    reader.place("training.precision", "model.fp8");
    reader.place("training.framework.allocation.narrow_weights", "model.fp8_params");
    run.training.framework.allocation.narrow_weights =
        reader.flag("model.fp8_params").value_or(false);
  }
  if (!written) {
    reader.assume("trainer.precision is not set: fp32, the framework's default");
  }
  workload::FrameworkSpec& framework = run.training.framework;
  constexpr std::string_view kWide = "model.ddp.grad_reduce_in_fp32";  // of NeMo 2's strategy
  if (const auto wide = reader.flag(kWide)) {
    reader.place("training.framework.gradient_bytes", kWide);
    framework.gradient_bytes = framework.reduce_bytes = *wide ? 4 : 2;
  }
  reader.place("training.framework.gradient_bytes", "model.optim.grad_sync_dtype");
  if (const auto dtype = reader.word("model.optim.grad_sync_dtype")) {
    const bool wide = dtype->find("32") != std::string::npos;
    framework.gradient_bytes = framework.reduce_bytes = wide ? 4 : 2;
  }
}

void write_nemo_precision(const LaunchRun& run, LaunchWriter& out) {
  const Precision precision = run.training.precision;
  const bool full = precision == Precision::fp32 || precision == Precision::tf32;
  if (full) {
    out.whole("trainer.precision", 32);
  } else if (precision == Precision::fp16) {
    out.whole("trainer.precision", 16);
  } else {
    out.text("trainer.precision", "bf16");
  }
  const Sharding sharding = run.parallelism.sharding;
  const bool fsdp = sharding == Sharding::zero2 || sharding == Sharding::zero3;
  out.truth("model.megatron_amp_O2", !full && !fsdp);  // FSDP is refused with it
  const bool narrow = precision == Precision::fp8 || precision == Precision::mxfp8;
  out.truth("model.fp8", narrow);
  if (narrow) {
    out.truth("model.fp8_hybrid", true);
    out.truth("model.fp8_params", run.training.framework.allocation.narrow_weights);
  }
  out.text("model.optim.grad_sync_dtype", run.training.framework.gradient_bytes == 4 ? "fp32"
                                          : precision == Precision::fp16             ? "fp16"
                                                                                     : "bf16");
}

void read_nemo_gated(LaunchReader& reader, LaunchRun& run) {
  reader.place("model.gated_mlp", "model.activation");
  if (const auto word = reader.word("model.activation")) {
    run.model.gated_mlp = word->find("glu") != std::string::npos;
  }
  // A scenario has one kind of norm with gated MLPs, another with plain ones.
  const bool rms = reader.word("model.normalization").value_or("layernorm") == "rmsnorm";
  if (rms != run.model.gated_mlp) {
    reader.not_modelled("model.normalization",
                        rms ? "norms of models with plain MLPs are timed as LayerNorm"
                            : "norms of models with gated MLPs are timed as RMSNorm");
  }
}

void write_nemo_gated(const LaunchRun& run, LaunchWriter& out) {
  out.text("model.activation", run.model.gated_mlp ? "fast-swiglu" : "gelu");
  out.text("model.normalization", run.model.gated_mlp ? "rmsnorm" : "layernorm");
}

void read_nemo_sharding(LaunchReader& reader, LaunchRun& run) {
  const std::string name = reader.word("model.optim.name").value_or("fused_adam");
  const bool fsdp = reader.flag("model.fsdp").value_or(false);
  const std::string strategy = reader.word("model.fsdp_sharding_strategy").value_or("full");
  const bool distributed = name.find("distributed") != std::string::npos;
  constexpr std::string_view kSharded = "model.ddp.use_distributed_optimizer";  // of NeMo 2
  run.parallelism.sharding =
      reader.flag(kSharded).value_or(distributed) ? Sharding::zero1 : Sharding::zero0;
  reader.place("parallelism.sharding", reader.has(kSharded) ? kSharded : "model.optim.name");
  if (fsdp) {
    reader.place("parallelism.sharding", "model.fsdp");
    run.parallelism.sharding = strategy == "grad" ? Sharding::zero2 : Sharding::zero3;
    if (strategy == "hybrid") {
      reader.not_modelled("model.fsdp_sharding_strategy",
                          "read as full: set sharding: hsdp and shard_group_size");
    }
  }
  if (name.find("adam") == std::string::npos && name.find("mcore") == std::string::npos) {
    reader.not_modelled("model.optim.name", "read as Adam with moments in fp32");
  }
}

void write_nemo_sharding(const LaunchRun& run, LaunchWriter& out) {
  const Sharding sharding = run.parallelism.sharding;
  const bool fsdp = sharding == Sharding::zero2 || sharding == Sharding::zero3;
  out.text("model.optim.name",
           sharding == Sharding::zero1 ? "mcore_distributed_optim" : "fused_adam");
  out.truth("model.fsdp", fsdp);
  if (fsdp) {
    out.text("model.fsdp_sharding_strategy", sharding == Sharding::zero2 ? "grad" : "full");
  }
}

void read_nemo_overlap(LaunchReader& reader, LaunchRun& run) {
  const auto reduce = reader.flag("model.optim.overlap_grad_sync");
  const auto gather = reader.flag("model.optim.overlap_param_sync");
  reader.place("training.framework.data_overlap", "model.optim.overlap_grad_sync");
  run.training.framework.data_overlap = reduce.value_or(false);
  for (const char* key :
       {"model.tp_comm_overlap_ag", "model.tp_comm_overlap_rs", "model.tp_comm_split_ag",
        "model.tp_comm_split_rs", "model.tp_comm_bulk_dgrad", "model.tp_comm_bulk_wgrad"}) {
    if (!reader.flag(key).value_or(true)) {
      reader.not_modelled(key, "all tensor-parallel collectives are taken to overlap");
    }
  }
  if (run.training.framework.data_overlap && run.parallelism.sharding == Sharding::zero1) {
    reader.place("training.framework.gather_overlap", "model.optim.overlap_param_sync");
    run.training.framework.gather_overlap = gather.value_or(false);
  }
}

void write_nemo_overlap(const LaunchRun& run, LaunchWriter& out) {
  out.truth("model.optim.overlap_grad_sync", run.training.framework.data_overlap);
  out.truth("model.optim.overlap_param_sync", run.training.framework.gathers_beside_forward() &&
                                                  run.parallelism.sharding != Sharding::zero0);
}

void read_nemo_offload(LaunchReader& reader, LaunchRun& run) {
  reader.place("parallelism.offload", "model.cpu_offloading");
  constexpr std::string_view kLayersKey = "model.cpu_offloading_num_layers";
  reader.pass_over(kLayersKey);
  if (reader.flag("model.cpu_offloading").value_or(false)) {
    const auto layers = reader.whole(kLayersKey, 0);
    run.parallelism.offload = workload::Offload::activations;
    if (layers && *layers > 0) {
      run.parallelism.offload_layers = *layers;
    }
  }
}

void write_nemo_offload(const LaunchRun& run, LaunchWriter& out) {
  if (workload::offloads_activations(run.parallelism.offload)) {
    out.truth("model.cpu_offloading", true);
    if (!run.parallelism.offload_layers.is_auto()) {
      out.whole("model.cpu_offloading_num_layers", *run.parallelism.offload_layers.value);
    }
  }
}

void read_nemo_batch(LaunchReader& reader, LaunchRun& run) {
  reader.place("training.global_batch", "model.global_batch_size");
  if (const auto batch = reader.whole("model.global_batch_size")) {
    run.training.global_batch = *batch;
  } else {
    reader.lacks("training.global_batch: model.global_batch_size is not set");
  }
}

constexpr auto kCudaGraphs = [](LaunchRun& r) { return &r.training.framework.cuda_graphs; };

std::vector<LaunchRow> nemo_rows() {  // NOLINT(readability-function-size): a table
  const MegatronSpelling spell{"model.", true, false, "activations-checkpoint"};
  return {
      ruled({"trainer.devices", "trainer.num_nodes"}, {"cluster.nodes"}, read_nemo_world,
            write_nemo_world),
      {{"model.num_layers"}, {"model.layers"}, kLayers},
      {{"model.hidden_size"}, {"model.hidden"}, kHidden},
      {{"model.num_attention_heads"}, {"model.heads"}, kHeads},
      key_value_heads_row(spell),
      head_dim_row(spell),
      latent_row(spell),
      attention_variant_row(spell),
      attention_gate_row(spell),
      ruled({"model.activation", "model.normalization"}, {"model.gated_mlp"}, read_nemo_gated,
            write_nemo_gated),
      ffn_row(spell),
      {{"model.share_embeddings_and_output_weights"},
       {"model.tied_embeddings"},
       FlagField{kTiedEmbeddings}},
      {{"model.bias"}, {"model.biases"}, FlagField{kBiases}},
      dropout_row(spell),
      query_key_norm_row(spell),
      experts_row(spell, "model.num_moe_experts"),
      {{"model.moe_router_topk"}, {"model.moe.top_k"}, kTopK},
      {{"model.moe_router_num_groups"}, {"model.moe.routing_groups"}, kRoutingGroups},
      {{"model.moe_router_group_topk"}, {"model.moe.group_limit"}, kGroupLimit, 0},
      {{"model.moe_pad_expert_input_to_capacity"}, {"model.moe.padded"}, FlagField{kPadded}},
      {{"model.encoder_seq_length", "model.seq_length"},
       {"training.sequence_length"},
       kSequenceLength},
      positions_row(spell),
      {{"model.tensor_model_parallel_size"}, {"parallelism.tensor"}, kTensor},
      {{"model.sequence_parallel"},
       {"parallelism.sequence"},
       FlagField{kSequence},
       1,
       kHasTensorRanks},
      {{"model.pipeline_model_parallel_size"}, {"parallelism.pipeline"}, kPipeline},
      {{"model.virtual_pipeline_model_parallel_size"}, {"parallelism.virtual"}, kVirtualStages},
      {{"model.context_parallel_size"}, {"parallelism.context"}, kContext},
      context_kind_row(spell),
      {{"model.expert_model_parallel_size"}, {"parallelism.expert"}, kExpert, 1, kHasExperts},
      expert_tensor_row(spell),
      uneven_stages_row(spell),
      vocabulary_row(spell, "model.override_vocab_size"),
      {{"model.micro_batch_size"}, {"parallelism.micro_batch"}, kMicroBatch},
      ruled({"model.global_batch_size"}, {"training.global_batch"}, read_nemo_batch,
            [](const LaunchRun& run, LaunchWriter& out) {
              out.whole("model.global_batch_size", run.training.global_batch);
            }),
      ruled({"trainer.max_steps"}, {"run.until.steps"}, read_nemo_steps, write_nemo_steps),
      ruled({std::string(kNemoInterval), std::string(kNemoAsync), std::string(kNemoWeights)},
            {"run.checkpoint.interval_steps", "run.checkpoint.mode",
             "run.checkpoint.bytes_per_parameter"},
            read_nemo_saves, write_nemo_saves),
      ruled({"trainer.precision", "model.fp8", "model.fp8_params", "model.optim.grad_sync_dtype"},
            {"training.precision", "training.framework.gradient_bytes",
             "training.framework.allocation.narrow_weights"},
            read_nemo_precision, write_nemo_precision),
      ruled({"model.optim.name", "model.fsdp", "model.fsdp_sharding_strategy"},
            {"parallelism.sharding"}, read_nemo_sharding, write_nemo_sharding),
      ruled({"model.optim.overlap_grad_sync", "model.optim.overlap_param_sync"},
            {"training.framework.data_overlap", "training.framework.gather_overlap"},
            read_nemo_overlap, write_nemo_overlap),
      tensor_overlap_row(spell, "model.ub_tp_comm_overlap"),
      recompute_row(spell),
      ruled({"model.cpu_offloading", "model.cpu_offloading_num_layers"},
            {"parallelism.offload", "parallelism.offload_layers"}, read_nemo_offload,
            write_nemo_offload),
      rank_order_row(spell),
      dispatcher_row(spell),
      {{"model.enable_cuda_graph"}, {"training.framework.cuda_graphs"}, FlagField{kCudaGraphs}},
  };
}

}  // namespace

const LaunchTable& nemo_table() {
  static const LaunchTable table{
      "nemo",
      "nemo-yaml",
      "nemo-2024",
      LaunchSyntax::yaml,
      LaunchModel::by_shape,
      false,
      nemo_rows(),
      nemo_no_effect(),
      nemo_not_modelled(),
      set_megatron_defaults,
      "model.tokenizer, model.data, the learning rate in model.optim, exp_manager (how often it "
      "saves "
      "where the scenario has no run.checkpoint.interval_steps), model.rotary_base (a scenario has "
      "none, and its default is 10000), model.normalization of models whose norms are other than "
      "rmsnorm with gated MLPs and layernorm with plain ones, how experts are scored "
      "(model.moe_router_score_function, moe_router_enable_expert_bias, "
      "moe_router_topk_scaling_factor, moe_router_load_balancing_type, moe_aux_loss_coeff), "
      "CUDA_DEVICE_MAX_CONNECTIONS=1 in the "
      "environment where tensor or context ranks run on GPUs older than Blackwell",
      nullptr,
      nemo_2_names(),
  };
  return table;
}

}  // namespace headway::import
