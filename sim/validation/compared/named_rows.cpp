// Rows that state no layers or no experts: the catalogue's model of their name.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/validation/names/model_names.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/words/model_words.h"
#include "sim/workload/closed_form.h"

namespace headway::validation {

namespace {

using Entry = std::pair<const std::string, workload::ModelSpec>;

/// The only entry that `means` is true of; nullptr: none, or several.
template <class Means>
const Entry* only_entry(const Catalogue& catalogue, const Means& means) {
  const Entry* found = nullptr;
  for (const Entry& entry : catalogue.models) {
    if (means(entry)) {
      if (found != nullptr) {
        return nullptr;
      }
      found = &entry;
    }
  }
  return found;
}

/// Whether a model has so many parameters, "1.5b": sources round.
bool is_of_size(const workload::ModelSpec& model, const std::string& size) {
  constexpr double kRounded = 0.12;  // "124M" and "1.5B" leave tables out
  const double count = std::atof(size.c_str()) * (size.ends_with('m') ? 1e6 : 1e9);
  return count > 0 && std::abs(workload::count_parameters(model).total() / count - 1) < kRounded;
}

/// The entry that a name means: the only one of these letters and digits, else of these and a size,
/// which the name may have too, or leave out; nullptr: none, or several.
const Entry* entry_named(const std::string& name, const Catalogue& catalogue) {
  const std::string wanted = model_name(name);
  const std::string size = size_of_name(name);
  if (wanted.empty()) {
    return nullptr;
  }
  // "1.3B" and "13B" have the same digits.
  if (const Entry* same = only_entry(catalogue, [&](const Entry& entry) {
        const std::string own = size_of_name(entry.first);
        return bare_name(entry.first) == wanted && (size.empty() || own.empty() || own == size);
      })) {
    return same;
  }
  const std::string digits = bare_name(size);
  if (!size.empty() && wanted.ends_with(digits)) {
    const std::string rest = wanted.substr(0, wanted.size() - digits.size());
    if (const Entry* same = only_entry(catalogue, [&](const Entry& entry) {
          return bare_name(entry.first) == rest && is_of_size(entry.second, size);
        })) {
      return same;
    }
  }
  return only_entry(catalogue, [&](const Entry& entry) {
    const std::string own = bare_name(entry.first);
    const std::string more = own.starts_with(wanted) ? own.substr(wanted.size()) : "";
    return is_size(more) || (!size.empty() && more.starts_with('a') && is_size(more.substr(1)));
  });
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

/// The inner width of a mixture's experts where a row states that of its dense layers, or of all
/// experts that a token goes to, as configurations of Hugging Face name them both.
void settle_expert_width(const workload::ModelSpec& model, RunRow& row) {
  const int stated = row.d_ffn.value_or(model.moe->ffn);
  const bool of_layers = stated == model.ffn;
  if (stated == model.moe->ffn || !(of_layers || stated == model.moe->top_k * model.moe->ffn)) {
    return;
  }
  row.d_ffn = model.moe->ffn;
  if (of_layers) {
    fill(row.d_ffn_dense, stated);
  }
  row.abouts.push_back(
      {"d_ffn", fmt::format("d_ffn of {} is the width of {}; experts have {}", stated,
                            of_layers ? "dense layers" : "all chosen experts", model.moe->ffn)});
}

/// The row with the experts of the mixture that its name means, where no column says that there are
/// any.
/// @throws core::Error if the name says a mixture and nothing says of how many experts
RunRow with_named_experts(RunRow row, const Entry* entry, Assumed& assumed) {
  const bool known =
      entry != nullptr && entry->second.moe && untold_architecture(entry->first).empty();
  if (known) {
    settle_expert_width(entry->second, row);
  }
  if (row.is_mixture() || !(known || names_mixture(row.model))) {
    return row;
  }
  if (contains(core::lower_case(row.arch), "dense")) {
    row.abouts.push_back(
        {"arch", fmt::format("model: '{}' names a mixture, arch says dense and is taken",
                             core::shortened(row.model))});
    return row;
  }
  if (!known) {
    throw core::Error(fmt::format(
        "'{}' names a mixture of experts; state n_experts, top_k and the expert's d_ffn",
        core::shortened(row.model)));
  }
  const auto& [name, model] = *entry;
  RunRow whole = row;
  whole.arch = "moe";
  fill(whole.n_experts, model.moe->experts);
  fill(whole.top_k, model.moe->top_k);
  fill(whole.d_ffn, model.moe->ffn);
  RunRow compared = whole;
  compared.n_layers.reset();  // published proxies cut layers
  if (const std::string other = disagreement(compared, model); !other.empty()) {
    throw core::Error(fmt::format(
        "'{}' names the catalogue's mixture {}, whose columns are not these ({}); state n_experts, "
        "top_k and the expert's d_ffn",
        core::shortened(row.model), name, other));
  }
  assume(assumed, "model");
  whole.abouts.push_back({"model", fmt::format("model: experts of '{}' are the catalogue's {}",
                                               core::shortened(row.model), name)});
  return whole;
}

}  // namespace

std::string nearest_model(const std::string& name, const Catalogue& catalogue) {
  std::vector<std::string> names;
  for (const auto& [entry, model] : catalogue.models) {
    names.push_back(entry);
  }
  const auto near = core::did_you_mean(core::lower_case(name), names);
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

RunRow with_named_software(RunRow row, const Catalogue& catalogue) {
  // Names of families too, whose profile other columns of the row choose.
  static constexpr std::array<std::string_view, 4> kFamilies = {"megatron-core", "mlperf",
                                                                "pytorch-fsdp", "torchtitan"};
  const std::string era = core::lower_case(row.era);
  for (const auto& [entry, software] : catalogue.frameworks) {
    const bool family = std::find(kFamilies.begin(), kFamilies.end(), entry) != kFamilies.end();
    if (!family && (era == entry || era == core::lower_case(software.name))) {
      row.profile = entry;
    }
  }
  return row;
}

RunRow with_named_model(RunRow row, const Catalogue& catalogue, Assumed& assumed) {
  const Entry* entry = entry_named(row.model, catalogue);
  if (row.n_layers && row.d_model) {
    return with_named_experts(std::move(row), entry, assumed);
  }
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
  if (!model.layer_pattern.empty()) {
    row.model = name;  // no column says its layers
  }
  return row;
}

}  // namespace headway::validation
