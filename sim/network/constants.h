// The fitted constants of this room as a table, for `headway catalog constants`.
#pragma once

#include <string>
#include <vector>

namespace headway::network {

/// One constant of a model. A standard error of zero: published, not fitted.
struct ModelConstant {
  std::string name;
  double value = 0;
  std::string unit;
  double standard_error = 0;
  std::string source;
};

/// Constants fitted to microbenchmarks, then the published ones that decide bandwidths.
std::vector<ModelConstant> model_constants();

}  // namespace headway::network
