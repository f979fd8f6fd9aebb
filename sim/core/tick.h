// Integer time of the engine, and the one place where seconds become ticks.
#pragma once

#include <cstdint>

#include "sim/core/units.h"

namespace headway::core {

/// Integer simulated time; its length in seconds is fixed by the run's `Clock`.
using Tick = std::int64_t;

/// Converts between seconds and ticks, rounding to the nearest tick.
class Clock {
 public:
  /// Ticks of 1 ps, for one training step (2^63 ps are 106 days).
  static constexpr Clock step() { return Clock(1e12); }
  /// Ticks of 1 us, for a campaign of weeks.
  static constexpr Clock campaign() { return Clock(1e6); }

  /// Whether this clock counts so far: `t` is finite and within 2^63 ticks of zero.
  [[nodiscard]] bool counts(Seconds t) const;
  /// @throws InternalError if the clock does not count to `t` (the message says so)
  [[nodiscard]] Tick to_ticks(Seconds t) const;
  [[nodiscard]] constexpr Seconds to_seconds(Tick t) const {
    return Seconds(static_cast<double>(t) / ticks_per_second_);
  }
  /// Not rounded: for bounds and rates.
  [[nodiscard]] constexpr double in_ticks(Seconds t) const { return t.si() * ticks_per_second_; }
  [[nodiscard]] constexpr double ticks_per_second() const { return ticks_per_second_; }

 private:
  constexpr explicit Clock(double ticks_per_second) : ticks_per_second_(ticks_per_second) {}
  double ticks_per_second_;
};

}  // namespace headway::core
