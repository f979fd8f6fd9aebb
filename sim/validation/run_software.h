// What is known of a published run's software: the profile of its era and the flags its source
// states.
#pragma once

#include <string>

#include "sim/validation/run_row.h"
#include "sim/workload/spec.h"

namespace headway::validation {

/// Name of the framework profile that stands for a row's era.
std::string framework_entry(const Row& row);

/// Flags that the row states in place of the profile's: overlaps, graphs, compilation, exchange of
/// experts.
void apply_flags(const Row& row, workload::FrameworkSpec& framework);

}  // namespace headway::validation
