// Reads a whole file of tests/data for a test.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace headway::import {

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const std::string kData = HEADWAY_SOURCE_DIR "/tests/data/";

}  // namespace headway::import
