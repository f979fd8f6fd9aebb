// A figure that a model rests on: measured, fitted or taken from a publication, as `headway catalog
// constants` lists it.
#pragma once

#include <string>

namespace headway::core {

/// One constant of a model. A standard error of zero: published or measured directly, not fitted.
struct ModelConstant {
  std::string name;  ///< "room.what"
  double value = 0;
  std::string unit;  ///< empty: a plain number
  double standard_error = 0;
  std::string source;
};

}  // namespace headway::core
