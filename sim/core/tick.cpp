#include "sim/core/tick.h"

#include <cmath>

#include "sim/core/error.h"

namespace headway::core {

Tick Clock::to_ticks(Seconds t) const {
  const double ticks = t.si() * ticks_per_second_;
  HEADWAY_CHECK(std::isfinite(ticks) && std::abs(ticks) < 9.2e18,
                "{} s do not fit into 2^63 ticks of {} s; use a coarser clock", t.si(),
                1 / ticks_per_second_);
  return std::llround(ticks);
}

}  // namespace headway::core
