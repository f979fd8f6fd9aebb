// The step of a job in which one part is slow, simulated event by event.
#pragma once

#include <cstdint>

#include "sim/training/check.h"

namespace headway::campaign {

/// One slow part of the machine.
struct SlowPart {
  std::int64_t node = 0;
  int gpu = 0;               ///< of the node
  double compute_share = 1;  ///< of its speed that the GPU keeps
  double link_share = 1;     ///< of its rate that the NIC port of this GPU keeps, both directions
};

/// Wall time of a step with this part / the same without.
/// All ranks wait for the slow one at their next meeting; what overlaps hides part of it.
double slowdown_of(const training::CheckedScenario& checked, const SlowPart& part);

}  // namespace headway::campaign
