// Native sparse attention as the user writes it.
#pragma once

#include "sim/core/fields.h"
#include "sim/core/ranges.h"

namespace headway::workload {

/// Attention of every query to three choices of keys (NSA; Yuan et al. 2025, arXiv 2502.11089):
/// blocks of tokens compressed to one key each, the blocks that score best among them, and a
/// window. Each of the three has keys and values of its own; gates add their outputs up. The
/// defaults are the paper's.
struct NativeSparseSpec {
  int compressed_block = 32;
  int stride = 16;
  int selected_block = 64;
  int selected_blocks = 16;
  int window = 512;
  int value_dim = 0;
  template <class V>
  void fields(V& v) {
    v.optional("compressed_block", compressed_block,
               "Tokens of a block that is compressed to one key and one value.",
               core::from_one_to_64k);
    v.optional("stride", stride,
               "Tokens from one compressed block to the next; divides both sizes of blocks.",
               core::from_one_to_64k);
    v.optional("selected_block", selected_block,
               "Tokens of a block that is chosen by the scores of the compressed ones in it.",
               core::from_one_to_64k);
    v.optional("selected_blocks", selected_blocks,
               "Blocks that a query attends to token by token, one choice for all heads that share "
               "a key; the first and the last ones that are always chosen are among them.",
               core::from_one_to_64k);
    v.optional("window", window, "Last tokens that a query attends to.", core::from_one_to_16m);
    v.optional("value_dim", value_dim, "Width of values of a head; 0: that of keys.",
               core::up_to_64k);
  }
  bool operator==(const NativeSparseSpec&) const = default;
};

}  // namespace headway::workload
