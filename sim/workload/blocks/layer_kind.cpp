#include "sim/workload/blocks/layer_kind.h"

#include <algorithm>
#include <cstdint>

#include "sim/workload/mixer/mixer_problems.h"

namespace headway::workload {

namespace {

/// Whether a layer is among the first of its chunk that recompute.
bool recomputes_in_chunk(const ParallelismSpec& parallelism, int layer) {
  const auto& layers = parallelism.chunk_layers;
  const auto& again = parallelism.chunk_recompute;
  int first = 0;
  for (std::size_t chunk = 0; chunk < std::min(layers.size(), again.size()); ++chunk) {
    if (layer < first + layers[chunk]) {
      return layer - first < again[chunk];
    }
    first += layers[chunk];
  }
  return false;
}

/// Whether a layer is one of the `recompute_layers` k of a period n: the shares of layers up to it,
/// k (l + 1) / n, reach one more whole number than those before it.
bool recomputes(const ParallelismSpec& parallelism, int layer) {
  if (!parallelism.chunk_recompute.empty()) {
    return recomputes_in_chunk(parallelism, layer);
  }
  const std::int64_t n = parallelism.recompute_period;
  const std::int64_t k = parallelism.recompute_layers;
  if (k == n) {
    return true;
  }
  const std::int64_t place = layer % n;
  const auto reached = [&](std::int64_t layers) { return (k * layers + n - 1) / n; };
  return reached(place + 1) > reached(place);
}

LayerContent content_of(const ModelSpec& model, int layer) {
  if (model.layer_pattern.empty()) {
    return LayerContent::attention;
  }
  return model.layer_pattern[static_cast<std::size_t>(layer) % model.layer_pattern.size()];
}

Mixing mixing_of(LayerContent content) {
  switch (content) {
    case LayerContent::attention:
    case LayerContent::attention_only:
      return Mixing::attention;
    case LayerContent::mixer:
    case LayerContent::mixer_only:
      return Mixing::mixer;
    case LayerContent::both:
      return Mixing::both;
    case LayerContent::mlp_only:
    case LayerContent::experts_only:
      return Mixing::none;
  }
  return Mixing::attention;
}

/// Whether layers differ in nothing but what they recompute, as in most models: then none is asked
/// for one by one.
bool all_alike(const ModelSpec& model) {
  const bool mixtures =
      !model.moe || (model.moe->period == 1 && model.moe->leading_dense_layers == 0);
  const bool indexed = !model.sparse || model.sparse->period == 1;
  return model.layer_pattern.size() <= 1 && mixtures && indexed && model.window_period <= 1 &&
         model.leading_full_layers == 0 && (!model.frozen || model.frozen->layers == 0) &&
         !model.sixteen_bit_layers;
}

void add_layers(const LayerKind& kind, int layers, std::vector<LayerRun>& runs) {
  if (layers > 0 && (runs.empty() || runs.back().kind != kind)) {
    runs.push_back({kind, 0});
  }
  if (layers > 0) {
    runs.back().layers += layers;
  }
}

/// Layers first .. end - 1 of a model whose layers are alike, where the first ones of each chunk
/// recompute.
std::vector<LayerRun> runs_of_chunks(const ParallelismSpec& parallelism,
                                     LayerKind kind,
                                     int first,
                                     int end) {
  std::vector<LayerRun> runs;
  const auto add = [&](int from, int to, bool keeps) {
    kind.keeps = keeps;
    add_layers(kind, std::min(to, end) - std::max(from, first), runs);
  };
  int begin = 0;
  const auto& again = parallelism.chunk_recompute;
  for (std::size_t chunk = 0; chunk < std::min(parallelism.chunk_layers.size(), again.size());
       ++chunk) {
    const int next = begin + parallelism.chunk_layers[chunk];
    const int kept = std::clamp(begin + again[chunk], begin, next);
    add(begin, kept, false);
    add(kept, next, true);
    begin = next;
  }
  add(begin, end, true);
  return runs;
}

/// Whether sparse attention of a layer has no indexer.
bool reuses(const SparseAttentionSpec& sparse, int layer) {
  return layer > sparse.leading_layers && (layer - sparse.leading_layers) % sparse.period != 0;
}

bool stays_wide(const ModelSpec& model, int layer) {
  const auto& kept = model.sixteen_bit_layers;
  return kept && (layer < kept->first || layer >= model.layers - kept->last);
}

/// Whether a model has no layer of two halves.
bool halves_alone(const ModelSpec& model) {
  const auto& pattern = model.layer_pattern;
  return !pattern.empty() && std::none_of(pattern.begin(), pattern.end(), [](LayerContent one) {
    return one == LayerContent::attention || one == LayerContent::mixer ||
           one == LayerContent::both;
  });
}

}  // namespace

LayerKind layer_kind(const ModelSpec& model, const ParallelismSpec& parallelism, int layer) {
  LayerKind kind;
  const LayerContent content = content_of(model, layer);
  kind.mixing = mixing_of(content);
  kind.mlp = content != LayerContent::attention_only && content != LayerContent::mixer_only;
  kind.experts = content == LayerContent::experts_only;
  const bool whole = kind.mlp && kind.mixing != Mixing::none;
  if (whole && model.moe && layer >= model.moe->leading_dense_layers) {
    const int place = layer - model.moe->leading_dense_layers;
    kind.experts = place % model.moe->period == model.moe->period - 1;
  }
  const bool last_of_period =
      model.window_period > 1 && layer % model.window_period == model.window_period - 1;
  const bool full = last_of_period || layer < model.leading_full_layers;
  kind.windowed = model.window > 0 && !full && kind.attends();
  kind.learning = layer_learning(model, layer);
  kind.reuses = model.sparse && kind.attends() && reuses(*model.sparse, layer);
  kind.sixteen_bit = stays_wide(model, layer);
  kind.keeps = parallelism.recompute != Recompute::none && !recomputes(parallelism, layer);
  return kind;
}

LayerKind prediction_kind(const ModelSpec& model, const ParallelismSpec& parallelism) {
  LayerKind kind = layer_kind(model, parallelism, model.layers - 1);
  kind.reuses = kind.sixteen_bit = false;
  if (halves_alone(model) && has_attention(model)) {
    kind.mixing = Mixing::attention;
    kind.experts = model.moe.has_value();
    kind.mlp = kind.experts || model.ffn > 0;
  }
  kind.experts = kind.experts && !model.dense_prediction;
  kind.windowed =
      kind.windowed || (model.windowed_prediction && model.window > 0 && kind.attends());
  return kind;
}

std::vector<LayerRun> layer_runs(const ModelSpec& model,
                                 const ParallelismSpec& parallelism,
                                 int first,
                                 int count) {
  if (count <= 0) {
    return {};
  }
  const bool alike = all_alike(model);
  const bool some = parallelism.recompute != Recompute::none;
  if (alike && some && !parallelism.chunk_recompute.empty()) {
    return runs_of_chunks(parallelism, layer_kind(model, parallelism, first), first, first + count);
  }
  if (alike && (!some || parallelism.recompute_layers == parallelism.recompute_period)) {
    return {{layer_kind(model, parallelism, first), count}};
  }
  std::vector<LayerRun> runs;
  for (int layer = first; layer < first + count; ++layer) {
    add_layers(layer_kind(model, parallelism, layer), 1, runs);
  }
  return runs;
}

std::string kind_name(const LayerKind& kind) {
  std::string name = kind.windowed ? "window " : kind.reuses ? "reusing " : "";
  name += kind.mixing == Mixing::mixer  ? (kind.mlp ? "mixer " : "single mixer ")
          : kind.mixing == Mixing::both ? "hybrid "
                                        : "";
  name += kind.mixing == Mixing::none ? "MLP " : !kind.mlp && kind.attends() ? "attention " : "";
  name += kind.experts ? "expert " : "";
  name += kind.keeps ? "kept " : "";
  name += kind.sixteen_bit ? "16-bit " : "";
  name += kind.learning == Learning::weights    ? ""
          : kind.learning == Learning::adapters ? "adapted "
          : kind.learning == Learning::passes   ? "frozen "
                                                : "still ";
  return name + "layer";
}

Remade remade(const FrameworkSpec& framework,
              const ParallelismSpec& parallelism,
              const LayerKind& kind) {
  Remade out;
  if (kind.learning == Learning::still) {
    return out;
  }
  // Outputs that only gradients of weights need are not made again where none are due.
  const bool weights = kind.learning != Learning::passes;
  out.norms = out.activation = framework.recompute_elementwise && weights;
  if (parallelism.recompute == Recompute::none || kind.keeps) {
    return out;
  }
  if (parallelism.recompute == Recompute::full) {
    out = {};
    out.all = true;
    return out;
  }
  const std::vector<RecomputePart>& parts = parallelism.recompute_parts;
  const auto has = [&parts](RecomputePart part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  out.core_attention = kind.attends() && (parts.empty() || has(RecomputePart::core_attention));
  out.latent_up = kind.attends() && has(RecomputePart::latent_up);
  out.norms = out.norms || (has(RecomputePart::norms) && weights);
  out.activation = out.activation || (has(RecomputePart::activation) && weights);
  out.mlp = has(RecomputePart::mlp) && kind.mlp && !kind.experts;
  out.operators = has(RecomputePart::operators);
  out.experts = (has(RecomputePart::experts) || out.operators) && kind.experts;
  return out;
}

}  // namespace headway::workload
