// Reads what `ibnetdiscover` prints of an InfiniBand fabric.
#pragma once

#include <string>
#include <string_view>

#include "sim/import/network/imported_network.h"
#include "sim/import/network/switch_graph.h"

namespace headway::import {

/// Switches, servers and cables of an ibnetdiscover file. The aggregation nodes that switches hold
/// for in-network reduction are no servers and are left out.
/// @throws core::Error naming the line: text that is no such file, a cable whose far end is missing
/// or
///         says otherwise, a device or a port listed twice, an unknown link speed, no switch, no
///         server
SwitchGraph read_ibnetdiscover_graph(std::string_view text, const std::string& file_name);

/// The same as a fabric's spec.
ImportedFabric read_ibnetdiscover(std::string_view text, const std::string& file_name);

}  // namespace headway::import
