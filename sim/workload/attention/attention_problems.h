// What heads, windows and values of a model cannot be together.
#pragma once

#include "sim/workload/model_spec.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// Rules between the widths of heads, the window and the layers without it.
Violations attention_problems(const ModelSpec& model);

}  // namespace headway::workload
