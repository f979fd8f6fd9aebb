// The fault of `headway drill --fault` as text; its keys and their ranges are in the field list of
// `drill::Fault`.
#pragma once

#include <string>
#include <utility>

#include "sim/drill/drill.h"
#include "sim/report/table.h"

namespace headway::report {

/// Reads KIND[@PLACE][,key=value]...; PLACE is node12, gpu99 (counted over the machine) or
/// node12/gpu3; for leaf-down also leaf3, for rack-power-loss rack2.
/// @param gpus_per_node  to find the node of a GPU
/// @throws core::Error for unknown kinds, places, keys and values, with what was meant
drill::Fault parse_fault(const std::string& text, int gpus_per_node);

/// What each kind of fault takes, with units and defaults, and the monitors.
std::string drill_list(const Page& page);

/// Reads NAME=TIME, NAME=on or NAME=off of `--monitor`; `on` is a time of 0: the monitor's own.
/// @throws core::Error
std::pair<drill::Monitor, std::optional<core::Seconds>> parse_monitor(const std::string& text);

}  // namespace headway::report
