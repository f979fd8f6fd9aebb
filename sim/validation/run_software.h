// What is known of a published run's software: the profile of its era and the flags its source
// states.
#pragma once

#include <string>

#include "sim/validation/run_parts.h"

namespace headway::validation {

/// Name of the framework profile that stands for a row's era; where the era is blank or not known,
/// that of the nearest family and year, and `era` is assumed.
/// @param rack  its GPUs share NVLink beyond a node
std::string framework_entry(const Row& row, bool rack, Assumed& assumed);

/// Flags that the row states in place of the profile's: overlaps, graphs, compilation, exchange of
/// experts.
void apply_flags(const Row& row, workload::FrameworkSpec& framework);

}  // namespace headway::validation
