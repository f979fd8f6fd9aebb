#include "sim/training/imbalance/largest_of.h"

#include <cmath>

#include "sim/core/error.h"

namespace headway::training {

LargestOf largest_of_normals(std::int64_t count) {
  HEADWAY_CHECK(count >= 1, "the largest of {} values", count);
  if (count == 1) {
    return {0, 1};
  }
  // Source: chosen; normal values beyond 9 do not occur, and finer steps change nothing in 1e-9.
  constexpr double kEnd = 9;
  constexpr int kSteps = 2 * 9 * 64;  // Source: chosen, see above
  constexpr double kStep = 1.0 / 64;  // Source: chosen, see above
  double mean = 0;
  double square = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = -kEnd + i * kStep;
    const double above = 0.5 * std::erfc(x / std::sqrt(2.0));  // 1 - F(x)
    const double all_below = std::exp(static_cast<double>(count) * std::log1p(-above));
    const double weight = (i == 0 || i == kSteps ? 0.5 : 1.0) * kStep * (1 - all_below);
    mean += weight;
    square += 2 * x * weight;
  }
  mean -= kEnd;
  square += kEnd * kEnd + kStep * kStep / 6;  // the integrand's slope is 2 at its lower end
  return {mean, std::sqrt(std::fmax(0, square - mean * mean))};
}

}  // namespace headway::training
