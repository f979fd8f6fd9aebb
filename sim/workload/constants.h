// The constants of this room as a table, for `headway catalog constants`.
#pragma once

#include <vector>

#include "sim/core/model_constant.h"

namespace headway::workload {

/// All of the below.
std::vector<core::ModelConstant> model_constants();

/// Each list stands in the file that uses its constants.
std::vector<core::ModelConstant> expert_constants();       // elementwise/expert_bytes.cpp
std::vector<core::ModelConstant> elementwise_constants();  // elementwise/elementwise.cpp
std::vector<core::ModelConstant> gradient_constants();     // blocks/data_parallel_blocks.cpp
std::vector<core::ModelConstant> bucket_constants();       // memory/rank_parameters.cpp
std::vector<core::ModelConstant> activation_constants();   // memory/activation_memory.cpp
std::vector<core::ModelConstant> optimizer_constants();    // memory/optimizer_state.cpp
std::vector<core::ModelConstant> trained_constants();      // trained/trained_parameters.cpp

}  // namespace headway::workload
