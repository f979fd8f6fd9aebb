// From repeated timings to the cells of a sample.
#pragma once

#include <vector>

#include "calibrate/fit/samples.h"
#include "calibrate/measure/host/nvml.h"

namespace headway::measure {

/// Times of one call, in seconds.
struct Timing {
  int repeats = 0;
  double median_s = 0;
  double spread_s = 0;  ///< interquartile range
  Reading reading;      ///< mean over the batches; zeros without telemetry
};

/// Median and interquartile range of `seconds` (at least one).
Timing summarize(std::vector<double> seconds);

/// Copies median, spread, repeats, clock, power, temperature and flags into `sample`.
void record_timing(const Timing& timing, fit::Sample& sample);

}  // namespace headway::measure
