// A broken rule and the field of the scenario it is about.
#pragma once

#include <string>
#include <vector>

namespace headway::workload {

/// A rule that specs break together, or something they ask for that cannot be modelled.
struct Violation {
  /// The field to look at first, dotted as in a scenario: "parallelism.offload_layers".
  std::string path;
  std::string text;  ///< one sentence
  bool operator==(const Violation&) const = default;
};

using Violations = std::vector<Violation>;

}  // namespace headway::workload
