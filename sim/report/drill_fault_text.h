// The fault of `headway drill --fault` as text.
#pragma once

#include <string>
#include <utility>

#include "sim/campaign/drill.h"

namespace headway::report {

/// Reads KIND[@PLACE][,key=value]...; PLACE is node12, gpu99 (counted over the machine) or
/// node12/gpu3. A leaf or a rack is named by one of its nodes.
/// @param gpus_per_node  to find the node of a GPU
/// @throws core::Error for unknown kinds, places, keys and values, with what was meant
campaign::Fault parse_fault(const std::string& text, int gpus_per_node);

/// Reads NAME=TIME, NAME=on or NAME=off of `--monitor`; a time of 0 keeps the default.
std::pair<campaign::Monitor, std::optional<core::Seconds>> parse_monitor(const std::string& text);

}  // namespace headway::report
