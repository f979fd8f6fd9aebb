// The constants of this room as a table, for `headway catalog constants`.
#pragma once

#include <vector>

#include "sim/core/model_constant.h"

namespace headway::gpu {

/// All of the below.
std::vector<core::ModelConstant> model_constants();

/// Each list stands in the file that uses its constants.
std::vector<core::ModelConstant> kernel_constants();       // kernel_time.cpp
std::vector<core::ModelConstant> closed_form_constants();  // closed_form.cpp
std::vector<core::ModelConstant> memory_constants();       // memory.cpp

}  // namespace headway::gpu
