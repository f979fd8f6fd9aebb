#include "sim/workload/mixer/mixer_problems.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "sim/core/checked.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/mixer/mixer_shape.h"

namespace headway::workload {

namespace {

/// Gathers sentences about one model.
struct MixerComplaints {
  const ModelSpec& model;
  Violations out;
  void add(const char* path, std::string text) { out.push_back({path, std::move(text)}); }
};

/// Which contents a pattern has.
struct PatternWords {
  bool mixers = false;   ///< a mixer somewhere
  bool both = false;     ///< beside attention
  bool halves = false;   ///< one half alone
  bool whole = false;    ///< with an MLP or experts by the mixture's own rule
  bool experts = false;  ///< experts alone
};
PatternWords words_of(const std::vector<LayerContent>& pattern) {
  PatternWords words;
  for (const LayerContent content : pattern) {
    const bool whole = content == LayerContent::attention || content == LayerContent::mixer ||
                       content == LayerContent::both;
    words.whole = words.whole || whole;
    words.halves = words.halves || !whole;
    words.both = words.both || content == LayerContent::both;
    words.experts = words.experts || content == LayerContent::experts_only;
    words.mixers = words.mixers || content == LayerContent::mixer ||
                   content == LayerContent::both || content == LayerContent::mixer_only;
  }
  return words;
}

void check_pattern(MixerComplaints& c, const PatternWords& words) {
  const ModelSpec& model = c.model;
  const auto& pattern = model.layer_pattern;
  if (words.mixers && !model.mixer) {
    c.add("model.layer_pattern",
          fmt::format("layer_pattern of model '{}' has layers with a mixer; say which in 'mixer'",
                      model.name));
  }
  if (model.mixer && !words.mixers) {
    c.add("model.mixer",
          fmt::format("no layer of model '{}' has its mixer; write which do in 'layer_pattern'",
                      model.name));
  }
  if (pattern.size() > static_cast<std::size_t>(model.layers)) {
    c.add("model.layer_pattern",
          fmt::format("layer_pattern has {} entries, but model '{}' has {} layers", pattern.size(),
                      model.name, model.layers));
  }
  if (words.experts && !model.moe) {
    c.add("model.layer_pattern",
          fmt::format("layer_pattern of model '{}' has experts_only; say which in 'moe'",
                      model.name));
  }
  if (model.moe && !pattern.empty() && !words.experts && !words.whole) {
    c.add("model.moe",
          fmt::format("no layer of model '{}' has experts; write experts_only in 'layer_pattern'",
                      model.name));
  }
  if (model.moe && words.halves && (model.moe->period > 1 || model.moe->leading_dense_layers > 0)) {
    c.add(
        "model.moe",
        fmt::format("'period' and 'leading_dense_layers' count whole layers; model '{}' has single "
                    "halves: write experts_only where its experts are",
                    model.name));
  }
}

/// What of a model a pattern does not go with.
void check_parts(MixerComplaints& c, const PatternWords& words) {
  const ModelSpec& model = c.model;
  const bool pattern = !model.layer_pattern.empty();
  if (pattern && (model.parallel_block || model.norms == 1)) {
    c.add(
        "model.layer_pattern",
        fmt::format("layer_pattern of model '{}' with parallel blocks or one norm is not simulated",
                    model.name));
  }
  if (words.both && model.latent) {
    c.add(
        "model.layer_pattern",
        fmt::format("'both' in layer_pattern of model '{}' with latent attention is not simulated",
                    model.name));
  }
  if (model.attention_gate && (model.latent || model.parallel_block)) {
    c.add(
        "model.attention_gate",
        fmt::format("attention_gate of model '{}' with latent attention or parallel blocks is not "
                    "simulated",
                    model.name));
  }
  const LayerKind last = prediction_kind(model, {});
  if (model.multi_token_prediction > 0 && (last.mixing != Mixing::attention || !last.mlp)) {
    c.add(
        "model.multi_token_prediction",
        fmt::format("prediction layers of model '{}' repeat its last layer, which has no attention "
                    "with an MLP; other ones are not simulated",
                    model.name));
  }
}

void check_recompute_operators(MixerComplaints& c, const ParallelismSpec& parallelism) {
  const auto& parts = parallelism.recompute_parts;
  const bool other = !c.model.layer_pattern.empty() || c.model.attention_gate;
  for (std::size_t i = 0; i < parts.size() && other; ++i) {
    if (parts[i] == RecomputePart::operators) {
      c.out.push_back(
          {fmt::format("parallelism.recompute_parts[{}]", i),
           fmt::format("recompute part operators: which products are every second one is known of "
                       "plain layers; model '{}' has a layer pattern or a gate of attention",
                       c.model.name)});
    }
  }
}

/// A channel of mamba1 has a state of its own; all share one B and one C.
void check_recurrence(MixerComplaints& c, const MixerSpec& mixer) {
  if (mixer.value_dim != 1) {
    c.add("model.mixer.value_dim",
          fmt::format("a mamba1 mixer has a state a channel: write its channels in 'heads' and "
                      "value_dim 1, not {}",
                      mixer.value_dim));
  }
  if (mixer.key_heads > 1) {
    c.add("model.mixer.key_heads",
          "all channels of a mamba1 mixer share one B and one C; leave key_heads out");
  }
  if (mixer.chunk != MixerSpec{}.chunk) {
    c.add("model.mixer.chunk",
          "a mamba1 mixer scans token by token and has no chunks; leave chunk out");
  }
  if (mixer.step_rank == 0) {
    c.add("model.mixer.step_rank",
          "a mamba1 mixer makes the steps of its channels from a narrower width: write it "
          "(dt_rank, usually hidden / 16)");
  }
}

void check_shape(MixerComplaints& c, const MixerSpec& mixer) {
  const std::string_view kind = core::to_word(mixer.kind);
  if (mixer.kind == MixerKind::mamba1) {
    check_recurrence(c, mixer);
    return;
  }
  if (mixer.step_rank > 0) {
    c.add("model.mixer.step_rank", fmt::format("a {} mixer has no step_rank; leave it out", kind));
  }
  const int keys = key_heads(mixer);
  if (mixer.heads % keys != 0) {
    c.add("model.mixer.key_heads",
          fmt::format("{} heads of a {} mixer cannot share {} heads of keys", mixer.heads, kind,
                      keys));
  }
  const bool alike = mixer.kind == MixerKind::kimi_delta || mixer.kind == MixerKind::lightning;
  if (alike && keys != mixer.heads) {
    c.add("model.mixer.key_heads",
          fmt::format("a {} mixer has as many heads of keys as of values; leave key_heads out",
                      kind));
  }
  if (mixer.kind == MixerKind::lightning && mixer.key_dim != mixer.value_dim) {
    c.add("model.mixer.key_dim", fmt::format("a {} mixer has keys as wide as values: {}, not {}",
                                             kind, mixer.value_dim, mixer.key_dim));
  }
  if (mixer.kind == MixerKind::lightning && mixer.convolution > 0) {
    c.add("model.mixer.convolution",
          fmt::format("a {} mixer has no convolution; write 'convolution: 0'", kind));
  }
}

/// Mixers whose heads context ranks trade tokens for. Source: NVIDIA/Megatron-LM, commit d98e8a64,
/// megatron/core/ssm/mamba_context_parallel.py and gated_delta_net/common.py (a2a_cp_to_hp), 2026.
bool trades_tokens_for_heads(MixerKind kind) {
  return kind == MixerKind::mamba2 || kind == MixerKind::gated_delta;
}

/// Over context ranks heads divide; heads of keys do, too, or those of mamba2 are copied where
/// ranks are a multiple of them. Source: NVIDIA/Megatron-LM, commit d98e8a64,
/// mamba_context_parallel.py, and transformer_config.py (linear_num_key_heads), 2026.
void check_context(MixerComplaints& c, const MixerSpec& mixer, const ParallelismSpec& parallelism) {
  const std::string_view kind = core::to_word(mixer.kind);
  const int t = parallelism.tensor;
  const int ranks = parallelism.context;
  if (ranks == 1) {
    return;
  }
  if (!trades_tokens_for_heads(mixer.kind)) {
    c.add("parallelism.context",
          fmt::format("context parallelism of {} mixers is not simulated: of these mixers "
                      "Megatron-Core has it for mamba2 and gated_delta alone; write context: 1",
                      kind));
    return;
  }
  const bool copied = mixer.kind == MixerKind::mamba2;
  const int keys = key_heads(mixer);
  const int held = keys / t;
  if (!core::is_multiple(mixer.heads, core::Checked(t) * ranks) ||
      (held % ranks != 0 && !(copied && ranks % held == 0))) {
    c.add("parallelism.context",
          fmt::format("{} heads and {} {} of a {} mixer do not divide over tensor {} x context {}",
                      mixer.heads, keys, copied ? "groups" : "heads of keys", kind, t, ranks));
  }
}

/// Heads, and the keys that they share, divide over tensor ranks.
void check_ranks(MixerComplaints& c, const MixerSpec& mixer, const ParallelismSpec& parallelism) {
  const std::string_view kind = core::to_word(mixer.kind);
  const int t = parallelism.tensor;
  const int keys = key_heads(mixer);
  const bool shared = mixer.kind == MixerKind::mamba1;  // every tensor rank has them whole
  for (const auto& [heads, what] :
       {std::pair{mixer.heads, shared ? "channels" : "heads"}, std::pair{keys, "heads of keys"}}) {
    if (heads % t != 0 && !(shared && heads == keys)) {
      c.add("parallelism.tensor",
            fmt::format("{} {} of a {} mixer do not divide over {} tensor-parallel ranks", heads,
                        what, kind, t));
      return;
    }
  }
  check_context(c, mixer, parallelism);
}

}  // namespace

bool has_attention(const ModelSpec& model) {
  const auto& pattern = model.layer_pattern;
  return pattern.empty() || std::any_of(pattern.begin(), pattern.end(), [](LayerContent content) {
           return content == LayerContent::attention || content == LayerContent::both ||
                  content == LayerContent::attention_only;
         });
}

Violations mixer_problems(const ModelSpec& model, const ParallelismSpec& parallelism) {
  MixerComplaints c{model, {}};
  const PatternWords words = words_of(model.layer_pattern);
  check_pattern(c, words);
  check_parts(c, words);
  check_recompute_operators(c, parallelism);
  if (model.mixer) {
    check_shape(c, *model.mixer);
    check_ranks(c, *model.mixer, parallelism);
  }
  return std::move(c.out);
}

}  // namespace headway::workload
