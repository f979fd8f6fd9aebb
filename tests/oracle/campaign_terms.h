// What the campaign's oracles share: the failures of 54 days of Llama 3, and when a simulated mean
// agrees with an exact one.
#pragma once

#include <cmath>
#include <gtest/gtest.h>

#include "sim/core/statistics.h"
#include "sim/failures/model.h"

namespace headway::campaign {

inline constexpr double kDay = 86400;
inline constexpr double kMu = 54 * kDay / 419;

inline failures::Hazard hazard(const char* name, double mean, std::int64_t nodes_lost = 0) {
  failures::Hazard h;
  h.name = name;
  h.rate = core::PerSecond(1 / mean);
  h.nodes_lost = nodes_lost;
  return h;
}

inline void expect_agreement(core::MeanEstimate simulated, double exact) {
  const double bound = 4 * simulated.standard_error;
  EXPECT_NEAR(simulated.mean, exact, bound);
  EXPECT_LT(bound, 0.01 * std::abs(exact)) << "the bound would not catch a bias of 1 %";
}

}  // namespace headway::campaign
