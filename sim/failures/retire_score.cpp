#include "sim/failures/retire_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/error.h"
#include "sim/core/math.h"

namespace headway::failures {

using core::Seconds;
using core::Tick;

namespace {

constexpr double kLn2 = 0.693147180559945309417;  // Source: mathematics
/// Half-lives after which a failure is less than a rounding of 1. Source: doubles have 53 bits.
constexpr Tick kForgotten = 60;

}  // namespace

RetireScore::RetireScore(const RetireScoreSpec& spec, core::Clock clock)
    : limit_(spec.limit), halves_(spec.half_life.has_value()) {
  HEADWAY_CHECK(spec.window.has_value() != spec.half_life.has_value(),
                "a score forgets by a window or by a half-life");
  memory_ = std::max<Tick>(1, clock.to_ticks(halves_ ? *spec.half_life : *spec.window));
}

void RetireScore::note(std::vector<Tick>& failures, Tick now) const {
  std::erase_if(failures, [&](Tick at) {
    return halves_ ? (now - at) / kForgotten >= memory_ : now - at > memory_;
  });
  failures.push_back(now);
}

double RetireScore::of(const std::vector<Tick>& failures, Tick now) const {
  double sum = 0;
  for (const Tick at : failures) {
    const double age = static_cast<double>(now - at) / static_cast<double>(memory_);
    sum += halves_ ? core::portable_exp(-kLn2 * age) : (now - at <= memory_ ? 1.0 : 0.0);
  }
  return sum;
}

Seconds mean_time_to_second_in_window(core::PerSecond rate, Seconds window, Seconds repair) {
  const double lambda = rate.si();
  const double open = std::max(window.si() - repair.si(), 0.0);
  const double p = -std::expm1(-lambda * open);
  return Seconds(p > 0 ? (1 + 1 / p) / lambda : std::numeric_limits<double>::infinity());
}

double mean_score(core::PerSecond rate, const RetireScoreSpec& spec) {
  const Seconds memory = spec.half_life ? *spec.half_life / kLn2 : spec.window.value_or(Seconds(0));
  return 1 + rate * memory;
}

}  // namespace headway::failures
