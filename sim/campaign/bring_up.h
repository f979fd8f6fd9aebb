// Time to market: what lies before the first step, and what is lost until full speed is reached.
#pragma once

#include <cstdint>

#include "sim/campaign/result.h"
#include "sim/core/units.h"
#include "sim/price/bring_up_spec.h"

namespace headway::campaign {

/// Probability that `nodes` of `nodes + spares` have passed within so many tests, where each of the
/// nodes that failed is tested again:
///     P(K <= k) = P(Binomial(nodes + spares, 1 - fail_share^k) >= nodes)
double passed_within(int tests, double fail_share, std::int64_t nodes, std::int64_t spares);

/// The fewest tests within which the job's nodes have passed with probability `level`, below 1: the
/// inverse of the above.
int tests_until(double level, double fail_share, std::int64_t nodes, std::int64_t spares);

/// From the order to the first step, with so many tests:
///     delivery + burn-in + (tests - 1) (replacement + burn-in)
core::Seconds wait_of(const price::BringUpSpec& spec, int tests);

/// How long work takes that takes `work` at full speed. The speed at age t is
/// f + (1 - f) t / ramp, then 1, so
///     work + ramp (1 - f) / 2                                  where the ramp ends before
///     ramp / (1 - f) (sqrt(f^2 + 2 (1 - f) work / ramp) - f)   where it does not
core::Seconds ramped(const price::BringUpSpec& spec, core::Seconds work);

/// Of one trial.
struct BroughtUp {
  core::Seconds wait;    ///< from the order to the first step
  core::Seconds paid;    ///< of that, at the price of a GPU-hour
  core::Seconds slower;  ///< what the run takes longer, the speed rising
  int tests = 1;
};

/// Draws the tests of a trial by a stream of its own.
/// @param wall  of the run at full speed from the first step on
BroughtUp bring_up(const price::BringUpSpec& spec,
                   std::int64_t nodes,
                   std::int64_t spares,
                   core::Seconds wall,
                   std::uint64_t seed,
                   std::uint32_t trial);

}  // namespace headway::campaign
