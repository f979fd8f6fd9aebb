#include "calibrate/measure/host/summary.h"

#include <array>
#include <utility>

#include "sim/core/statistics.h"

namespace headway::measure {

Timing summarize(std::vector<double> seconds) {
  Timing timing;
  timing.repeats = static_cast<int>(seconds.size());
  const std::array<double, 3> quartiles{0.25, 0.5, 0.75};
  const std::vector<double> q = core::quantiles(std::move(seconds), quartiles);
  timing.median_s = q[1];
  timing.spread_s = q[2] - q[0];
  return timing;
}

void record_timing(const Timing& timing, fit::Sample& sample) {
  sample.repeats = timing.repeats;
  sample.seconds = timing.median_s;
  sample.spread_s = timing.spread_s;
  sample.clock_hz = timing.reading.clock_hz;
  sample.power_w = timing.reading.power_w;
  sample.temperature_c = timing.reading.temperature_c;
  if ((timing.reading.reasons & kThrottleReasons) != 0) {
    sample.add(fit::SampleFlag::throttled);
  }
  if (timing.spread_s > 0.1 * timing.median_s) {
    sample.add(fit::SampleFlag::unstable);
  }
}

}  // namespace headway::measure
