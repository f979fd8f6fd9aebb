// The CPU's clock for durations.
#pragma once

#include <chrono>

namespace headway::measure {

/// Seconds on the CPU's steady clock.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace headway::measure
