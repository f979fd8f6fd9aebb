// Parameters of one rank.
#pragma once

#include "sim/workload/memory/rank_parameters.h"

namespace headway::workload {

/// What one rank of `stage` holds [count]; sharding over data-parallel ranks not applied.
inline double parameters_per_rank(const ModelSpec& model, const ParallelismSpec& p, int stage) {
  return stage_parameters_per_rank(model, p, StageLayout(model, p), stage).total();
}

}  // namespace headway::workload
