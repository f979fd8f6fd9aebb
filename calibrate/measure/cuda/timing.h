// How a GPU operation is timed: warm-up, batches between two events, median and interquartile
// range.
#pragma once

#include <functional>

#include "calibrate/measure/cuda/device_memory.h"
#include "calibrate/measure/host/nvml.h"
#include "calibrate/measure/host/steady.h"
#include "calibrate/measure/host/summary.h"

namespace headway::measure {

/// How often and how long.
struct TimingPlan {
  int repeats = 15;             ///< batches whose median counts
  double batch_s = 1e-3;        ///< a batch holds so many calls that it lasts about this long
  int most_calls = 100;         ///< in a batch
  double graph_below_s = 2e-5;  ///< shorter calls are replayed from a CUDA graph, so that the CPU's
                                ///< launches do not limit them; 0: never
};

/// Enqueues call number `call` (0, 1, 2 ...) on the timed stream; the number lets it rotate its
/// arrays, so that they are read from memory and not from the cache.
using Launch = std::function<void(int call)>;

/// Times `launch` on `stream`.
/// @param telemetry  read while the batches run; null: not
Timing time_calls(cudaStream_t stream,
                  const Launch& launch,
                  const TimingPlan& plan,
                  Telemetry* telemetry);

/// Sets of arrays of `bytes` each needed so that consecutive calls do not find their arrays in a
/// cache of `cache_bytes`: their sum is at least three times the cache; between 1 and 64.
int rotation(double bytes, double cache_bytes);

}  // namespace headway::measure
