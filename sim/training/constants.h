// The constants of this room as a table, for `headway catalog constants`.
#pragma once

#include <vector>

#include "sim/core/model_constant.h"

namespace headway::training {

/// All of the below.
std::vector<core::ModelConstant> model_constants();

/// Each list stands in the file that uses its constants.
std::vector<core::ModelConstant> interval_constants();       // step/step.cpp
std::vector<core::ModelConstant> decomposition_constants();  // decompositions.cpp
std::vector<core::ModelConstant> host_constants();           // step/lower.cpp
std::vector<core::ModelConstant> placement_constants();      // step/placement.cpp

}  // namespace headway::training
