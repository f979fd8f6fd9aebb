// What preconditions the gradients of matrices: the blocks, and how often their factors are
// decomposed.
#pragma once

#include "sim/core/fields.h"
#include "sim/core/ranges.h"

namespace headway::workload {

/// Factors of a Shampoo-like optimizer. Sources: Shi et al., "A Distributed Data-Parallel PyTorch
/// Implementation of the Distributed Shampoo Optimizer" (arXiv 2309.06497), 2023, and its code
/// (facebookresearch/optimizers): max_preconditioner_dim 1,024, precondition_frequency 100 in its
/// examples; Vyas et al., "SOAP" (arXiv 2409.11321), 2024, and its code (nikhilvyas/SOAP):
/// precondition_frequency 10; Modoranu et al., "DASH" (arXiv 2602.02016), 2026: Distributed
/// Shampoo takes blocks one after another.
struct PreconditionerSpec {
  int block = 1024;
  core::OrAuto<int> every;
  bool batched = false;
  template <class V>
  void fields(V& v) {
    v.optional("block", block,
               "Longest side of a block; longer matrices are cut, and each block has factors of "
               "its own (max_preconditioner_dim).",
               core::from_one_to_64k);
    v.optional("every", every,
               "Steps from one decomposition of the factors to the next "
               "(precondition_frequency); auto: 100 with shampoo, 10 with soap.",
               core::Range{1, 1e6, false, false, "from 1 to 1,000,000"});
    v.optional("batched", batched,
               "Blocks of one shape are multiplied and decomposed together; false: one after "
               "another.");
  }
  bool operator==(const PreconditionerSpec&) const = default;
};

}  // namespace headway::workload
