// The constants of this room as a table, for `headway catalog constants`.
#pragma once

#include <vector>

#include "sim/core/model_constant.h"

namespace headway::campaign {

std::vector<core::ModelConstant> model_constants();

}  // namespace headway::campaign
