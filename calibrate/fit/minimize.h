// The one door to Ceres, which is opened when somebody fits: what it brings (BLAS, CHOLMOD, glog)
// takes longer to load than a small run to simulate.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace headway::fit {

/// A sum of soft-L1 losses of residuals over bounded unknowns.
struct Minimization {
  /// What observation `i` lacks with these unknowns, in units of what counts as unusual.
  std::function<double(const double* unknowns, std::size_t observation)> residual;
  std::size_t observations = 0;
  std::vector<double> low, high;  ///< bounds of the unknowns
};

/// Minimizes from `unknowns`, in place; one thread, the same bits every time.
/// @return whether what was found can be used
/// @throws core::Error if Headway was installed without its solver
bool minimize(const Minimization& problem, std::vector<double>& unknowns);

}  // namespace headway::fit
