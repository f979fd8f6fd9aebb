#include "sim/import/launch/torchtitan_lists.h"

namespace headway::import {

namespace {

constexpr std::string_view kTitanNoEffect[]{
    "job.*",
    "profiling.*",
    "metrics.*",
    "optimizer.lr",
    "optimizer.beta1",
    "optimizer.beta2",
    "optimizer.eps",
    "optimizer.weight_decay",
    "lr_scheduler.*",
    "checkpoint.folder",
    "checkpoint.initial_load_*",
    "checkpoint.load_*",
    "checkpoint.last_save_*",
    "checkpoint.export_dtype",
    "checkpoint.keep_latest_k",
    "checkpoint.exclude_from_loading",
    "checkpoint.enable_first_step_checkpoint",
    "checkpoint.enable_ft_dataloader_checkpoints",
    "checkpoint.create_seed_checkpoint",
    "checkpoint.model_weights_only",  // of the last save
    "comm.*",
    "memory_estimation.*",
    "experimental.custom_*",
    "validation.dataset",
    "validation.dataset_path",
    "validation.local_batch_size",
    "validation.seq_len",
    "validation.freq",
    "validation.steps",
    "debug.seed",
    "debug.deterministic_warn_only",
    "debug.moe_force_load_balance",
    "debug.print_config",
    "debug.save_config_file",
    "model.tokenizer_path",
    "training.debug_moe_force_load_balance",
    "activation_checkpoint.visualize_*",
    "model.hf_assets_path",
    "model.print_after_conversion",
    "model.norm_type",
    "training.dataset",
    "training.dataset_path",
    "training.max_norm",
    "training.gc_freq",
    "training.gc_debug",
    "training.seed",
    "training.warmup_steps",
    "float8.precompute_float8_dynamic_scale_for_fsdp",
    "float8.force_recompute_fp8_weight_in_bwd",
    "quantize.linear.float8.precompute_float8_dynamic_scale_for_fsdp",
    "quantize.linear.mx.mxfp8_dim1_cast_kernel_choice",
    "quantize.linear.mx.recipe_name",
    "mx.mxfp8_dim1_cast_kernel_choice",
    "mx.recipe_name",
    "parallelism.pipeline_parallel_schedule_csv",
    "activation_checkpoint.memory_budget",  // of that mode alone
    "activation_checkpoint.early_stop",
    "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns",
    "actvation_checkpoint.*",
};

constexpr std::string_view kEvaluation =
    "evaluation is not counted: forward passes of validation.steps batches every validation.freq "
    "steps";
constexpr std::string_view kFastest = "kernels are taken to be the fastest";
constexpr std::string_view kEmulated = "products run in the narrow format itself";
constexpr std::string_view kExperts = "experts have the format of the other products";

constexpr NotModelled kTitanNotModelled[]{
    {"training.enable_cpu_offload",
     "offload of weights is not modelled; parallelism.offload: optimizer comes nearest"},
    {"optimizer.early_step_in_backward",
     "the optimizer runs after the backward pass, which keeps all gradients until then"},
    {"parallelism.disable_loss_parallel", "the loss is divided over the tensor ranks"},
    {"parallelism.enable_compiled_autograd", "the backward pass is compiled as the forward is"},
    {"parallelism.pipeline_parallel_split_points", "set parallelism.chunk_layers"},
    {"parallelism.module_fqns_per_model_part", "set parallelism.chunk_layers"},
    {"fault_tolerance.enable", "semi-synchronous training is not modelled"},
    {"validation.enable", kEvaluation},
    {"validation.enabled", kEvaluation},  // until 2025
    {"training.deterministic", kFastest},
    {"debug.deterministic", kFastest},
    {"float8.emulate", kEmulated},
    {"quantize.linear.float8.emulate", kEmulated},
    {"float8.moe_fqns_prototype", kExperts},
    {"quantize.grouped_mm.float8.fqns", kExperts},
    {"quantize.grouped_mm.mx.fqns", kExperts},
};

}  // namespace

std::span<const std::string_view> titan_no_effect() { return kTitanNoEffect; }

std::span<const NotModelled> titan_not_modelled() { return kTitanNotModelled; }

}  // namespace headway::import
