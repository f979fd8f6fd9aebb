// Words of the column `attention`.
#pragma once

#include <optional>
#include <string>

#include "sim/validation/cells/cell_words.h"
#include "sim/workload/framework/framework_words.h"
#include "sim/workload/usual_run.h"

namespace headway::validation {

/// A cell of `attention`.
struct AttentionWords : ReadCell {
  bool latent = false, single = false;  ///< mla; mqa
  bool equal = false;                   ///< mha: keys for each query head
  int key_value_heads = 0;              ///< "8 groups"; 0: not said
  int window = 0;                       ///< tokens that layers with a window see; 0: no window
  int period = 1;                       ///< one layer of so many has full attention; 1: none has
  std::optional<bool> rotary;           ///< RoPE or ALiBi, where named
  std::optional<workload::ContextKind> context;       ///< how context ranks meet, where named
  std::optional<workload::AttentionKernels> kernels;  ///< that are not fused, where named
};

/// "gqa", "FlashAttention-2", "SWA 4096", "window 1024 on 5 of 6 layers", "local 1024 : global
/// 5:1", "ring attention", "alibi" ...
/// @throws core::Error if no word is known, or a window's tokens or layers are not stated
AttentionWords attention_words(const std::string& cell);

}  // namespace headway::validation
