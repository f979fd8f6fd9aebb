// What broken rules say, without their places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/workload/violation.h"

namespace headway::workload {

inline std::vector<std::string> texts(const Violations& violations) {
  std::vector<std::string> out;
  for (const Violation& one : violations) {
    out.push_back(one.text);
  }
  return out;
}

inline std::vector<std::string> paths(const Violations& violations) {
  std::vector<std::string> out;
  for (const Violation& one : violations) {
    out.push_back(one.path);
  }
  return out;
}

/// Empty where no rule is broken.
inline std::string text(const std::optional<Violation>& violation) {
  return violation ? violation->text : "";
}

}  // namespace headway::workload
