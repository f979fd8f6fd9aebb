// A range of numbers in a JSON Schema.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/core/fields.h"

namespace headway::config {

/// Its ends, as the keywords of a schema of a number.
inline void add_range(const core::Range& range, nlohmann::ordered_json& schema) {
  if (std::isfinite(range.low)) {
    schema[range.low_open ? "exclusiveMinimum" : "minimum"] = range.low;
  }
  if (std::isfinite(range.high)) {
    schema[range.high_open ? "exclusiveMaximum" : "maximum"] = range.high;
  }
}

}  // namespace headway::config
