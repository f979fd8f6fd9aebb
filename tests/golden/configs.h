// Where the tests of what is shipped find it.
#pragma once

#include <filesystem>

namespace headway {

inline const std::filesystem::path kConfigs = std::filesystem::path(HEADWAY_SOURCE_DIR) / "configs";

}  // namespace headway
