// Layers at the ends of a model that stay in 16 bits where the others have narrow operands.
#pragma once

#include "sim/core/fields.h"
#include "sim/core/ranges.h"

namespace headway::workload {

/// The layers next to the embedding and to the head, where rounding costs most quality. Sources:
/// Megatron-LM, megatron/core/fp8_utils.py, is_first_last_bf16_layer, 2026; NVIDIA's recipe for
/// four bits (arXiv 2509.25149) keeps 16 % of the layers of a model of 12 billion so.
struct SixteenBitLayersSpec {
  int first = 1;
  int last = 1;
  template <class V>
  void fields(V& v) {
    v.optional("first", first, "Layers from the first on.", core::up_to_10k);
    v.optional("last", last, "Layers up to the last.", core::up_to_10k);
  }
  bool operator==(const SixteenBitLayersSpec&) const = default;
};

}  // namespace headway::workload
