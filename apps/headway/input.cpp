#include "apps/headway/input.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/core/error.h"

namespace headway::apps {

std::string read_input(const std::string& path) {
  std::error_code ignored;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path, ignored)) {
    throw core::Error(path + ": the file cannot be read");
  }
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace headway::apps
