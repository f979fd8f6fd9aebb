// Layers of single halves among Megatron-LM's arguments: Mamba-2, attention, MLPs and experts by
// letter. Sources: NVIDIA/Megatron-LM, megatron/training/arguments.py, transformer_config.py
// (mamba_state_dim, mamba_head_dim, mamba_num_groups), megatron/core/ssm/mamba_mixer.py, 2026.
#include <algorithm>

#include "sim/core/shown_text.h"
#include "sim/import/layer_letters.h"
#include "sim/import/megatron/megatron_rows.h"
#include "sim/workload/layout.h"

namespace headway::import {

namespace {

using workload::LayerContent;

constexpr std::string_view kPattern = "hybrid-layer-pattern";
constexpr std::string_view kOlderPattern = "hybrid-override-pattern";
constexpr std::string_view kPredictionPattern = "mtp-hybrid-override-pattern";

/// Channels of a Mamba-2 mixer / width of the model, where the number of its heads is not set.
constexpr int kExpansion = 2;

/// A complaint about arguments that only a hybrid has, where nothing says its layers.
void need_pattern(LaunchReader& reader, const LaunchRun& run) {
  if (!run.model.layer_pattern.empty()) {
    return;  // of the model that was named
  }
  std::string_view of_hybrid;
  for (const std::string_view key :
       {"mamba-num-heads", "mamba-head-dim", "mamba-state-dim", "mamba-num-groups",
        "hybrid-attention-ratio", "hybrid-mlp-ratio", "is-hybrid-model"}) {
    const bool flag = key == "is-hybrid-model";
    of_hybrid = (flag ? reader.flag(key).value_or(false) : reader.has(key)) ? key : of_hybrid;
  }
  for (const std::string& word : reader.words("spec")) {
    const bool hybrid =
        word.find("mamba") != std::string::npos || word.find("hybrid") != std::string::npos;
    of_hybrid = hybrid ? "spec" : of_hybrid;
  }
  if (!of_hybrid.empty()) {
    reader.complain(of_hybrid, fmt::format("'{}' belongs to a hybrid of Mamba-2 and attention, and "
                                           "no '{}' says which layer is what; write it as in "
                                           "M-M-M*-, or name the model (--model ENTRY)",
                                           of_hybrid, kPattern));
  }
}

/// Stages that "|" in the pattern ends.
void read_chunks(LaunchReader& reader,
                 std::string_view key,
                 const std::vector<int>& chunks,
                 workload::ParallelismSpec& parallelism) {
  if (chunks.empty()) {
    return;
  }
  const auto stages =
      static_cast<std::size_t>(reader.whole("pipeline-model-parallel-size").value_or(1));
  if (chunks.size() % stages != 0) {
    reader.complain(key, fmt::format("'|' cuts the pattern into {} parts, which do not divide over "
                                     "{} pipeline stages",
                                     chunks.size(), stages));
    return;
  }
  reader.place("parallelism.chunk_layers", key);
  parallelism.virtual_stages = static_cast<int>(chunks.size() / stages);
  parallelism.chunk_layers = chunks;
}

/// The older argument for layers of prediction modules.
void read_prediction_pattern(LaunchReader& reader, bool experts) {
  const auto text = reader.word(kPredictionPattern);
  if (!text) {
    return;
  }
  const LetteredLayers found = read_layer_letters(*text);
  const std::string problem =
      found.problem.empty() ? prediction_problem(found.layers, experts) : found.problem;
  if (!problem.empty()) {
    reader.complain(kPredictionPattern, problem);
  }
}

void read_mixer(LaunchReader& reader, workload::ModelSpec& model) {
  if (!model.mixer) {
    workload::MixerSpec mixer;
    mixer.kind = workload::MixerKind::mamba2;
    mixer.key_dim = 128;
    mixer.value_dim = 64;
    mixer.key_heads = 8;
    mixer.chunk = 128;
    model.mixer = mixer;
  }
  workload::MixerSpec& mixer = *model.mixer;
  const auto take = [&](std::string_view key, int& field, const char* path) {
    if (const auto value = reader.whole(key)) {
      reader.place(path, key);
      field = *value;
    }
  };
  take("mamba-state-dim", mixer.key_dim, "model.mixer.key_dim");
  take("mamba-head-dim", mixer.value_dim, "model.mixer.value_dim");
  take("mamba-num-groups", mixer.key_heads, "model.mixer.key_heads");
  take("mamba-num-heads", mixer.heads, "model.mixer.heads");
  if (mixer.heads == 0) {
    const std::int64_t heads =
        std::int64_t{kExpansion} * reader.whole("hidden-size").value_or(0) / mixer.value_dim;
    mixer.heads = static_cast<int>(std::clamp<std::int64_t>(heads, 1, 1'000'000));
    reader.assume(fmt::format("mamba-num-heads is not set: {} x hidden-size / mamba-head-dim, {}",
                              kExpansion, mixer.heads));
  }
}

void read_hybrid(LaunchReader& reader, LaunchRun& run) {
  const auto newer = reader.word(kPattern);
  const auto older = reader.word(kOlderPattern);
  const std::string_view key = newer ? kPattern : kOlderPattern;
  for (const std::string_view word : {"is-hybrid-model", "spec"}) {
    reader.pass_over(word);
  }
  if (!newer && !older) {
    need_pattern(reader, run);
    if (run.model.mixer && run.model.mixer->kind == workload::MixerKind::mamba2) {
      read_mixer(reader, run.model);  // laid over the model that was named
    }
    return;
  }
  if (newer && older) {
    reader.complain(kOlderPattern,
                    fmt::format("'{}' and '{}' say the same; keep one", kOlderPattern, kPattern));
    return;
  }
  const LetteredLayers found = read_layer_letters(newer ? *newer : *older);
  reader.place("model.layer_pattern", key);
  if (!found.problem.empty() || found.layers.empty()) {
    reader.complain(
        key, found.layers.empty() && found.problem.empty() ? "no layer is in it" : found.problem);
    return;
  }
  workload::ModelSpec& model = run.model;
  const auto layers = static_cast<int>(std::min<std::size_t>(found.layers.size(), 1'000'000));
  if (model.layers > 0 && model.layers != layers) {
    reader.assume(fmt::format("{} says {} layers; num-layers {} is ignored, as the framework does",
                              key, layers, model.layers));
  }
  model.layers = layers;
  model.layer_pattern = shortest_pattern(found.layers);
  model.multi_token_prediction = found.predictions;
  const auto has = [&found](LayerContent content) {
    return std::ranges::find(found.layers, content) != found.layers.end();
  };
  if (has(LayerContent::mixer_only)) {
    read_mixer(reader, model);
  }
  read_prediction_pattern(reader, has(LayerContent::experts_only));
  read_chunks(reader, key, found.chunks, run.parallelism);
}

void write_hybrid(const LaunchRun& run, LaunchWriter& out) {
  const std::string letters = hybrid_letters(run);
  if (letters.empty()) {
    return;
  }
  out.flag("is-hybrid-model");
  out.text(kPattern, letters);
  out.list("spec", {"megatron.core.models.hybrid.hybrid_layer_specs", "hybrid_stack_spec"});
  if (run.model.mixer) {
    const workload::MixerSpec& mixer = *run.model.mixer;
    out.whole("mamba-state-dim", mixer.key_dim);
    out.whole("mamba-head-dim", mixer.value_dim);
    out.whole("mamba-num-groups", mixer.key_heads > 0 ? mixer.key_heads : mixer.heads);
    out.whole("mamba-num-heads", mixer.heads);
  }
}

void read_latent_experts(LaunchReader& reader, LaunchRun& run) {
  constexpr std::string_view kKey = "moe-latent-size";
  const auto width = reader.whole(kKey);
  reader.place("model.moe.latent", kKey);
  if (width && !run.model.moe) {
    reader.complain(
        kKey,
        fmt::format("'{}' has nothing that it applies to: the number of experts is not set", kKey));
  } else if (width) {
    run.model.moe->latent = *width;
  }
}

void write_latent_experts(const LaunchRun& run, LaunchWriter& out) {
  if (run.model.moe && run.model.moe->latent > 0) {
    out.whole("moe-latent-size", run.model.moe->latent);
  }
}

}  // namespace

std::string hybrid_letters(const LaunchRun& run) {
  const workload::ParallelismSpec& p = run.parallelism;
  const bool cut = p.virtual_stages > 1 || !p.chunk_layers.empty();
  const bool divides = !workload::layout_problem(run.model, p);
  return layer_letters(
      run.model, cut && divides ? workload::layers_of_chunks(run.model, p) : std::vector<int>{});
}

LaunchRow hybrid_row() {
  return ruled({std::string(kPattern), std::string(kOlderPattern), std::string(kPredictionPattern),
                "is-hybrid-model", "spec", "mamba-state-dim", "mamba-head-dim", "mamba-num-groups",
                "mamba-num-heads"},
               {"model.layer_pattern", "model.mixer"}, read_hybrid, write_hybrid);
}

LaunchRow latent_experts_row() {
  return ruled({"moe-latent-size"}, {"model.moe.latent"}, read_latent_experts,
               write_latent_experts);
}

}  // namespace headway::import
