// torchtitan's TOML. Source: pytorch/torchtitan, torchtitan/config/job_config.py and
// torchtitan/distributed/pipeline_parallel.py, 2025, whose defaults these are.
#include <algorithm>

#include "sim/core/shown_text.h"
#include "sim/import/launch/launch_fields.h"
#include "sim/import/launch/launch_saves.h"
#include "sim/import/launch/torchtitan_lists.h"
#include "sim/import/launch/torchtitan_stages.h"
#include "sim/import/megatron/megatron_rows.h"

namespace headway::import {

namespace {

using core::Precision;
using workload::Recompute;
using workload::ScheduleKind;
using workload::Sharding;

struct Flavor {
  std::string_view name, flavor, entry;
};
/// Models of torchtitan that are entries of the catalogue.
constexpr Flavor kFlavors[]{{"llama3", "8B", "llama-3.1-8b"},
                            {"llama3", "70B", "llama-3.1-70b"},
                            {"llama3", "405B", "llama-3.1-405b"},
                            {"llama4", "17bx16e", "llama-4-scout"},
                            {"llama4", "17bx128e", "llama-4-maverick"},
                            {"deepseek_v3", "671B", "deepseek-v3"},
                            {"deepseek_v3", "16B", "deepseek-v2-lite"},
                            {"qwen3", "0.6B", "qwen3-0.6b"},
                            {"qwen3", "1.7B", "qwen3-1.7b"},
                            {"qwen3", "4B", "qwen3-4b"},
                            {"qwen3", "8B", "qwen3-8b"},
                            {"qwen3", "14B", "qwen3-14b"},
                            {"qwen3", "32B", "qwen3-32b"},
                            {"qwen3", "30B-A3B", "qwen3-30b-a3b"},
                            {"qwen3", "235B-A22B", "qwen3-235b-a22b"},
                            {"gpt_oss", "20b", "gpt-oss-20b"},
                            {"gpt_oss", "120b", "gpt-oss-120b"}};

struct ScheduleWord {
  ScheduleKind kind;
  std::string_view word;
};
constexpr ScheduleWord kScheduleWords[]{{ScheduleKind::one_f_one_b, "1F1B"},
                                        {ScheduleKind::gpipe, "GPipe"},
                                        {ScheduleKind::interleaved, "Interleaved1F1B"},
                                        {ScheduleKind::interleaved, "InterleavedZeroBubble"},
                                        {ScheduleKind::zero_bubble_v, "ZBVZeroBubble"},
                                        {ScheduleKind::dual_pipe_v, "DualPipeV"}};

void read_flavor(LaunchReader& reader, LaunchRun& run) {
  const std::string name = reader.word("model.name").value_or("");
  const std::string flavor = reader.word("model.flavor").value_or("");
  reader.place("model", "model.flavor");
  const auto* found = std::ranges::find_if(
      kFlavors, [&](const Flavor& known) { return known.name == name && known.flavor == flavor; });
  if (found != std::end(kFlavors)) {
    run.model_entry = found->entry;
  } else if (!reader.knows_model() && (!name.empty() || !flavor.empty())) {
    reader.assume(fmt::format("{} {} is no model of the catalogue: name one (--model)",
                              core::shortened(name), core::shortened(flavor)));
  }
}

void write_flavor(const LaunchRun& run, LaunchWriter& out) {
  const auto* found = std::ranges::find(kFlavors, run.model_entry, &Flavor::entry);
  if (found != std::end(kFlavors) && !run.model_entry.empty()) {
    out.text("model.name", std::string(found->name));
    out.text("model.flavor", std::string(found->flavor));
  }
}

/// Replicas x shards x tensor x context x pipeline.
void read_mesh(LaunchReader& reader, LaunchRun& run) {
  const int copies = reader.whole("parallelism.data_parallel_replicate_degree").value_or(1);
  const std::string shard_key = "parallelism.data_parallel_shard_degree";
  const auto word = reader.word(shard_key);
  workload::ParallelismSpec& p = run.parallelism;
  const std::int64_t replica = ranks_product({p.tensor, p.context, p.pipeline});
  const bool rest = !word || *word == "-1";
  int shards = rest ? 0 : reader.whole(shard_key).value_or(1);
  reader.place("parallelism.data", shard_key);
  if (!rest) {
    const std::int64_t all = ranks_product({replica, copies, shards});
    if (run.gpus > 0 && run.gpus != all) {
      reader.complain(shard_key,
                      fmt::format("{} replicas x {} shards x {} ranks of a model are {} GPUs, "
                                  "not {}",
                                  copies, shards, replica, all, run.gpus));
    }
    run.gpus = run.gpus > 0 ? run.gpus : all;
  } else if (run.gpus > 0 && run.gpus % ranks_product({replica, copies}) == 0) {
    shards = static_cast<int>(run.gpus / ranks_product({replica, copies}));
  }
  need_gpus(reader, run,
            "set parallelism.data_parallel_shard_degree to a number, or name the GPUs: --gpus N");
  const std::int64_t sharded = std::int64_t{shards} * p.context;
  reader.place("parallelism.sharding", copies > 1 ? "parallelism.data_parallel_replicate_degree"
                                                  : std::string_view(shard_key));
  if (!rest && sharded == 1) {
    p.sharding = Sharding::zero0;
  } else if (copies > 1) {
    p.sharding = Sharding::hsdp;
    p.shard_group_size = static_cast<int>(std::max<std::int64_t>(1, sharded));
  } else {
    p.sharding = Sharding::zero3;
  }
}

void write_mesh(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  const int data = p.data.is_auto() ? 1 : *p.data.value;
  const int shards = p.sharding == Sharding::zero0  ? 1
                     : p.sharding == Sharding::hsdp ? std::max(1, p.shard_group_size / p.context)
                                                    : data;
  out.whole("parallelism.data_parallel_replicate_degree", data / shards);
  out.whole("parallelism.data_parallel_shard_degree", shards);
}

void read_reshard(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kKey = "parallelism.fsdp_reshard_after_forward";
  reader.place("parallelism.reshard", kKey);
  const std::string word = reader.word(kKey).value_or("default");
  if (word == "never") {
    run.parallelism.reshard = false;
  } else if (word != "default" && word != "always") {
    reader.complain(kKey, fmt::format("'{}' is '{}'; it is default, always or never", kKey,
                                      core::shortened(word)));
  }
}

void write_reshard(const LaunchRun& run, LaunchWriter& out) {
  out.text("parallelism.fsdp_reshard_after_forward", run.parallelism.reshard ? "default" : "never");
}

void read_titan_schedule(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kKey = "parallelism.pipeline_parallel_schedule";
  reader.place("parallelism.schedule", kKey);
  const std::string word = reader.word(kKey).value_or("1F1B");
  const auto* found = std::ranges::find(kScheduleWords, word, &ScheduleWord::word);
  if (found != std::end(kScheduleWords)) {
    run.parallelism.schedule = found->kind;
    if (word == "InterleavedZeroBubble") {
      reader.not_modelled(kKey, "read as Interleaved1F1B, whose stages wait longer");
    }
  } else if (run.parallelism.pipeline > 1) {
    reader.complain(kKey, fmt::format("schedule '{}' is not modelled; choose 1F1B, GPipe, "
                                      "Interleaved1F1B, ZBVZeroBubble or DualPipeV",
                                      core::shortened(word)));
  }
}

void write_titan_schedule(const LaunchRun& run, LaunchWriter& out) {
  const auto* found =
      std::ranges::find(kScheduleWords, run.parallelism.schedule, &ScheduleWord::kind);
  if (run.parallelism.pipeline > 1) {
    out.text("parallelism.pipeline_parallel_schedule",
             std::string(found == std::end(kScheduleWords) ? "1F1B" : found->word));
  }
}

/// Sequences of a micro-batch and of a step.
void read_titan_batch(LaunchReader& reader, LaunchRun& run) {
  workload::ParallelismSpec& p = run.parallelism;
  const bool old = reader.has("training.batch_size");
  const std::string local_key = old ? "training.batch_size" : "training.local_batch_size";
  const int local = reader.whole(local_key).value_or(8);
  const int micro = reader.whole("parallelism.pipeline_parallel_microbatch_size").value_or(1);
  const auto word = reader.word("training.global_batch_size");
  p.micro_batch = p.pipeline > 1 ? micro : local;
  reader.place("parallelism.micro_batch", local_key);
  reader.place("training.global_batch", "training.global_batch_size");
  const std::int64_t replica = ranks_product({p.tensor, p.context, p.pipeline});
  if (word && *word != "-1") {
    run.training.global_batch =
        reader.whole("training.global_batch_size").value_or(run.training.global_batch);
  } else if (run.gpus > 0 && run.gpus % replica == 0) {
    const std::int64_t batch = ranks_product({run.gpus / replica, local});
    run.training.global_batch = static_cast<int>(std::min<std::int64_t>(batch, 2'000'000'000));
  } else {
    reader.lacks(
        "training.global_batch: set training.global_batch_size, or name the GPUs: --gpus N");
  }
}

void write_titan_batch(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  const int data = p.data.is_auto() ? 1 : *p.data.value;
  const bool pipelined = p.pipeline > 1;
  out.whole("training.local_batch_size",
            pipelined ? std::max(1, run.training.global_batch / data) : p.micro_batch);
  out.whole("training.global_batch_size", run.training.global_batch);
  if (pipelined) {
    out.whole("parallelism.pipeline_parallel_microbatch_size", p.micro_batch);
  }
}

/// The format in which gradients travel, and that of what is held.
void read_titan_dtypes(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kReduced = "training.mixed_precision_reduce";
  if (const auto word = reader.word(kReduced)) {
    run.training.framework.reduce_bytes = *word == "float32" ? 4 : 2;
    reader.place("training.framework.reduce_bytes", kReduced);
  }
  constexpr std::string_view kHeld = "training.dtype";
  if (reader.word(kHeld).value_or("float32") != "float32") {
    reader.not_modelled(kHeld,
                        "weights, gradients and the optimizer's state are modelled in fp32 beside "
                        "the copy that is multiplied");
  }
}

/// Layers whose names hold one of these words stay in 16 bits; the output does here.
void look_at_filter(LaunchReader& reader, const std::string& key) {
  const auto names = reader.words(key);
  if (std::ranges::any_of(names, [](const std::string& name) { return name != "output"; })) {
    reader.not_modelled(key, "all layers but the output multiply in the narrow format");
  }
}

void read_titan_optimizer(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kName = "optimizer.name";
  const std::string name = reader.word(kName).value_or("AdamW");
  reader.place("training.optimizer_state", kName);
  if (name.find("uon") != std::string::npos) {
    run.training.optimizer_state = workload::OptimizerState::muon;
  } else if (name.find("dam") == std::string::npos) {
    reader.not_modelled(kName, "read as AdamW with moments in fp32");
  }
  constexpr std::string_view kKernels = "optimizer.implementation";
  if (reader.word(kKernels).value_or("fused") != "fused") {
    reader.not_modelled(kKernels, "the optimizer's kernels are taken to be fused");
  }
}

void read_titan_precision(LaunchReader& reader, LaunchRun& run) {
  const std::string word = reader.word("training.mixed_precision_param").value_or("bfloat16");
  reader.place("training.precision", "training.mixed_precision_param");
  run.training.precision = word == "float32" ? Precision::fp32 : Precision::bf16;
  read_titan_dtypes(reader, run);
  std::string recipe = "tensorwise";
  bool gathers = false;
  for (const char* word_before : {"float8.", "quantize.linear.float8."}) {  // until 2025, since
    const std::string section = word_before;
    recipe = reader.word(section + "recipe_name").value_or(recipe);
    gathers = reader.flag(section + "enable_fsdp_float8_all_gather").value_or(gathers);
    look_at_filter(reader, section + "filter_fqns");
  }
  for (const char* key : {"mx.filter_fqns", "quantize.linear.mx.filter_fqns"}) {
    look_at_filter(reader, key);
  }
  for (const std::string& converter : reader.words("model.converters")) {
    if (converter.find("float8") != std::string::npos) {
      run.training.precision = Precision::fp8;
      run.training.framework.scaling =
          recipe.starts_with("rowwise") ? workload::Scaling::row : workload::Scaling::tensor;
      run.training.framework.narrow_gathers = gathers;
      reader.place("training.precision", "model.converters");
    } else if (converter.find("mx") != std::string::npos) {
      run.training.precision = Precision::mxfp8;
      reader.place("training.precision", "model.converters");
    } else {
      reader.not_modelled("model.converters",
                          fmt::format("'{}' changes nothing here", core::shortened(converter)));
    }
  }
}

void write_titan_precision(const LaunchRun& run, LaunchWriter& out) {
  const Precision precision = run.training.precision;
  const bool full = precision == Precision::fp32 || precision == Precision::tf32;
  out.text("training.mixed_precision_param", full ? "float32" : "bfloat16");
  if (precision == Precision::fp8) {
    out.list("model.converters", {"quantize.linear.float8"});
    out.text("quantize.linear.float8.recipe_name",
             run.training.framework.scaling == workload::Scaling::row ? "rowwise" : "tensorwise");
    out.truth("quantize.linear.float8.enable_fsdp_float8_all_gather",
              run.training.framework.narrow_gathers);
  } else if (precision == Precision::mxfp8) {
    out.list("model.converters", {"quantize.linear.mx"});
  }
}

void read_titan_recompute(LaunchReader& reader, LaunchRun& run) {
  const std::string mode = reader.word("activation_checkpoint.mode").value_or("selective");
  const std::string option = reader.word("activation_checkpoint.selective_ac_option").value_or("2");
  workload::ParallelismSpec& p = run.parallelism;
  reader.place("parallelism.recompute", "activation_checkpoint.mode");
  if (mode == "full") {
    p.recompute = Recompute::full;
  } else if (mode == "selective" && option == "op" &&
             (run.model.latent || run.model.parallel_block)) {
    p.recompute = Recompute::none;
    reader.not_modelled("activation_checkpoint.selective_ac_option",
                        "'op' saves every second product, and which those are is known of plain "
                        "layers alone: nothing is taken to be recomputed");
  } else if (mode == "selective" && option == "op") {
    p.recompute = Recompute::selective;
    p.recompute_parts = {workload::RecomputePart::operators};
  } else if (mode == "selective") {
    p.recompute = Recompute::full;
    p.recompute_period = reader.whole("activation_checkpoint.selective_ac_option").value_or(2);
    reader.place("parallelism.recompute_period", "activation_checkpoint.selective_ac_option");
  } else if (mode == "memory_budget") {
    p.recompute = Recompute::none;
    reader.not_modelled("activation_checkpoint.mode",
                        "what the compiler recomputes within a budget is not known: nothing is "
                        "taken to be recomputed");
  } else if (mode != "none") {
    reader.complain("activation_checkpoint.mode",
                    fmt::format("mode '{}' is not modelled; choose none, selective or full",
                                core::shortened(mode)));
  }
}

void write_titan_recompute(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  const bool some = p.recompute == Recompute::full && p.recompute_period > 1;
  out.text("activation_checkpoint.mode", p.recompute == Recompute::none            ? "none"
                                         : p.recompute == Recompute::full && !some ? "full"
                                                                                   : "selective");
  if (p.recompute == Recompute::selective) {
    out.text("activation_checkpoint.selective_ac_option", "op");
  } else if (some) {
    out.text("activation_checkpoint.selective_ac_option", std::to_string(p.recompute_period));
  }
}

void read_titan_context(LaunchReader& reader, LaunchRun& run) {
  const std::string word =
      reader.word("parallelism.context_parallel_rotate_method").value_or("allgather");
  reader.place("parallelism.context_kind", "parallelism.context_parallel_rotate_method");
  run.parallelism.context_kind =
      word == "alltoall" ? workload::ContextKind::ring : workload::ContextKind::all_gather;
}

void write_titan_context(const LaunchRun& run, LaunchWriter& out) {
  if (run.parallelism.context > 1) {
    out.text(
        "parallelism.context_parallel_rotate_method",
        run.parallelism.context_kind == workload::ContextKind::ring ? "alltoall" : "allgather");
  }
}

void read_titan_compile(LaunchReader& reader, LaunchRun& run) {
  const bool old = reader.flag("training.compile").value_or(false);
  constexpr std::string_view kBackend = "compile.backend";
  const std::string backend = reader.word(kBackend).value_or("inductor");
  const bool traced = backend == "eager" || backend == "aot_eager";  // kernels stay what they are
  const bool model = reader.flag("compile.enable").value_or(old) && !traced;
  if (traced) {
    reader.place("training.framework.elementwise", kBackend);
  } else if (backend != "inductor") {
    reader.not_modelled(kBackend, "read as inductor");
  }
  reader.place("training.framework.elementwise", "compile.enable");
  const auto components = reader.words("compile.components");
  const auto compiled = [&](std::string_view part) {
    return model && (components.empty() ||
                     std::find(components.begin(), components.end(), part) != components.end());
  };
  run.training.framework.elementwise =
      compiled("model") ? workload::Elementwise::compiled : workload::Elementwise::eager;
  run.training.framework.loss = compiled("loss") ? workload::Loss::fused : workload::Loss::separate;
}

void write_titan_compile(const LaunchRun& run, LaunchWriter& out) {
  const bool model = run.training.framework.elementwise != workload::Elementwise::eager;
  const bool loss = run.training.framework.loss == workload::Loss::fused;
  out.truth("compile.enable", model || loss);
  if (model != loss) {  // its default: both
    out.list("compile.components", {model ? "model" : "loss"});
  }
}

void read_titan_steps(LaunchReader& reader, LaunchRun& run) {
  reader.place("run.until.steps", "training.steps");
  run.steps = reader.count("training.steps");
}

void write_titan_steps(const LaunchRun& run, LaunchWriter& out) {
  if (run.steps) {
    out.whole("training.steps", *run.steps);
  }
}

/// Saves have to be switched on, and come every 500 steps unless told.
void read_titan_saves(LaunchReader& reader, LaunchRun& run) {
  const bool old = reader.flag("checkpoint.enable_checkpoint").value_or(false);
  const bool saves = reader.flag("checkpoint.enable").value_or(old);
  const std::string mode = reader.word("checkpoint.async_mode").value_or("disabled");
  if (!saves) {
    reader.not_modelled("checkpoint.interval",
                        "checkpoint.enable does not switch saves on; the scenario saves all the "
                        "same: set run.checkpoint");
  } else if (reader.has("checkpoint.interval")) {
    read_saves(reader, run, "checkpoint.interval", "checkpoint.async_mode", mode != "disabled");
  } else if (run.steps) {
    constexpr std::int64_t kEvery = 500;  // Source: job_config.py, Checkpoint.interval
    run.saves = LaunchSaves{kEvery, mode != "disabled"};
    reader.assume("checkpoint.interval is not set: 500 steps, the framework's default");
  }
}

void write_titan_saves(const LaunchRun& run, LaunchWriter& out) {
  if (run.saves) {
    out.truth("checkpoint.enable", true);
    out.whole("checkpoint.interval", run.saves->every);
    out.text("checkpoint.async_mode", run.saves->asynchronous ? "async" : "disabled");
  }
}

void set_titan_defaults(LaunchRun& run) {
  run.parallelism.sequence = true;
  run.training.framework.tensor_overlap = false;
  if (run.training.sequence_length == 0) {
    run.training.sequence_length = 2048;
  }
}

constexpr WholeField kExpertTensor = [](LaunchRun& r) { return &r.parallelism.expert_tensor; };

std::vector<LaunchRow> torchtitan_rows() {
  return {
      ruled({"model.name", "model.flavor"}, {"model"}, read_flavor, write_flavor),
      {{"training.seq_len"}, {"training.sequence_length"}, kSequenceLength},
      {{"parallelism.tensor_parallel_degree"}, {"parallelism.tensor"}, kTensor},
      {{"parallelism.pipeline_parallel_degree"}, {"parallelism.pipeline"}, kPipeline},
      {{"parallelism.context_parallel_degree"}, {"parallelism.context"}, kContext},
      ruled({"parallelism.context_parallel_rotate_method"}, {"parallelism.context_kind"},
            read_titan_context, write_titan_context),
      {{"parallelism.expert_parallel_degree"}, {"parallelism.expert"}, kExpert, 1, kHasExperts},
      {{"parallelism.expert_tensor_parallel_degree"},
       {"parallelism.expert_tensor"},
       kExpertTensor,
       1,
       kHasExperts},
      ruled(
          {"parallelism.data_parallel_replicate_degree", "parallelism.data_parallel_shard_degree"},
          {"parallelism.data", "parallelism.sharding", "parallelism.shard_group_size"}, read_mesh,
          write_mesh),
      ruled({"parallelism.fsdp_reshard_after_forward"}, {"parallelism.reshard"}, read_reshard,
            write_reshard),
      ruled({"parallelism.pipeline_parallel_schedule"}, {"parallelism.schedule"},
            read_titan_schedule, write_titan_schedule),
      ruled({"parallelism.pipeline_parallel_layers_per_stage",
             "parallelism.pipeline_parallel_first_stage_less_layers",
             "parallelism.pipeline_parallel_last_stage_less_layers"},
            {"parallelism.chunk_layers", "parallelism.virtual", "parallelism.first_stage_layers",
             "parallelism.last_stage_layers"},
            read_titan_stages, write_titan_stages),
      ruled({"training.local_batch_size", "training.global_batch_size",
             "parallelism.pipeline_parallel_microbatch_size"},
            {"training.global_batch", "parallelism.micro_batch"}, read_titan_batch,
            write_titan_batch),
      ruled({"training.steps"}, {"run.until.steps"}, read_titan_steps, write_titan_steps),
      ruled({"checkpoint.enable", "checkpoint.enable_checkpoint", "checkpoint.interval",
             "checkpoint.async_mode"},
            {"run.checkpoint.interval_steps", "run.checkpoint.mode"}, read_titan_saves,
            write_titan_saves),
      ruled({"training.mixed_precision_param", "training.mixed_precision_reduce",
             "model.converters", "quantize.linear.float8.recipe_name", "float8.recipe_name",
             "quantize.linear.float8.enable_fsdp_float8_all_gather",
             "float8.enable_fsdp_float8_all_gather"},
            {"training.precision", "training.framework.scaling",
             "training.framework.narrow_gathers", "training.framework.reduce_bytes"},
            read_titan_precision, write_titan_precision),
      ruled({"optimizer.name"}, {"training.optimizer_state"}, read_titan_optimizer,
            [](const LaunchRun&, LaunchWriter&) {}),  // 0.2.2 has Adam and AdamW alone
      ruled({"compile.enable", "training.compile", "compile.components", "compile.backend"},
            {"training.framework.elementwise"}, read_titan_compile, write_titan_compile),
      {{"parallelism.enable_async_tensor_parallel"},
       {"training.framework.tensor_overlap"},
       FlagField{kTensorOverlap},
       1,
       kHasTensorRanks},
      ruled(
          {"activation_checkpoint.mode", "activation_checkpoint.selective_ac_option"},
          {"parallelism.recompute", "parallelism.recompute_parts", "parallelism.recompute_period"},
          read_titan_recompute, write_titan_recompute),
  };
}

}  // namespace

const LaunchTable& torchtitan_table() {
  static const LaunchTable table{
      "torchtitan",
      "torchtitan-toml",
      "torchtitan",
      LaunchSyntax::toml,
      LaunchModel::by_name,
      false,
      torchtitan_rows(),
      titan_no_effect(),
      titan_not_modelled(),
      set_titan_defaults,
      "model.hf_assets_path, training.dataset, the learning rate and its schedule, "
      "checkpoint.folder, "
      "and "
      "checkpoint.interval where the scenario has no run.checkpoint.interval_steps",
  };
  return table;
}

}  // namespace headway::import
