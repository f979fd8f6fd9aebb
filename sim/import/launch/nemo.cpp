// NeMo 1's megatron_gpt_config.yaml. Source: NVIDIA/NeMo,
// examples/nlp/language_modeling/conf/megatron_gpt_config.yaml, 2023 and 2024.
#include <algorithm>

#include "sim/core/shown_text.h"
#include "sim/import/launch/launch_fields.h"
#include "sim/import/launch/launch_saves.h"
#include "sim/import/megatron/megatron_rows.h"

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

void read_nemo_steps(LaunchReader& reader, LaunchRun& run) {
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
constexpr std::string_view kNemoAsync = "exp_manager.checkpoint_callback_params.async_save";

void read_nemo_saves(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kSwitch = "exp_manager.create_checkpoint_callback";
  if (!reader.flag(kSwitch).value_or(true)) {
    reader.not_modelled(kSwitch, "the scenario saves all the same: set run.checkpoint");
    return;
  }
  read_saves(reader, run, kNemoInterval, kNemoAsync, reader.flag(kNemoAsync).value_or(false));
}

void write_nemo_saves(const LaunchRun& run, LaunchWriter& out) {
  if (run.saves) {
    out.whole(kNemoInterval, run.saves->every);
    out.truth(kNemoAsync, run.saves->asynchronous);
  }
}

void read_nemo_precision(LaunchReader& reader, LaunchRun& run) {
  const std::string word = reader.word("trainer.precision").value_or("32");
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
  if (reader.flag("model.fp8").value_or(false)) {
    run.training.precision = Precision::fp8;
    run.training.framework.scaling = workload::Scaling::delayed;
    reader.place("training.precision", "model.fp8");
    reader.place("training.framework.allocation.narrow_weights", "model.fp8_params");
    run.training.framework.allocation.narrow_weights =
        reader.flag("model.fp8_params").value_or(false);
  }
  workload::FrameworkSpec& framework = run.training.framework;
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
  run.parallelism.sharding = distributed ? Sharding::zero1 : Sharding::zero0;
  reader.place("parallelism.sharding", "model.optim.name");
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
  const auto layers = reader.whole("model.cpu_offloading_num_layers", 0);
  if (reader.flag("model.cpu_offloading").value_or(false)) {
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
      {{"model.qk_layernorm"}, {"model.query_key_norm"}, FlagField{kQueryKeyNorm}},
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
      ruled({std::string(kNemoInterval), std::string(kNemoAsync)},
            {"run.checkpoint.interval_steps", "run.checkpoint.mode"}, read_nemo_saves,
            write_nemo_saves),
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

/// Paths, logs, learning rates, and what every run of the profile has.
constexpr std::string_view kNemoNoEffect[]{
    "name",
    "restore_from_path",
    "trainer.*",
    "exp_manager.*",
    "run.*",
    "hydra.*",
    "defaults*",
    "base_config",
    "cluster.*",
    "model.data.*",
    "model.tokenizer.*",
    "model.optim.*",
    "model.nsys_profile.*",
    "model.nccl_communicator_config_path",
    "model.seed",
    "model.resume_from_checkpoint",
    "model.restore_from_path",
    "model.init_method_std",
    "model.use_scaled_init_method",
    "model.layernorm_epsilon",
    "model.do_layer_norm_weight_decay",
    "model.normalize_attention_scores",
    "model.apply_query_key_layer_scaling",
    "model.rotary_*",
    "model.rotary_percentage",
    "model.seq_len_interpolation_factor",
    "model.attention_type",
    "model.headscale",
    "model.transformer_block_type",
    "model.openai_gelu",
    "model.onnx_safe",
    "model.pre_process",
    "model.post_process",
    "model.persist_layer_norm",
    "model.ffn_dropout",
    "model.embedding_dropout",
    "model.mcore_gpt",
    "model.transformer_engine",
    "model.use_flash_attention",
    "model.native_amp_*",
    "model.hysteresis",
    "model.fp16_lm_cross_entropy",
    "model.grad_*",
    "model.gradient_*",
    "model.use_cpu_initialization",
    "model.apex_transformer_log_level",
    "model.fp8_*",
    "model.reduce_amax",
    "model.use_emha",
    "model.gc_interval",
    "model.megatron_amp_O2",
    "model.moe_router_*",
    "model.moe_aux_loss_coeff",
    "model.moe_z_loss_coeff",
    "model.moe_input_jitter_eps",
    "model.moe_token_drop_policy",
    "model.ub_tp_comm_*",
    "model.tp_comm_*",
    "model.nccl_*",
    "model.dist_ckpt_*",
    "model.sync_batch_comm",
    "model.async_grad_allreduce",
    "model.cross_entropy_loss_fusion",
    "model.scale_positional_embedding",
    "model.name",
    "model.target",
    "model.precision",
    "model.fsdp_grad_reduce_dtype",
    "model.fsdp_sharded_checkpoint",
    "model.fsdp_use_orig_params",
    "model.cpu_offloading_weights",
    "model.cpu_offloading_activations",
    "model.apply_rope_fusion",
    "model.deallocate_pipeline_outputs",
    "model.attention_softmax_in_fp32",
    "model.share_token_embeddings",
    "model.position_embedding_base",
    "model.use_te_rng_tracker",
    "model.enable_megatron_timers",
    "model.megatron_timer_kwargs.*",
};

constexpr std::string_view kFusedByProfile =
    "what is fused is taken from the software's profile; set training.framework.elementwise";

constexpr std::string_view kSavesBySteps = "set run.checkpoint; saves by steps are read";

constexpr NotModelled kNemoNotModelled[]{
    {"exp_manager.checkpoint_callback_params.every_n_epochs", kSavesBySteps},
    {"exp_manager.checkpoint_callback_params.train_time_interval", kSavesBySteps},
    {"model.rampup_batch_size", "every step has the full batch"},
    {"model.data.reset_attention_mask", "list the documents' lengths in training.documents"},
    {"model.activations_checkpoint_layers_per_pipeline", "every stage recomputes alike"},
    {"model.num_micro_batches_with_partial_activation_checkpoints",
     "every micro-batch recomputes alike"},
    {"model.fp32_residual_connection", "the residual stream has 16 bits"},
    {"model.pipeline_model_parallel_split_rank", "models with an encoder are not modelled"},
    {"model.deterministic_mode", "kernels are taken to be the fastest"},
    {"model.window_size", "set model.window"},
    {"model.defer_embedding_wgrad_compute", "the embedding's gradient is computed in its turn"},
    {"model.overlap_p2p_comm", "taken from the software's profile (pipeline_overlap)"},
    {"model.batch_p2p_comm", "taken from the software's profile (pipeline_overlap)"},
    {"model.bias_activation_fusion", kFusedByProfile},
    {"model.bias_dropout_add_fusion", kFusedByProfile},
    {"model.masked_softmax_fusion", kFusedByProfile},
    {"model.get_attention_mask_from_fusion", kFusedByProfile},
};

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
      kNemoNoEffect,
      kNemoNotModelled,
      set_megatron_defaults,
      "model.tokenizer, model.data, the learning rate in model.optim, exp_manager (how often it "
      "saves "
      "where the scenario has no run.checkpoint.interval_steps), model.rotary_base (a scenario has "
      "none, and its default is 10000), model.normalization of models whose norms are other than "
      "rmsnorm with gated MLPs and layernorm with plain ones, CUDA_DEVICE_MAX_CONNECTIONS=1 in the "
      "environment where tensor or context ranks run on GPUs older than Blackwell",
  };
  return table;
}

}  // namespace headway::import
