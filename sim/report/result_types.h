// All results that the program prints as JSON, each as a specimen of its tree of figures: schemas
// and definitions are written from this list.
#pragma once

#include <string_view>
#include <vector>

#include "sim/core/figures.h"

namespace headway::report {

/// The type of one verb's result.
struct ResultType {
  std::string_view schema;   ///< "headway.run/1"
  std::string_view command;  ///< "headway run"
  std::string_view preface;  ///< of its definitions
  core::Figure specimen;
};

/// `headway run` first.
const std::vector<ResultType>& result_types();

/// "headway.run/1" -> "headway.run-1.json"
std::string schema_file(std::string_view schema);

}  // namespace headway::report
