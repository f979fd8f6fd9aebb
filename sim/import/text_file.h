// Files of the user that are no configuration: logs, tables, topology files.
#pragma once

#include <string>

namespace headway::import {

/// The text of a file; one packed by gzip is unpacked.
/// @throws core::Error if it cannot be read, is larger than core::kLargestMeasurement, as it is or
/// unpacked, or is no UTF-8
std::string read_input(const std::string& path);

/// The same of a log, which broken bytes (cut progress bars) do not make unreadable: each is shown
/// as the sign for what is no character.
std::string read_log(const std::string& path);

}  // namespace headway::import
