// MaxText's YAML, which is only written. Source: AI-Hypercomputer/maxtext,
// src/maxtext/configs/base.yml and types.py, optimizers/optimizers.py, 2025 and 2026.
#include <algorithm>
#include <numeric>

#include "sim/import/launch/launch_fields.h"
#include "sim/import/megatron/megatron_rows.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::import {

namespace {

using core::Precision;
using workload::ContextKind;
using workload::OptimizerState;
using workload::Sharding;

using WriteRun = void (*)(const LaunchRun&, LaunchWriter&);

/// A row that is only written.
LaunchRow written(std::vector<std::string> keys, std::vector<std::string> paths, WriteRun write) {
  return ruled(
      std::move(keys), std::move(paths), [](LaunchReader&, LaunchRun&) {}, write);
}

void write_max_experts(const LaunchRun& run, LaunchWriter& out) {
  const workload::ExpertsSpec& moe = *run.model.moe;
  out.whole("num_experts", moe.experts);
  out.whole("num_experts_per_tok", moe.top_k);
  out.whole("base_moe_mlp_dim", moe.ffn);
  if (moe.shared_experts > 0) {
    out.whole("shared_experts", moe.shared_experts);
  }
  if (moe.leading_dense_layers > 0) {
    out.whole("first_num_dense_layers", moe.leading_dense_layers);
  }
  if (moe.capacity_factor > 0) {
    out.bare("capacity_factor", fmt::format("{}", moe.capacity_factor));
  }
}

void write_max_latent(const LaunchRun& run, LaunchWriter& out) {
  if (!run.model.latent) {
    return;
  }
  out.text("attention_type", "mla");
  out.whole("q_lora_rank", run.model.latent->query_rank);
  out.whole("kv_lora_rank", run.model.latent->key_value_rank);
  out.whole("qk_nope_head_dim", run.model.latent->no_rope_dim);
  out.whole("qk_rope_head_dim", run.model.latent->rope_dim);
  out.whole("v_head_dim", run.model.latent->value_dim);
}

/// Of a replica and step.
std::int64_t micro_batches_of(const LaunchRun& run) {
  const workload::ParallelismSpec& p = run.parallelism;
  const std::int64_t data = p.data.value.value_or(1);
  return std::max<std::int64_t>(1, run.training.global_batch / (data * p.micro_batch));
}

void write_max_batch(const LaunchRun& run, LaunchWriter& out) {
  const std::int64_t steps = micro_batches_of(run);
  const bool pipelined = run.parallelism.pipeline > 1;
  const double share = static_cast<double>(run.training.global_batch) /
                       static_cast<double>(std::max<std::int64_t>(1, run.gpus));
  out.bare("per_device_batch_size",
           fmt::format("{}", pipelined ? share : share / static_cast<double>(steps)));
  out.whole(pipelined ? "num_pipeline_microbatches" : "gradient_accumulation_steps", steps);
}

/// Degrees within nodes ("ici") and between them ("dcn"): those named first fill the node.
void write_max_mesh(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  const int data = p.data.value.value_or(1);
  const int experts = run.model.moe ? std::max(1, p.expert) : 1;
  const bool shards = p.sharding == Sharding::zero3 || p.sharding == Sharding::hsdp;
  const int group =
      p.sharding == Sharding::hsdp ? std::max(1, p.shard_group_size / p.context) : data;
  const int sharded = shards ? std::max(1, group / experts) : 1;
  int room = std::max(1, run.gpus_per_node);
  const auto divide = [&room, &out](const std::string& name, int degree) {
    const int inside = std::gcd(degree, room);
    room /= inside;
    out.whole("ici_" + name + "_parallelism", inside);
    out.whole("dcn_" + name + "_parallelism", degree / inside);
  };
  divide("tensor", p.tensor);
  divide("context", p.context);
  divide("expert", experts);
  divide("fsdp", sharded);
  divide("data", std::max(1, data / (sharded * experts)));
  divide("pipeline", p.pipeline);
}

void write_max_stages(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  if (p.pipeline > 1 && middle_layers(run) > 0) {
    out.whole("num_layers_per_pipeline_stage",
              std::max(1, middle_layers(run) / std::max(1, p.virtual_stages)));
  }
}

void write_max_precision(const LaunchRun& run, LaunchWriter& out) {
  const Precision precision = run.training.precision;
  out.text("dtype", precision == Precision::fp32   ? "float32"
                    : precision == Precision::fp16 ? "float16"
                                                   : "bfloat16");
  if (precision == Precision::fp8) {
    out.text("quantization", "fp8");
  } else if (precision == Precision::mxfp8 || precision == Precision::nvfp4) {
    out.text("quantization", precision == Precision::mxfp8 ? "te_mxfp8" : "te_nvfp4");
  }
}

std::string_view opt_type(const LaunchRun& run) {
  const OptimizerState state = run.training.optimizer_state;
  return state == OptimizerState::muon           ? "muon"
         : state == OptimizerState::sgd_momentum ? "sgd"
                                                 : "adamw";
}

void write_max_optimizer(const LaunchRun& run, LaunchWriter& out) {
  out.text("opt_type", std::string(opt_type(run)));
  out.text("mu_dtype",
           run.training.optimizer_state == OptimizerState::adam_bf16 ? "bfloat16" : "float32");
}

/// Whether the optimizer is sharded over data ranks that have whole weights; of Adam alone
/// (pyconfig, zero1_supported_opt_types).
bool shards_optimizer(const LaunchRun& run) {
  const Sharding sharding = run.parallelism.sharding;
  return (sharding == Sharding::zero1 || sharding == Sharding::zero2) && opt_type(run) == "adamw";
}

/// "ulysses" is for TPUs alone (types.py), and "ring" for GPUs.
void write_max_context(const LaunchRun& run, LaunchWriter& out) {
  if (run.parallelism.context > 1) {
    out.text("context_parallel_strategy",
             run.parallelism.context_kind == ContextKind::ring ? "ring" : "all_gather");
  }
}

void write_max_recompute(const LaunchRun& run, LaunchWriter& out) {
  const workload::Recompute recompute = run.parallelism.recompute;
  out.text("remat_policy", recompute == workload::Recompute::full   ? "full"
                           : recompute == workload::Recompute::none ? "minimal"
                                                                    : "save_dot_except_mlp");
}

/// MaxText asks a model of experts alone for their width here too. Source:
/// AI-Hypercomputer/maxtext, types.py: "For a fully MoE model, base_mlp_dim must equal
/// base_moe_mlp_dim".
LaunchRow max_width_row() {
  const auto read = [](LaunchReader& reader, LaunchRun& run) {
    constexpr std::string_view kKey = "base_mlp_dim";
    const auto width = reader.whole(kKey);
    reader.place("model.ffn", kKey);
    const bool experts =
        run.model.moe && run.model.moe->leading_dense_layers == 0 && width == run.model.moe->ffn;
    run.model.ffn = experts ? 0 : width.value_or(run.model.ffn);
  };
  const auto write = [](const LaunchRun& run, LaunchWriter& out) {
    const bool experts = run.model.ffn == 0 && run.model.moe;
    out.whole("base_mlp_dim", experts ? run.model.moe->ffn : run.model.ffn);
  };
  return {{"base_mlp_dim"}, {"model.ffn"}, LaunchRule{read, write}};
}

std::vector<LaunchRow> maxtext_rows() {  // NOLINT(readability-function-size): a table
  return {
      {{"base_num_decoder_layers"}, {"model.layers"}, kLayers},
      {{"base_emb_dim"}, {"model.hidden"}, kHidden},
      {{"base_num_query_heads"}, {"model.heads"}, kHeads},
      {{"base_num_kv_heads"}, {"model.key_value_heads", "model.attention"}, kKeyValueHeads},
      {{"head_dim"}, {"model.head_dim"}, kHeadDim},
      max_width_row(),
      written({"mlp_activations"}, {"model.gated_mlp"},
              [](const LaunchRun& run, LaunchWriter& out) {
                out.list("mlp_activations", run.model.gated_mlp
                                                ? std::vector<std::string>{"silu", "linear"}
                                                : std::vector<std::string>{"gelu"});
              }),
      {{"vocab_size"}, {"model.vocabulary"}, kVocabulary},
      {{"logits_via_embedding"}, {"model.tied_embeddings"}, FlagField{kTiedEmbeddings}},
      {{"use_qk_norm"}, {"model.query_key_norm"}, FlagField{kQueryKeyNorm}},
      written({"attention_type", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim",
               "qk_rope_head_dim", "v_head_dim"},
              {"model.latent"}, write_max_latent),
      {{"num_experts", "num_experts_per_tok", "base_moe_mlp_dim", "shared_experts",
        "first_num_dense_layers", "capacity_factor"},
       {"model.moe.experts", "model.moe.top_k", "model.moe.ffn", "model.moe.shared_experts",
        "model.moe.leading_dense_layers", "model.moe.capacity_factor"},
       LaunchRule{[](LaunchReader&, LaunchRun&) {}, write_max_experts},
       1,
       kHasExperts},
      {{"mtp_num_layers"}, {"model.multi_token_prediction"}, kPrediction, 0, kHasPrediction},
      {{"max_target_length"}, {"training.sequence_length"}, kSequenceLength},
      written({"per_device_batch_size", "gradient_accumulation_steps", "num_pipeline_microbatches"},
              {"training.global_batch", "parallelism.micro_batch"}, write_max_batch),
      written({"dtype", "quantization"}, {"training.precision"}, write_max_precision),
      written({"opt_type", "mu_dtype"}, {"training.optimizer_state"}, write_max_optimizer),
      written({"ici_tensor_parallelism", "ici_context_parallelism", "ici_expert_parallelism",
               "ici_data_parallelism", "ici_pipeline_parallelism", "dcn_tensor_parallelism",
               "dcn_context_parallelism", "dcn_expert_parallelism", "dcn_data_parallelism",
               "dcn_pipeline_parallelism"},
              {"parallelism.tensor", "parallelism.context", "parallelism.expert",
               "parallelism.data", "parallelism.pipeline"},
              write_max_mesh),
      written({"ici_fsdp_parallelism", "dcn_fsdp_parallelism", "shard_optimizer_over_data"},
              {"parallelism.sharding", "parallelism.shard_group_size"},
              [](const LaunchRun& run, LaunchWriter& out) {
                out.truth("shard_optimizer_over_data", shards_optimizer(run));
              }),
      written({"context_parallel_strategy"}, {"parallelism.context_kind"}, write_max_context),
      written({"num_layers_per_pipeline_stage"}, {"parallelism.virtual", "parallelism.schedule"},
              write_max_stages),
      written({"remat_policy"}, {"parallelism.recompute"}, write_max_recompute),
      written({"steps"}, {"run.until.steps"},
              [](const LaunchRun& run, LaunchWriter& out) {
                if (run.steps) {
                  out.whole("steps", *run.steps);
                }
              }),
      written({"checkpoint_period", "async_checkpointing"},
              {"run.checkpoint.interval_steps", "run.checkpoint.mode"},
              [](const LaunchRun& run, LaunchWriter& out) {
                if (run.saves) {
                  out.whole("checkpoint_period", run.saves->every);
                  out.truth("async_checkpointing", run.saves->asynchronous);
                }
              }),
  };
}

/// What its pipeline asserts before it starts; that stages have equal layers is among what the
/// software refuses (configs/frameworks/jax-xla.yaml). Source: AI-Hypercomputer/maxtext, types.py
/// and pipeline.py.
void add_pipeline_assert(const LaunchRun& run, std::vector<std::string>& out) {
  const int stages = run.parallelism.pipeline;
  const std::int64_t steps = micro_batches_of(run);
  if (steps % stages != 0) {
    out.push_back(fmt::format(
        "that it starts: num_pipeline_microbatches {} is no multiple of {} stages", steps, stages));
  }
}

/// What its words say otherwise, which no reading shows.
std::vector<std::string> max_remarks(const LaunchRun& run, const std::vector<LaunchLine>&) {
  std::vector<std::string> out;
  const Sharding sharding = run.parallelism.sharding;
  const OptimizerState state = run.training.optimizer_state;
  if (sharding == Sharding::zero2 || (sharding == Sharding::zero1 && !shards_optimizer(run))) {
    out.push_back(fmt::format("parallelism.sharding is {}, and {}", core::to_word(sharding),
                              shards_optimizer(run) ? "here the optimizer's state alone is sharded"
                                                    : "only the state of adamw can be sharded so"));
  }
  const char* optimizer =
      state == OptimizerState::adam_bf16      ? "mu_dtype is the first moment's; the second has "
                                                "the type of the weights"
      : state == OptimizerState::sgd_momentum ? "its sgd has no momentum"
      : state == OptimizerState::muon         ? "its muon knows the decoder_block of deepseek, "
                                                "qwen3, gemma3 and llama2"
      : state != OptimizerState::adam_fp32    ? "there is no such opt_type: adamw is written"
                                              : "";
  if (*optimizer != '\0') {
    out.push_back(
        fmt::format("training.optimizer_state is {}, and {}", core::to_word(state), optimizer));
  }
  add_pipeline_assert(run, out);
  const auto schedule = workload::effective_schedule(run.parallelism);
  if (run.parallelism.pipeline > 1 && schedule != workload::ScheduleKind::gpipe) {
    out.push_back(
        fmt::format("parallelism.schedule is {}, and its pipelines run all forward passes "
                    "before the first backward pass (gpipe)",
                    core::to_word(schedule)));
  }
  if (run.parallelism.context > 1 && run.parallelism.context_kind == ContextKind::all_to_all) {
    out.push_back(
        fmt::format("parallelism.context_kind is {}, which it has for TPUs alone "
                    "(ulysses): all_gather is written",
                    core::to_word(ContextKind::all_to_all)));
  }
  return out;
}

}  // namespace

const LaunchTable& maxtext_table() {
  static const LaunchTable table{
      "maxtext",
      "",
      "jax-xla",
      LaunchSyntax::yaml,
      LaunchModel::by_shape,
      false,
      maxtext_rows(),
      {},
      {},
      [](LaunchRun&) {},
      "run_name, base_output_directory, dataset_type and dataset_path, tokenizer_path, "
      "learning_rate, "
      "hardware: gpu, decoder_block (which has the kind of norm), rope_max_timescale (a scenario "
      "has "
      "none, and its default is 10000), checkpoint_period where the scenario has no "
      "run.checkpoint.interval_steps",
      max_remarks,
  };
  return table;
}

}  // namespace headway::import
