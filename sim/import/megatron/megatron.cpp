// Megatron-LM's arguments. Sources: NVIDIA/Megatron-LM, megatron/training/arguments.py, 2024 and
// 2025, whose defaults these are; megatron/core/transformer/transformer_config.py.
#include <algorithm>
#include <charconv>

#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/import/launch/launch_evaluation.h"
#include "sim/import/launch/launch_fields.h"
#include "sim/import/launch/launch_saves.h"
#include "sim/import/megatron/layer_lists.h"
#include "sim/import/megatron/megatron_rows.h"

namespace headway::import {

namespace {

/// A number of the launcher or a variable, where it is one: "8", "gpu:8".
int loose_number(LaunchReader& reader, std::string_view key) {
  const auto words = reader.words(key);
  if (words.empty()) {
    return 0;
  }
  const std::string_view word = words[0];
  const std::size_t colon = word.rfind(':');
  const std::string_view digits = word.substr(colon == std::string_view::npos ? 0 : colon + 1);
  return std::max(0, core::whole_text_as<int>(digits).value_or(0));
}

/// The first of the settings that is a number.
int first_number(LaunchReader& reader, std::initializer_list<std::string_view> keys) {
  int found = 0;
  for (const std::string_view key : keys) {
    const int value = loose_number(reader, key);
    found = found > 0 ? found : value;
  }
  return found;
}

void read_world(LaunchReader& reader, LaunchRun& run) {
  const int processes =
      first_number(reader, {"nproc-per-node", "sbatch-ntasks-per-node", "sbatch-gpus-per-node",
                            "sbatch-gres", "$GPUS_PER_NODE", "$NPROC_PER_NODE"});
  const int nodes = first_number(reader, {"nnodes", "sbatch-nodes", "$NNODES", "$NUM_NODES"});
  const int world = first_number(reader, {"$WORLD_SIZE", "sbatch-gpus", "sbatch-ntasks"});
  run.gpus_per_node = processes;
  if (run.gpus == 0) {
    run.gpus = nodes > 0 && processes > 0 ? ranks_product({nodes, processes}) : world;
  }
  reader.place("cluster.nodes", "nnodes");
  need_gpus(reader, run, "name them: --gpus N");
}

void write_world(const LaunchRun& run, LaunchWriter& out) {
  if (run.gpus > 0 && run.gpus_per_node > 0) {
    out.whole("nnodes", run.gpus / run.gpus_per_node);
    out.whole("nproc-per-node", run.gpus_per_node);
  }
}

void read_virtual(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kLayersKey = "num-layers-per-virtual-pipeline-stage";
  workload::ParallelismSpec& p = run.parallelism;
  if (const auto chunks = reader.whole("num-virtual-stages-per-pipeline-rank")) {
    reader.place("parallelism.virtual", "num-virtual-stages-per-pipeline-rank");
    p.virtual_stages = *chunks;
  } else if (const auto layers = reader.whole(kLayersKey)) {
    reader.place("parallelism.virtual", kLayersKey);
    const int stage = middle_layers(run);
    if (stage == 0 || stage % *layers != 0) {
      reader.complain(kLayersKey,
                      fmt::format("{} layers over {} stages do not divide into chunks of "
                                  "{} layers",
                                  run.model.layers, p.pipeline, *layers));
    } else {
      p.virtual_stages = stage / *layers;
    }
  }
}

void read_layout(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kKey = "pipeline-model-parallel-layout";
  workload::ParallelismSpec& p = run.parallelism;
  const auto text = reader.word(kKey);
  if (!text) {
    return;
  }
  reader.place("parallelism.chunk_layers", kKey);
  const auto chunks = read_pipeline_layout(*text);
  if (!chunks || chunks->size() % static_cast<std::size_t>(p.pipeline) != 0) {
    reader.complain(kKey,
                    fmt::format("'{}' is no layout of {} stages; write stages as in Et*4|t*4|tL",
                                core::shortened(*text), p.pipeline));
    return;
  }
  const bool apart = std::ranges::any_of(*chunks, [](const ChunkContent& chunk) {
    return chunk.prediction_layers > 0 && !chunk.loss;
  });
  if (apart) {
    reader.not_modelled(kKey, "prediction modules (m) are in the chunk of the loss (L)");
  }
  p.virtual_stages = static_cast<int>(chunks->size()) / p.pipeline;
  for (const ChunkContent& chunk : *chunks) {
    p.chunk_layers.push_back(chunk.layers);
  }
}

void write_virtual(const LaunchRun& run, LaunchWriter& out) {
  if (run.parallelism.virtual_stages > 1 && chunks_of_layout(run).empty() &&
      hybrid_letters(run).empty()) {
    out.whole("num-virtual-stages-per-pipeline-rank", run.parallelism.virtual_stages);
  }
}

void write_layout(const LaunchRun& run, LaunchWriter& out) {
  const std::vector<int> chunks = chunks_of_layout(run);
  if (!chunks.empty() && hybrid_letters(run).empty()) {
    out.text("pipeline-model-parallel-layout",
             pipeline_layout(chunks, run.model.multi_token_prediction));
  }
}

void read_steps(LaunchReader& reader, LaunchRun& run) {
  look_at_evaluation(reader, "eval-interval", "eval-iters");
  reader.place("run.until.steps", "train-iters");
  if (const auto steps = reader.count("train-iters")) {
    run.steps = *steps;
  } else if (const auto samples = reader.count("train-samples");
             samples && run.training.global_batch > 0) {
    reader.place("run.until.steps", "train-samples");
    run.steps = std::max<std::int64_t>(1, *samples / run.training.global_batch);
  }
}

void write_steps(const LaunchRun& run, LaunchWriter& out) {
  if (run.steps) {
    out.whole("train-iters", *run.steps);
  }
}

void read_megatron_saves(LaunchReader& reader, LaunchRun& run) {
  read_saves(reader, run, "save-interval", "async-save", reader.flag("async-save").value_or(false),
             "no-save-optim", reader.flag("no-save-optim").value_or(false));
}

void write_megatron_saves(const LaunchRun& run, LaunchWriter& out) {
  if (run.saves) {
    out.whole("save-interval", run.saves->every);
    if (run.saves->asynchronous) {
      out.flag("async-save");
      out.flag("use-persistent-ckpt-worker");  // without it saves are not asynchronous
    }
    if (run.saves->weights_only) {
      out.flag("no-save-optim");
    }
  }
}

void read_batch(LaunchReader& reader, LaunchRun& run) {
  reader.place("training.global_batch", "global-batch-size");
  if (const auto batch = reader.whole("global-batch-size")) {
    run.training.global_batch = *batch;
    return;
  }
  const workload::ParallelismSpec& p = run.parallelism;
  const std::int64_t replica = ranks_product({p.tensor, p.pipeline, p.context});
  if (run.gpus == 0 || run.gpus % replica != 0) {
    reader.lacks("training.global_batch: --global-batch-size is not set");
    return;
  }
  const std::int64_t batch = ranks_product({run.gpus / replica, p.micro_batch});
  run.training.global_batch = static_cast<int>(std::min<std::int64_t>(batch, 2'000'000'000));
  reader.assume(
      fmt::format("--global-batch-size is not set: one micro-batch a replica, {}", batch));
}

void read_window(LaunchReader& reader, LaunchRun& run) {
  const auto words = reader.words("window-size");
  if (words.empty()) {
    return;
  }
  reader.place("model.window", "window-size");
  std::string text = words[0];
  std::erase(text, '(');
  int left = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), left);
  if (error != std::errc{} || left < 1) {
    reader.complain("window-size", "write the tokens of the window and 0, as in 4095,0");
    return;
  }
  run.model.window = left + 1;  // the token itself beside those before it
  run.model.window_period = reader.whole("window-attn-skip-freq").value_or(1);
}

void write_window(const LaunchRun& run, LaunchWriter& out) {
  if (run.model.window > 0) {
    out.text("window-size", fmt::format("{},0", run.model.window - 1));
    if (run.model.window_period > 1) {
      out.whole("window-attn-skip-freq", run.model.window_period);
    }
  }
}

void read_prediction(LaunchReader& reader, LaunchRun& run) {
  reader.place("model.multi_token_prediction", "mtp-num-layers");
  if (const auto layers = reader.whole("mtp-num-layers", 0)) {
    run.model.multi_token_prediction = *layers;
  }
}

/// Asserted: positions are rotary or none.
void write_prediction(const LaunchRun& run, LaunchWriter& out) {
  if (run.model.multi_token_prediction > 0 && run.model.learned_positions == 0) {
    out.whole("mtp-num-layers", run.model.multi_token_prediction);
  }
}

void set_bare_defaults(LaunchRun& run) {
  set_megatron_defaults(run);
  run.training.framework.fused_permute = false;
  run.training.framework.expert_overlap = false;
}

/// Layers with experts have none (transformer_config.py).
bool writes_biases(const LaunchRun& run) { return run.model.biases && !run.model.moe; }

/// A scenario has one kind of norm with gated MLPs, another with plain ones.
void compare_norm(LaunchReader& reader, const LaunchRun& run) {
  const std::string norm = reader.word("normalization").value_or("LayerNorm");
  if ((norm == "RMSNorm") != run.model.gated_mlp) {
    reader.not_modelled("normalization",
                        run.model.gated_mlp
                            ? "norms of models with gated MLPs are timed as RMSNorm"
                            : "norms of models with plain MLPs are timed as LayerNorm");
  }
}

void read_gated(LaunchReader& reader, LaunchRun& run) {
  reader.place("model.gated_mlp", "swiglu");
  run.model.gated_mlp = reader.flag("swiglu").value_or(run.model.gated_mlp);
  if (reader.flag("squared-relu").value_or(false)) {
    run.model.gated_mlp = false;
  }
  compare_norm(reader, run);
}

void write_gated(const LaunchRun& run, LaunchWriter& out) {
  if (run.model.gated_mlp) {
    out.flag("swiglu");
    out.text("normalization", "RMSNorm");
  } else if (!writes_biases(run)) {
    out.flag("no-bias-gelu-fusion");  // the fused kernel adds a bias (transformer_config.py)
  }
}

void read_biases(LaunchReader& reader, LaunchRun& run) {
  reader.place("model.biases", "disable-bias-linear");
  if (const auto without = reader.flag("disable-bias-linear")) {
    run.model.biases = !*without;
  }
}

void write_biases(const LaunchRun& run, LaunchWriter& out) {
  if (!writes_biases(run)) {
    out.flag("disable-bias-linear");
  }
}

void read_expert_overlap(LaunchReader& reader, LaunchRun& run) {
  reader.place("training.framework.expert_overlap", "overlap-moe-expert-parallel-comm");
  if (const auto overlap = reader.flag("overlap-moe-expert-parallel-comm")) {
    run.training.framework.expert_overlap = *overlap;
  }
}

/// What transformer_config.py asks of it: expert ranks, chunks where there is a pipeline, layers
/// that do not recompute whole, 16-bit formats, one prediction module.
void write_expert_overlap(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  const auto& t = run.training;
  const bool full = t.precision == core::Precision::fp32 || t.precision == core::Precision::tf32;
  if (t.framework.expert_overlap && p.expert > 1 && (p.pipeline == 1 || p.virtual_stages > 1) &&
      p.recompute != workload::Recompute::full && !full && run.model.multi_token_prediction <= 1 &&
      t.framework.expert_dispatch != workload::ExpertDispatch::all_gather) {
    out.flag("overlap-moe-expert-parallel-comm");
  }
}

std::vector<LaunchRow> megatron_rows() {  // NOLINT(readability-function-size): a table
  const MegatronSpelling spell;
  std::vector<LaunchRow> rows{
      ruled({"nnodes", "nproc-per-node"}, {"cluster.nodes"}, read_world, write_world),
      {{"num-layers", "encoder-num-layers"}, {"model.layers"}, kLayers},
      hybrid_row(),
      {{"hidden-size"}, {"model.hidden"}, kHidden},
      {{"num-attention-heads"}, {"model.heads"}, kHeads},
      key_value_heads_row(spell),
      head_dim_row(spell),
      latent_row(spell),
      attention_variant_row(spell),
      attention_gate_row(spell),
      ruled({"swiglu", "normalization"}, {"model.gated_mlp"}, read_gated, write_gated),
      ffn_row(spell),
      {{"untie-embeddings-and-output-weights"},
       {"model.tied_embeddings"},
       FlagField{kTiedEmbeddings, true}},
      ruled({"disable-bias-linear"}, {"model.biases"}, read_biases, write_biases),
      dropout_row(spell),
      query_key_norm_row(spell),
      ruled({"window-size", "window-attn-skip-freq"}, {"model.window", "model.window_period"},
            read_window, write_window),
      experts_row(spell, "num-experts"),
      latent_experts_row(),
      {{"moe-router-topk"}, {"model.moe.top_k"}, kTopK},
      {{"moe-router-num-groups"}, {"model.moe.routing_groups"}, kRoutingGroups},
      {{"moe-router-group-topk"}, {"model.moe.group_limit"}, kGroupLimit, 0},
      {{"moe-pad-expert-input-to-capacity"}, {"model.moe.padded"}, FlagField{kPadded}},
      ruled({"mtp-num-layers"}, {"model.multi_token_prediction"}, read_prediction,
            write_prediction),
      {{"seq-length", "encoder-seq-length"}, {"training.sequence_length"}, kSequenceLength},
      positions_row(spell),
      {{"tensor-model-parallel-size"}, {"parallelism.tensor"}, kTensor},
      {{"sequence-parallel"}, {"parallelism.sequence"}, FlagField{kSequence}, 1, kHasTensorRanks},
      {{"pipeline-model-parallel-size"}, {"parallelism.pipeline"}, kPipeline},
      {{"context-parallel-size"}, {"parallelism.context"}, kContext},
      context_kind_row(spell),
      {{"expert-model-parallel-size"}, {"parallelism.expert"}, kExpert, 1, kHasExperts},
      expert_tensor_row(spell),
      uneven_stages_row(spell),
      ruled({"num-virtual-stages-per-pipeline-rank", "num-layers-per-virtual-pipeline-stage"},
            {"parallelism.virtual"}, read_virtual, write_virtual),
      ruled({"pipeline-model-parallel-layout"}, {"parallelism.chunk_layers"}, read_layout,
            write_layout),
      vocabulary_row(spell, "vocab-size"),
      {{"micro-batch-size"}, {"parallelism.micro_batch"}, kMicroBatch},
      ruled({"global-batch-size"}, {"training.global_batch"}, read_batch,
            [](const LaunchRun& run, LaunchWriter& out) {
              out.whole("global-batch-size", run.training.global_batch);
            }),
      ruled({"train-iters", "train-samples"}, {"run.until.steps"}, read_steps, write_steps),
      ruled({"save-interval", "async-save", "no-save-optim"},
            {"run.checkpoint.interval_steps", "run.checkpoint.mode",
             "run.checkpoint.bytes_per_parameter"},
            read_megatron_saves, write_megatron_saves),
      megatron_sharding_row(),
      megatron_data_overlap_row(),
      tensor_overlap_row(spell, "tp-comm-overlap"),
      recompute_row(spell),
      megatron_offload_row(),
      rank_order_row(spell),
      dispatcher_row(spell),
      {{"moe-permute-fusion"},
       {"training.framework.fused_permute"},
       FlagField{kFusedPermute},
       1,
       kHasExperts},
      {{"overlap-moe-expert-parallel-comm"},
       {"training.framework.expert_overlap"},
       LaunchRule{read_expert_overlap, write_expert_overlap},
       1,
       kHasExperts},
  };
  for (LaunchRow& row : megatron_recipe_rows()) {
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

const LaunchTable& megatron_table() {
  static const LaunchTable table{
      "megatron",
      "megatron-args",
      "megatron-lm-2025",
      LaunchSyntax::shell,
      LaunchModel::by_shape,
      true,
      megatron_rows(),
      megatron_no_effect(),
      megatron_not_modelled(),
      set_bare_defaults,
      "the tokenizer (the null tokenizer stands in for it), --data-path or --mock-data, --lr and "
      "its "
      "schedule, --save, --load, --rdzv-endpoint, --rotary-base (a scenario has none, and its "
      "default "
      "is 10000), --normalization of models whose norms are other than RMSNorm with gated MLPs and "
      "LayerNorm with plain ones, --save-interval where the scenario has no "
      "run.checkpoint.interval_steps, how experts are scored (--moe-router-score-function, "
      "--moe-router-enable-expert-bias, --moe-router-topk-scaling-factor, --moe-router-dtype, "
      "--moe-router-load-balancing-type, --moe-aux-loss-coeff), and --fp8-format (e4m3 where "
      "scales "
      "are of blocks, else hybrid)",
      megatron_remarks,
  };
  return table;
}

}  // namespace headway::import
