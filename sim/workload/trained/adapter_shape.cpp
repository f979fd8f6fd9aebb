#include "sim/workload/trained/adapter_shape.h"

#include <algorithm>

#include "sim/workload/attention/attention_heads.h"

namespace headway::workload {

namespace {

bool routed(AdapterPlace place) {
  return place == AdapterPlace::experts_in || place == AdapterPlace::experts_out;
}

bool split_by_rows(AdapterPlace place) {
  return place == AdapterPlace::attention_out || place == AdapterPlace::mlp_out ||
         place == AdapterPlace::shared_out;
}

}  // namespace

double Adapter::parameters(std::int64_t rank, int tensor) const {
  const auto r = static_cast<double>(rank);
  const double down = static_cast<double>(inputs * down_columns(rank, tensor));
  return static_cast<double>(groups) * (down + r * static_cast<double>(up_columns(tensor)));
}

AdapterWidths adapter_widths(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const int t = parallelism.tensor;
  AdapterWidths widths;
  widths.hidden = model.hidden;
  const AttentionHeads heads = attention_heads(model, {});
  const std::int64_t queries = heads.query / t;
  const std::int64_t groups = std::max(1, heads.key_value / t);
  widths.queries = queries * heads.dim * (model.attention_gate ? 2 : 1);
  widths.keys = groups * heads.dim;
  widths.values = groups * heads.value_dim;
  widths.attended = queries * heads.value_dim;
  widths.ffn = model.ffn / t;
  if (model.moe) {
    widths.shared = static_cast<std::int64_t>(model.moe->shared_experts) * model.moe->ffn / t;
    widths.expert = model.moe->ffn;
    widths.routed = routed_width(model);
    widths.local_experts = model.moe->experts / parallelism.expert;
  }
  return widths;
}

std::vector<Adapter> adapters_at(const ModelSpec& model,
                                 const AdapterWidths& widths,
                                 AdapterPlace place) {
  using A = AdaptedProduct;
  std::vector<Adapter> list;
  const auto add = [&](A product, std::int64_t inputs, std::int64_t outputs) {
    if (adapts(model, product) && inputs > 0 && outputs > 0) {
      list.push_back({inputs, outputs, !split_by_rows(place),
                      routed(place) ? widths.local_experts : std::int64_t{1}});
    }
  };
  switch (place) {
    case AdapterPlace::attention_in:
      add(A::query, widths.hidden, widths.queries);
      add(A::key, widths.hidden, widths.keys);
      add(A::value, widths.hidden, widths.values);
      break;
    case AdapterPlace::attention_out:
      add(A::output, widths.attended, widths.hidden);
      break;
    case AdapterPlace::mlp_in:
    case AdapterPlace::shared_in: {
      const std::int64_t width = place == AdapterPlace::mlp_in ? widths.ffn : widths.shared;
      add(A::gate, widths.hidden, width);
      add(A::up, widths.hidden, width);
      break;
    }
    case AdapterPlace::mlp_out:
      add(A::down, widths.ffn, widths.hidden);
      break;
    case AdapterPlace::shared_out:
      add(A::down, widths.shared, widths.hidden);
      break;
    case AdapterPlace::experts_in:
      for (int i = 0; i < (model.gated_mlp ? 2 : 1); ++i) {
        add(A::experts, widths.routed, widths.expert);
      }
      break;
    case AdapterPlace::experts_out:
      add(A::experts, widths.expert, widths.routed);
      break;
  }
  return list;
}

std::vector<AdapterPlace> adapter_places(const LayerKind& kind) {
  using P = AdapterPlace;
  std::vector<P> places;
  const auto add = [&places](std::initializer_list<P> more) {
    for (const P place : more) {
      places.push_back(place);
    }
  };
  if (kind.attends()) {
    add({P::attention_in, P::attention_out});
  }
  if (kind.experts) {
    add({P::shared_in, P::shared_out, P::experts_in, P::experts_out});
  } else if (kind.mlp) {
    add({P::mlp_in, P::mlp_out});
  }
  return places;
}

RankParameters adapter_parameters_per_rank(const ModelSpec& model,
                                           const ParallelismSpec& parallelism,
                                           const LayerKind& kind) {
  RankParameters sum;
  if (kind.learning != Learning::adapters) {
    return sum;
  }
  const AdapterWidths widths = adapter_widths(model, parallelism);
  for (const AdapterPlace place : adapter_places(kind)) {
    const bool experts = routed(place);
    for (const Adapter& one : adapters_at(model, widths, place)) {
      (experts ? sum.experts : sum.shared) +=
          one.parameters(model.adapters->rank, experts ? 1 : parallelism.tensor);
    }
  }
  return sum;
}

double active_adapter_weights(const ModelSpec& model, const LayerKind& kind) {
  const RankParameters all = adapter_parameters_per_rank(model, {}, kind);
  const double met = model.moe ? visited_experts(*model.moe) / model.moe->experts : 0.0;
  return all.shared + met * all.experts;
}

double kept_by_adapters(const ModelSpec& model,
                        const ParallelismSpec& parallelism,
                        const RankShape& shape,
                        const ExpertShape* experts,
                        const LayerKind& kind) {
  if (kind.learning != Learning::adapters) {
    return 0;
  }
  const AdapterWidths widths = adapter_widths(model, parallelism);
  double bytes = 0;
  for (const AdapterPlace place : adapter_places(kind)) {
    const double tokens =
        routed(place) && experts != nullptr ? experts->rows() : static_cast<double>(shape.tokens);
    for (const Adapter& one : adapters_at(model, widths, place)) {
      const double copy =
          model.adapters->dropout ? (shape.element + 1.0) * static_cast<double>(one.inputs) : 0.0;
      bytes += tokens * (shape.element * model.adapters->rank + copy);
    }
  }
  return bytes;
}

}  // namespace headway::workload
