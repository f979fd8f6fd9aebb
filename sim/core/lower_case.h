// Text in small letters.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

namespace headway::core {

inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace headway::core
