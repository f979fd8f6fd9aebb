// Files that verbs read which are no configuration: logs, tables, topology files.
#pragma once

#include <string>

namespace headway::apps {

/// The whole content of a file.
/// @throws core::Error if it cannot be read
std::string read_input(const std::string& path);

}  // namespace headway::apps
