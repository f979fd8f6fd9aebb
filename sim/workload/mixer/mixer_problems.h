// What pattern, mixer and layout do not agree on.
#pragma once

#include "sim/workload/spec.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// Whether any layer has attention, whose heads divide over tensor ranks then.
bool has_attention(const ModelSpec& model);

/// One sentence each.
Violations mixer_problems(const ModelSpec& model, const ParallelismSpec& parallelism);

}  // namespace headway::workload
