// The matrices of a first stage.
#pragma once

#include <vector>

#include "sim/workload/memory/owned_matrices.h"

namespace headway::workload {

inline std::vector<OwnedMatrices> all_matrices(const ModelSpec& model, const ParallelismSpec& p) {
  return stage_matrices(model, p, StageLayout(model, p), 0);
}

}  // namespace headway::workload
