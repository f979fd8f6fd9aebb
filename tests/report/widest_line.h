// How wide a text is on a terminal.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include "sim/report/wrap.h"

namespace headway::report {

inline std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, shown_width(line));
  }
  return widest;
}

}  // namespace headway::report
