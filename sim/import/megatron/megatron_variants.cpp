// Attention of other kinds in Megatron-LM's arguments and NeMo's model.*: keys that an indexer
// chooses, gated delta networks in some layers, a gate on the output. Sources: Megatron-LM,
// megatron/core/transformer/transformer_config.py, and is_dsa_skip_topk_layer of
// megatron/core/transformer/experimental_attention_variant/dsa.py, 2026. NeMo hands each field of
// that TransformerConfig on by its own name: build_transformer_config of NVIDIA/NeMo,
// nemo/collections/nlp/models/language_modeling/megatron_base_model.py, and Megatron-Bridge sets
// the same names (src/megatron/bridge/models/qwen/qwen3_next_bridge.py, 2026).
#include <algorithm>
#include <array>
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
constexpr std::array kWords{kVariant,     kIndexHeads,  kIndexDim,     kIndexTopK,
                            kIndexPeriod, kIndexOffset, kLinearLayers, kConvolution,
                            kKeyDim,      kValueDim,    kKeyHeads,     kValueHeads};

/// The variant lacks a setting.
void complain_of_lack(LaunchReader& reader, const MegatronSpelling& spell, const std::string& key) {
  const std::string variant = spell(kVariant);
  reader.complain(variant, fmt::format("'{}' needs '{}', which is not set", variant, key));
}

/// Reads numbers of the variant.
class SizeReader {
 public:
  SizeReader(LaunchReader& reader, const MegatronSpelling& spell)
      : reader_(reader), spell_(spell) {}
  /// Where none is written it stays as it is, and 0 has to be written.
  void operator()(std::string_view word, const char* path, int& value) {
    const std::string key = spell_(word);
    const auto written = reader_.whole(key);
    reader_.place(path, key);
    value = written.value_or(value);
    if (value == 0) {
      complain_of_lack(reader_, spell_, key);
    }
  }

 private:
  LaunchReader& reader_;
  const MegatronSpelling& spell_;
};

void read_chosen_keys(LaunchReader& reader,
                      const MegatronSpelling& spell,
                      workload::ModelSpec& model) {
  if (!model.sparse) {
    model.sparse = workload::SparseAttentionSpec{0, 0, 0, 1, 0};
  }
  workload::SparseAttentionSpec& sparse = *model.sparse;
  SizeReader read_size(reader, spell);
  read_size(kIndexHeads, "model.sparse.index_heads", sparse.index_heads);
  read_size(kIndexDim, "model.sparse.index_dim", sparse.index_dim);
  read_size(kIndexTopK, "model.sparse.top_k", sparse.top_k);
  read_size(kIndexPeriod, "model.sparse.period", sparse.period);
  // Layers counted from 1 choose up to the offset, which is at least 1, and every period after it.
  if (const auto offset = reader.whole(spell(kIndexOffset), 0)) {
    reader.place("model.sparse.leading_layers", spell(kIndexOffset));
    sparse.leading_layers = sparse.period > 1 ? std::max(1, *offset) - 1 : 0;
  }
}

/// Which layers are linear attention: of each N all but the last, or a list of 1 and 0.
void read_linear_layers(LaunchReader& reader,
                        const MegatronSpelling& spell,
                        workload::ModelSpec& model) {
  const std::string key = spell(kLinearLayers);
  const auto text = spell.layers(reader, kLinearLayers);
  reader.place("model.layer_pattern", key);
  if (!text) {
    if (model.layer_pattern.empty()) {
      complain_of_lack(reader, spell, key);
    }
    return;
  }
  std::vector<LayerContent> layers;
  if (text->find_first_not_of("0123456789") == std::string::npos) {
    const int period = reader.whole(key).value_or(1);
    layers.assign(static_cast<std::size_t>(std::min(period, 10'000)), LayerContent::mixer);
    layers.back() = LayerContent::attention;
  } else if (const auto list = read_layer_pattern(*text)) {
    for (const int linear : *list) {
      layers.push_back(linear == 1 ? LayerContent::mixer : LayerContent::attention);
    }
    if (model.layers > 0 && std::ssize(layers) != model.layers) {
      reader.complain(key, fmt::format("this list has {} layers and the model {}", layers.size(),
                                       model.layers));
    }
  } else {
    reader.complain(key, fmt::format("'{}' is '{}'; write a period such as 4, or a list of 0 and 1 "
                                     "such as {}",
                                     key, core::shortened(*text),
                                     spell.bare_flags ? "([1]*3+[0]*1)*12" : "[1, 1, 1, 0]"));
  }
  model.layer_pattern = shortest_pattern(layers);
}

void read_delta(LaunchReader& reader, const MegatronSpelling& spell, workload::ModelSpec& model) {
  if (!model.mixer || model.mixer->kind != MixerKind::gated_delta) {
    model.mixer = workload::MixerSpec{MixerKind::gated_delta, 32, 16};  // the framework's defaults
  }
  workload::MixerSpec& mixer = *model.mixer;
  reader.place("model.mixer.kind", spell(kVariant));
  SizeReader read_size(reader, spell);
  read_size(kValueHeads, "model.mixer.heads", mixer.heads);
  read_size(kKeyHeads, "model.mixer.key_heads", mixer.key_heads);
  read_size(kKeyDim, "model.mixer.key_dim", mixer.key_dim);
  read_size(kValueDim, "model.mixer.value_dim", mixer.value_dim);
  read_size(kConvolution, "model.mixer.convolution", mixer.convolution);
  read_linear_layers(reader, spell, model);
}

void read_variant(LaunchReader& reader, const MegatronSpelling& spell, LaunchRun& run) {
  const std::string key = spell(kVariant);
  const auto variant = reader.word(key);
  if (variant == "dsa") {
    read_chosen_keys(reader, spell, run.model);
  } else if (variant == "gdn" || variant == "gated_delta_net") {
    read_delta(reader, spell, run.model);
  } else if (variant) {
    reader.complain(key, fmt::format("'{}' is '{}', which is not modelled: dsa and gdn are", key,
                                     core::shortened(*variant)));
  }
  for (const std::string_view word : kWords) {  // of another variant: nothing, as in the framework
    reader.pass_over(spell(word));
  }
}

void write_chosen_keys(const workload::SparseAttentionSpec& sparse,
                       const MegatronSpelling& spell,
                       LaunchWriter& out) {
  out.text(spell(kVariant), "dsa");
  out.whole(spell(kIndexHeads), sparse.index_heads);
  out.whole(spell(kIndexDim), sparse.index_dim);
  out.whole(spell(kIndexTopK), sparse.top_k);
  if (sparse.period > 1) {
    out.whole(spell(kIndexPeriod), sparse.period);
    out.whole(spell(kIndexOffset), sparse.leading_layers + 1);
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

void write_variant(const LaunchRun& run, const MegatronSpelling& spell, LaunchWriter& out) {
  if (run.model.sparse) {
    write_chosen_keys(*run.model.sparse, spell, out);
  } else if (alternates_delta(run.model)) {
    const workload::MixerSpec& mixer = *run.model.mixer;
    out.text(spell(kVariant), "gated_delta_net");
    spell.layers(out, kLinearLayers, linear_layers(run.model));
    out.whole(spell(kConvolution), mixer.convolution);
    out.whole(spell(kKeyDim), mixer.key_dim);
    out.whole(spell(kValueDim), mixer.value_dim);
    out.whole(spell(kKeyHeads), mixer.key_heads > 0 ? mixer.key_heads : mixer.heads);
    out.whole(spell(kValueHeads), mixer.heads);
  }
}

}  // namespace

LaunchRow attention_variant_row(const MegatronSpelling& spell) {
  std::vector<std::string> keys;
  for (const std::string_view word : kWords) {
    keys.push_back(spell(word));
  }
  return {
      std::move(keys),
      {"model.sparse", "model.mixer", "model.layer_pattern"},
      LaunchRule{
          [spell](LaunchReader& reader, LaunchRun& run) { read_variant(reader, spell, run); },
          [spell](const LaunchRun& run, LaunchWriter& out) { write_variant(run, spell, out); }}};
}

LaunchRow attention_gate_row(const MegatronSpelling& spell) {
  return {{spell("attention-output-gate")}, {"model.attention_gate"}, FlagField{[](LaunchRun& r) {
            return &r.model.attention_gate;
          }}};
}

}  // namespace headway::import
