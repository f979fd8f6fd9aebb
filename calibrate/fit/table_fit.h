// Tables of kernel rates by shape, from samples on a grid.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/gpu/spec.h"

#include "calibrate/fit/samples.h"

namespace headway::fit {

/// Tables made, and what was left out of them.
struct FittedTables {
  gpu::KernelTables tables;
  std::vector<std::string> remarks;
};

/// One table an operand format: rate / median rate of the large products (m, n, k >= 4,096) on the
/// largest full grid of shapes that the forward products of the samples hold, thinned so that
/// interpolation gives every share of the full grid within `tolerance`.
/// @param name  of the tables, printed in reports
/// A format with fewer than two values on an axis, or without large products, is left out with a
/// remark. Flagged samples and those taken beside other work do not count.
FittedTables fit_gemm_tables(std::span<const Sample> samples,
                             const std::string& name,
                             double tolerance);

}  // namespace headway::fit
