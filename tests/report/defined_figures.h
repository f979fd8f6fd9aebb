// The figures that have a definition.
#pragma once

#include <set>
#include <string>

#include "sim/report/definitions.h"

namespace headway::report {

inline std::set<std::string> defined_figures() {
  std::set<std::string> defined;
  for (const auto& section : definitions()) {
    for (const auto& definition : section.definitions) {
      defined.insert(definition.figure);
    }
  }
  return defined;
}

}  // namespace headway::report
