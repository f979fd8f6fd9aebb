#include "sim/workload/attention/attention_problems.h"

#include <fmt/format.h>
#include <utility>

#include "sim/workload/attention/attention_heads.h"

namespace headway::workload {

namespace {

/// Gathers complaints of one model.
class HeadRules {
 public:
  explicit HeadRules(const ModelSpec& model) : model_(model) {}

  Violations check() {
    check_window();
    if (model_.full_attention) {
      check_full(*model_.full_attention);
    }
    check_values();
    return std::move(out_);
  }

 private:
  void add(const char* path, std::string text) { out_.push_back({path, std::move(text)}); }

  void check_window() {
    if (model_.chunked_window && model_.window == 0) {
      add("model.chunked_window",
          fmt::format("chunked_window of model '{}' needs 'window'", model_.name));
    }
    const int leading = model_.leading_full_layers;
    if (leading > 0 && model_.window == 0) {
      add("model.leading_full_layers",
          fmt::format("leading_full_layers of model '{}' stand before layers with a window: set "
                      "'window', or leave it out",
                      model_.name));
    } else if (leading > 0 && leading >= model_.layers) {
      add("model.leading_full_layers",
          fmt::format("leading_full_layers {} leave none of the {} layers of model '{}' with the "
                      "window; write fewer, or 'window: 0'",
                      leading, model_.layers, model_.name));
    }
  }

  void check_full(const FullAttentionSpec& full) {
    const bool some = model_.window_period > 1 || model_.leading_full_layers > 0;
    if (model_.window == 0 || !some) {
      add("model.full_attention",
          fmt::format("full_attention of model '{}' is what layers without the window have beside "
                      "others with it: set 'window', and 'window_period' or "
                      "'leading_full_layers', or leave it out",
                      model_.name));
    }
    if (model_.latent || model_.native_sparse) {
      add("model.full_attention",
          fmt::format("full_attention of model '{}' beside latent or native sparse attention is "
                      "not simulated",
                      model_.name));
    }
    if (full.shared_values && full.value_dim > 0 && full.value_dim != full.head_dim) {
      add("model.full_attention.value_dim",
          fmt::format("values {} wide cannot be the keys, which are {} wide: leave 'value_dim' or "
                      "'shared_values' out",
                      full.value_dim, full.head_dim));
    }
  }

  void check_values() {
    const bool full = model_.full_attention && model_.full_attention->value_dim > 0;
    const char* path = model_.value_dim > 0 ? "model.value_dim"
                       : full               ? "model.full_attention.value_dim"
                                            : nullptr;
    if (path == nullptr) {
      return;
    }
    if (model_.latent || model_.native_sparse) {
      add(path,
          fmt::format("values of model '{0}' have their width in '{1}': write '{1}.value_dim' "
                      "and leave this one out",
                      model_.name, model_.latent ? "latent" : "native_sparse"));
    }
    LayerKind windowed;
    windowed.windowed = true;
    const auto narrow = [this](const LayerKind& kind) {
      const AttentionHeads heads = attention_heads(model_, kind);
      return heads.value_dim != heads.dim;
    };
    if (model_.attention_gate && (narrow(windowed) || narrow({}))) {
      add(path, fmt::format("value_dim of model '{}' beside 'attention_gate', a gate as wide as "
                            "queries, is not simulated; leave one of the two out",
                            model_.name));
    }
  }

  const ModelSpec& model_;
  Violations out_;
};

}  // namespace

Violations attention_problems(const ModelSpec& model) { return HeadRules(model).check(); }

}  // namespace headway::workload
