// Rows that state no layers: the catalogue's model of their name.
#include <cmath>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/validation/names/model_names.h"
#include "sim/validation/run_parts.h"
#include "sim/workload/closed_form.h"

namespace headway::validation {

namespace {

/// The entry that a name means: the only one of these letters and digits; nullptr: none, or
/// several.
const std::pair<const std::string, workload::ModelSpec>* entry_named(const std::string& name,
                                                                     const Catalogue& catalogue) {
  const std::string wanted = model_name(name);
  const std::pair<const std::string, workload::ModelSpec>* found = nullptr;
  for (const auto& entry : catalogue.models) {
    if (bare_name(entry.first) == wanted && !wanted.empty()) {
      if (found != nullptr) {
        return nullptr;
      }
      found = &entry;
    }
  }
  return found;
}

template <class T>
void fill(std::optional<T>& cell, T figure) {
  cell = cell.value_or(figure);
}

/// Fills what the row does not state of the model's shape.
void fill_shape(const workload::ModelSpec& model, RunRow& row) {
  fill(row.n_layers, model.layers);
  fill(row.d_model, model.hidden);
  fill(row.n_heads, model.heads);
  fill(row.n_kv_heads, model.key_value_heads);
  fill(row.vocab, model.vocabulary);
  fill(row.gated_mlp, model.gated_mlp);
  fill(row.d_ffn, model.moe ? model.moe->ffn : model.ffn);
  if (model.moe) {
    fill(row.n_experts, model.moe->experts);
    fill(row.top_k, model.moe->top_k);
  }
}

}  // namespace

RunRow with_named_model(RunRow row, const Catalogue& catalogue, Assumed& assumed) {
  if (row.n_layers && row.d_model) {
    return row;
  }
  const auto* entry = entry_named(row.model, catalogue);
  if (entry == nullptr) {
    return row;  // what is missing is told by name
  }
  const auto& [name, model] = *entry;
  if (row.arch.empty()) {
    row.arch = model.moe ? "moe" : "dense";
  }
  if (const std::string other = disagreement(row, model); !other.empty()) {
    throw core::Error(
        fmt::format("'{}' states no shape, and columns are not the catalogue's {} ({})",
                    core::shortened(row.model), name, other));
  }
  constexpr double kRounded = 0.05;  // sources round, and leave small parts out
  const double count = workload::count_parameters(model).total() / 1e9;
  if (row.params_b && std::abs(*row.params_b / count - 1) > kRounded) {
    throw core::Error(
        fmt::format("'{}' states no shape, and params_b {:g} is not the catalogue's {} "
                    "({:.3g}); state n_layers and d_model",
                    core::shortened(row.model), *row.params_b, name, count));
  }
  fill_shape(model, row);
  assume(assumed, "model");
  row.abouts.push_back({"model", fmt::format("model: '{}' is taken as the catalogue's {}",
                                             core::shortened(row.model), name)});
  return row;
}

}  // namespace headway::validation
