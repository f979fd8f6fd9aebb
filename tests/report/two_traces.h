// A step and what stands beside it, as traces.
#pragma once

#include <vector>

#include "sim/report/trace/trace.h"

namespace headway::report {

inline  /// Two passes of micro-batch 0 with an arrow, a moment, and a counter.
    std::vector<Trace>
    one_step() {
  TraceSlice first{"forward", 0, 40, false, {{"micro_batch", 0}}, {1}};
  TraceSlice second{"backward", 50, 30, false, {}, {2}};
  TraceSlice moment{"alarm", 60, 0, true, {}, {}};
  return {{"step", {{"stage 0", {first, second}, {{"memory", {{0, 5}, {50, 7}}}}}}, {}},
          {"other", {{"moments", {moment}, {}}}, {"something is left out"}}};
}

}  // namespace headway::report
