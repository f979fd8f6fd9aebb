// How a GPU operation is timed: warm-up, batches between two events, median and interquartile
// range.
#pragma once

#include <functional>

#include "calibrate/fit/samples.h"
#include "calibrate/measure/device_memory.h"
#include "calibrate/measure/nvml.h"

namespace headway::measure {

/// How often and how long.
struct TimingPlan {
  int repeats = 15;             ///< batches whose median counts
  double batch_s = 1e-3;        ///< a batch holds so many calls that it lasts about this long
  int most_calls = 100;         ///< in a batch
  double graph_below_s = 2e-5;  ///< shorter calls are replayed from a CUDA graph, so that the CPU's
                                ///< launches do not limit them; 0: never
};

/// Times of one call, in seconds.
struct Timing {
  int repeats = 0;
  double median_s = 0;
  double spread_s = 0;  ///< interquartile range
  Reading reading;      ///< mean over the batches; zeros without telemetry
};

/// Median and interquartile range of `seconds` (at least one).
Timing summarize(std::vector<double> seconds);

/// Enqueues call number `call` (0, 1, 2 ...) on the timed stream; the number lets it rotate its
/// arrays, so that they are read from memory and not from the cache.
using Launch = std::function<void(int call)>;

/// Times `launch` on `stream`.
/// @param telemetry  read while the batches run; null: not
Timing time_calls(cudaStream_t stream,
                  const Launch& launch,
                  const TimingPlan& plan,
                  Telemetry* telemetry);

/// Copies median, spread, repeats, clock, power, temperature and flags into `sample`.
void record_timing(const Timing& timing, fit::Sample& sample);

/// Sets of arrays of `bytes` each needed so that consecutive calls do not find their arrays in a
/// cache of `cache_bytes`: their sum is at least three times the cache; between 1 and 16.
int rotation(double bytes, double cache_bytes);

/// Seconds on the CPU's steady clock.
double steady_seconds();

}  // namespace headway::measure
