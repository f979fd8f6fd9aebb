// Attention of other kinds in Megatron-LM's arguments: keys that an indexer chooses, gated delta
// networks in some layers, a gate on the output. Sources: Megatron-LM,
// megatron/core/transformer/transformer_config.py, and is_dsa_skip_topk_layer of
// megatron/core/transformer/experimental_attention_variant/dsa.py, 2026.
#include <algorithm>
#include <fmt/ranges.h>

#include "sim/core/shown_text.h"
#include "sim/import/layer_letters.h"
#include "sim/import/megatron/layer_lists.h"
#include "sim/import/megatron/megatron_rows.h"

namespace headway::import {

namespace {

using workload::LayerContent;
using workload::MixerKind;

constexpr std::string_view kVariant = "experimental-attention-variant";
constexpr std::string_view kIndexHeads = "dsa-indexer-n-heads";
constexpr std::string_view kIndexDim = "dsa-indexer-head-dim";
constexpr std::string_view kIndexTopK = "dsa-indexer-topk";
constexpr std::string_view kIndexPeriod = "dsa-indexer-topk-freq";
constexpr std::string_view kIndexOffset = "dsa-indexer-skip-topk-offset";
constexpr std::string_view kLinearLayers = "linear-attention-freq";
constexpr std::string_view kConvolution = "linear-conv-kernel-dim";
constexpr std::string_view kKeyDim = "linear-key-head-dim";
constexpr std::string_view kValueDim = "linear-value-head-dim";
constexpr std::string_view kKeyHeads = "linear-num-key-heads";
constexpr std::string_view kValueHeads = "linear-num-value-heads";

/// A number of the variant; where none is written it stays as it is, and 0 has to be written.
void read_size(LaunchReader& reader, std::string_view key, const char* path, int& value) {
  const auto written = reader.whole(key);
  reader.place(path, key);
  value = written.value_or(value);
  if (value == 0) {
    reader.complain(kVariant, fmt::format("'{}' needs '{}', which is not set", kVariant, key));
  }
}

void read_chosen_keys(LaunchReader& reader, workload::ModelSpec& model) {
  if (!model.sparse) {
    model.sparse = workload::SparseAttentionSpec{0, 0, 0, 1, 0};
  }
  workload::SparseAttentionSpec& sparse = *model.sparse;
  read_size(reader, kIndexHeads, "model.sparse.index_heads", sparse.index_heads);
  read_size(reader, kIndexDim, "model.sparse.index_dim", sparse.index_dim);
  read_size(reader, kIndexTopK, "model.sparse.top_k", sparse.top_k);
  read_size(reader, kIndexPeriod, "model.sparse.period", sparse.period);
  // Layers counted from 1 choose up to the offset, which is at least 1, and every period after it.
  if (const auto offset = reader.whole(kIndexOffset, 0)) {
    reader.place("model.sparse.leading_layers", kIndexOffset);
    sparse.leading_layers = sparse.period > 1 ? std::max(1, *offset) - 1 : 0;
  }
}

/// Which layers are linear attention: of each N all but the last, or a list of 1 and 0.
void read_linear_layers(LaunchReader& reader, workload::ModelSpec& model) {
  const auto text = reader.word(kLinearLayers);
  reader.place("model.layer_pattern", kLinearLayers);
  if (!text) {
    if (model.layer_pattern.empty()) {
      reader.complain(kVariant,
                      fmt::format("'{}' needs '{}', which is not set", kVariant, kLinearLayers));
    }
    return;
  }
  std::vector<LayerContent> layers;
  if (text->find_first_not_of("0123456789") == std::string::npos) {
    const int period = reader.whole(kLinearLayers).value_or(1);
    layers.assign(static_cast<std::size_t>(std::min(period, 10'000)), LayerContent::mixer);
    layers.back() = LayerContent::attention;
  } else if (const auto list = read_layer_pattern(*text)) {
    for (const int linear : *list) {
      layers.push_back(linear == 1 ? LayerContent::mixer : LayerContent::attention);
    }
    if (model.layers > 0 && std::ssize(layers) != model.layers) {
      reader.complain(kLinearLayers, fmt::format("this list has {} layers and the model {}",
                                                 layers.size(), model.layers));
    }
  } else {
    reader.complain(
        kLinearLayers,
        fmt::format("'{}' is '{}'; write a period such as 4, or a list of 0 and 1 such as "
                    "([1]*3+[0]*1)*12",
                    kLinearLayers, core::shortened(*text)));
  }
  model.layer_pattern = shortest_pattern(layers);
}

void read_delta(LaunchReader& reader, workload::ModelSpec& model) {
  if (!model.mixer || model.mixer->kind != MixerKind::gated_delta) {
    model.mixer = workload::MixerSpec{MixerKind::gated_delta, 32, 16};  // the framework's defaults
  }
  workload::MixerSpec& mixer = *model.mixer;
  reader.place("model.mixer.kind", kVariant);
  read_size(reader, kValueHeads, "model.mixer.heads", mixer.heads);
  read_size(reader, kKeyHeads, "model.mixer.key_heads", mixer.key_heads);
  read_size(reader, kKeyDim, "model.mixer.key_dim", mixer.key_dim);
  read_size(reader, kValueDim, "model.mixer.value_dim", mixer.value_dim);
  read_size(reader, kConvolution, "model.mixer.convolution", mixer.convolution);
  read_linear_layers(reader, model);
}

/// Settings of a variant that is not chosen do nothing, as in the framework.
void pass_over_rest(LaunchReader& reader) {
  for (const std::string_view key :
       {kIndexHeads, kIndexDim, kIndexTopK, kIndexPeriod, kIndexOffset, kLinearLayers, kConvolution,
        kKeyDim, kValueDim, kKeyHeads, kValueHeads}) {
    reader.pass_over(key);
  }
}

void read_variant(LaunchReader& reader, LaunchRun& run) {
  const auto variant = reader.word(kVariant);
  if (variant == "dsa") {
    read_chosen_keys(reader, run.model);
  } else if (variant == "gdn" || variant == "gated_delta_net") {
    read_delta(reader, run.model);
  } else if (variant) {
    reader.complain(kVariant, fmt::format("'{}' is '{}', which is not modelled: dsa and gdn are",
                                          kVariant, core::shortened(*variant)));
  }
  pass_over_rest(reader);
}

void write_chosen_keys(const workload::SparseAttentionSpec& sparse, LaunchWriter& out) {
  out.text(kVariant, "dsa");
  out.whole(kIndexHeads, sparse.index_heads);
  out.whole(kIndexDim, sparse.index_dim);
  out.whole(kIndexTopK, sparse.top_k);
  if (sparse.period > 1) {
    out.whole(kIndexPeriod, sparse.period);
    out.whole(kIndexOffset, sparse.leading_layers + 1);
  }
}

/// "4" of three linear layers and one of attention, over and over; else a list of all layers.
std::string linear_layers(const workload::ModelSpec& model) {
  const auto& pattern = model.layer_pattern;
  const auto first = std::ranges::find(pattern, LayerContent::attention);
  if (first != pattern.end() && first + 1 == pattern.end()) {
    return std::to_string(pattern.size());
  }
  std::vector<int> linear;
  for (std::size_t i = 0; i < static_cast<std::size_t>(model.layers); ++i) {
    linear.push_back(pattern[i % pattern.size()] == LayerContent::mixer ? 1 : 0);
  }
  return fmt::format("[{}]", fmt::join(linear, ","));
}

bool alternates_delta(const workload::ModelSpec& model) {
  return model.mixer && model.mixer->kind == MixerKind::gated_delta &&
         !model.layer_pattern.empty() && std::ranges::all_of(model.layer_pattern, [](auto one) {
           return one == LayerContent::mixer || one == LayerContent::attention;
         });
}

void write_variant(const LaunchRun& run, LaunchWriter& out) {
  if (run.model.sparse) {
    write_chosen_keys(*run.model.sparse, out);
  } else if (alternates_delta(run.model)) {
    const workload::MixerSpec& mixer = *run.model.mixer;
    out.text(kVariant, "gated_delta_net");
    out.text(kLinearLayers, linear_layers(run.model));
    out.whole(kConvolution, mixer.convolution);
    out.whole(kKeyDim, mixer.key_dim);
    out.whole(kValueDim, mixer.value_dim);
    out.whole(kKeyHeads, mixer.key_heads > 0 ? mixer.key_heads : mixer.heads);
    out.whole(kValueHeads, mixer.heads);
  }
}

}  // namespace

LaunchRow attention_variant_row() {
  return ruled({std::string(kVariant), std::string(kIndexHeads), std::string(kIndexDim),
                std::string(kIndexTopK), std::string(kIndexPeriod), std::string(kIndexOffset),
                std::string(kLinearLayers), std::string(kConvolution), std::string(kKeyDim),
                std::string(kValueDim), std::string(kKeyHeads), std::string(kValueHeads)},
               {"model.sparse", "model.mixer", "model.layer_pattern"}, read_variant, write_variant);
}

LaunchRow attention_gate_row() {
  return {{"attention-output-gate"}, {"model.attention_gate"}, FlagField{[](LaunchRun& r) {
            return &r.model.attention_gate;
          }}};
}

}  // namespace headway::import
