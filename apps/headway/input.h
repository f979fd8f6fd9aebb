// Files that verbs read which are no configuration: logs, tables, topology files.
#pragma once

#include <string>

namespace headway::apps {

/// The text of a file; one packed by gzip is unpacked.
/// @throws core::Error if it cannot be read, is larger than core::kLargestMeasurement, as it is or
/// unpacked, or is no UTF-8
std::string read_input(const std::string& path);

}  // namespace headway::apps
