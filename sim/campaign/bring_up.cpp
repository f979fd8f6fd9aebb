#include "sim/campaign/bring_up.h"

#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "sim/core/random.h"

namespace headway::campaign {

using core::Seconds;

double passed_within(int tests, double fail_share, std::int64_t nodes, std::int64_t spares) {
  const double passed = 1 - std::pow(fail_share, tests);
  const boost::math::binomial_distribution<double> of_all(static_cast<double>(nodes + spares),
                                                          passed);
  return cdf(complement(of_all, static_cast<double>(nodes - 1)));
}

int tests_until(double level, double fail_share, std::int64_t nodes, std::int64_t spares) {
  int tests = 1;
  while (passed_within(tests, fail_share, nodes, spares) < level) {
    ++tests;
  }
  return tests;
}

Seconds wait_of(const price::BringUpSpec& spec, int tests) {
  return spec.delivery + spec.burn_in + (tests - 1.0) * (spec.replacement + spec.burn_in);
}

Seconds ramped(const price::BringUpSpec& spec, Seconds work) {
  const double from = spec.ramp_from;
  if (spec.ramp.si() <= 0 || from >= 1) {
    return work;
  }
  if (work >= spec.ramp * ((1 + from) / 2)) {
    return work + spec.ramp * ((1 - from) / 2);
  }
  return spec.ramp / (1 - from) *
         (std::sqrt(from * from + 2 * (1 - from) * (work / spec.ramp)) - from);
}

BroughtUp bring_up(const price::BringUpSpec& spec,
                   std::int64_t nodes,
                   std::int64_t spares,
                   Seconds wall,
                   std::uint64_t seed,
                   std::uint32_t trial) {
  const double level = core::RandomStream(seed, "bring-up", trial).uniform(0);
  BroughtUp out;
  out.tests = tests_until(level, spec.fail_share, nodes, spares);
  out.wait = wait_of(spec, out.tests);
  out.paid = spec.billed * (out.wait - spec.delivery);
  out.slower = ramped(spec, wall) - wall;
  return out;
}

}  // namespace headway::campaign
