// What training in four bits does to operands beside rounding them.
#pragma once

#include "sim/core/fields.h"

namespace headway::workload {

/// NVIDIA's recipe (arXiv 2509.25149; Transformer Engine's NVFP4BlockScaling): a scale of the whole
/// array above those of blocks, which reads it once more; weights with one scale a 16 x 16 block,
/// so that both directions have the same copy; operands of the weight gradient turned by a random
/// Hadamard transform. Gradients are rounded at random, which moves nothing.
struct Nvfp4Spec {
  bool hadamard = true;
  template <class V>
  void fields(V& v) {
    v.optional("hadamard", hadamard,
               "Operands of weight gradients pass a random Hadamard transform of 16 tokens before "
               "they are rounded, in a pass of its own.");
  }
  bool operator==(const Nvfp4Spec&) const = default;
};

}  // namespace headway::workload
