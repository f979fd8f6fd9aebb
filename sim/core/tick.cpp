#include "sim/core/tick.h"

#include <cmath>

#include "sim/core/error.h"

namespace headway::core {

bool Clock::counts(Seconds t) const {
  return std::abs(in_ticks(t)) < 0x1p63;  // NaN is below nothing
}

Tick Clock::to_ticks(Seconds t) const {
  HEADWAY_CHECK(counts(t), "{} s do not fit into 2^63 ticks of {} s; use a coarser clock", t.si(),
                1 / ticks_per_second_);
  return std::llround(in_ticks(t));
}

}  // namespace headway::core
