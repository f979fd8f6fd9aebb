// The fitted constants of this room as a table, for `headway catalog constants`.
#pragma once

#include <vector>

#include "sim/core/model_constant.h"

namespace headway::network {

using core::ModelConstant;

/// Constants fitted to microbenchmarks, then the published ones that decide bandwidths.
std::vector<ModelConstant> model_constants();

}  // namespace headway::network
