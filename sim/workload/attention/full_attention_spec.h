// Layers that attend to all tokens with heads of their own, beside others with a window.
#pragma once

#include "sim/core/ranges.h"

namespace headway::workload {

/// What attention without the window has of its own (Gemma 4, MiMo-V2-Flash). Query heads are as
/// many as in the others. Source: huggingface/transformers, models/gemma4/configuration_gemma4.py
/// and modeling_gemma4.py (Gemma4TextAttention), 2026.
struct FullAttentionSpec {
  int key_value_heads = 4;
  int head_dim = 512;
  bool shared_values = false;
  int value_dim = 0;
  template <class V>
  void fields(V& v) {
    v.required("key_value_heads", key_value_heads, "Their key and value heads.",
               core::from_one_to_64k);
    v.required("head_dim", head_dim, "Width of one of their heads.", core::from_one_to_64k);
    v.optional("shared_values", shared_values,
               "One product makes keys and values, which differ by norm and rotation alone "
               "('attention_k_eq_v').");
    v.optional("value_dim", value_dim, "Width of values of one of their heads; 0: that of keys.",
               core::up_to_64k);
  }
  bool operator==(const FullAttentionSpec&) const = default;
};

}  // namespace headway::workload
