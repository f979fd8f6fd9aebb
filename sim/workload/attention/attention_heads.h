// Heads of attention in layers of one kind.
#pragma once

#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Heads of grouped-query attention, whole.
struct AttentionHeads {
  int query = 0, key_value = 0, dim = 0, value_dim = 0;
  int projections = 2;  ///< products that make keys and values; 1: one makes both
  /// Columns of the products that make a key and its value.
  [[nodiscard]] double pair_width() const { return dim + (projections - 1.0) * value_dim; }
};

/// Width of values beside keys of `dim`, where 0 stands for that of keys.
constexpr int value_width(int stated, int dim) { return stated > 0 ? stated : dim; }

/// Those of layers of a kind: the model's, or where they attend to all tokens what `full_attention`
/// gives them.
inline AttentionHeads attention_heads(const ModelSpec& model, const LayerKind& kind) {
  if (!model.full_attention || kind.windowed) {
    return {model.heads, model.key_value_heads, model.head_dim,
            value_width(model.value_dim, model.head_dim)};
  }
  const FullAttentionSpec& full = *model.full_attention;
  return {model.heads, full.key_value_heads, full.head_dim,
          value_width(full.value_dim, full.head_dim), full.shared_values ? 1 : 2};
}

/// Source: Dao-AILab/flash-attention, README ("all head dimensions up to 256"), versions 2 and 3.
inline constexpr int kWidestFlashHead = 256;

/// Whether layers have heads that no flash kernel takes.
inline bool outgrows_flash(const ModelSpec& model) {
  return !model.latent && attention_heads(model, {}).dim > kWidestFlashHead;
}

}  // namespace headway::workload
