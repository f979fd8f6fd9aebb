#include "calibrate/measure/host/nvml.h"

#include <gtest/gtest.h>

#include "calibrate/measure/host/summary.h"

namespace headway::measure {
namespace {

TEST(ReadingMean, TakesPowerFromTheEnergyCounterWhereItMoves) {
  ReadingMean mean;
  mean.add({1.0e9, 0, 100, 50, 1000, 0x4}, 10.0);
  mean.add({2.0e9, 0, 300, 70, 2400, 0x1}, 12.0);
  EXPECT_DOUBLE_EQ(mean.mean().clock_hz, 1.5e9);
  EXPECT_DOUBLE_EQ(mean.mean().power_w, 1400.0 / 2);  // not the mean of the driver's averages, 200
  EXPECT_EQ(mean.mean().reasons, 0x5U);
  ReadingMean brief;  // the counter may have moved once or not at all
  brief.add({1.0e9, 0, 650, 50, 1000, 0}, 10.0);
  brief.add({1.0e9, 0, 750, 50, 1100, 0}, 10.05);
  EXPECT_DOUBLE_EQ(brief.mean().power_w, 700);
  ReadingMean without;
  without.add({1.0e9, 0, 100, 50, 0, 0}, 10.0);
  without.add({1.0e9, 0, 300, 50, 0, 0}, 12.0);
  EXPECT_DOUBLE_EQ(without.mean().power_w, 200);
}

TEST(OpenNvml, SaysWhyItCannot) {
  // Without NVML there is no library; with it there is no such bus.
  try {
    open_nvml("no bus");
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()), "");
  }
}

TEST(RecordTiming, FlagsWhatIsThrottledOrUnstable) {
  Timing timing = summarize({1.0, 1.1, 1.2, 1.3, 1.4});
  EXPECT_DOUBLE_EQ(timing.median_s, 1.2);
  EXPECT_NEAR(timing.spread_s, 0.2, 1e-12);  // quartiles 1.1 and 1.3
  fit::Sample sample;
  record_timing(timing, sample);
  EXPECT_TRUE(sample.has(fit::SampleFlag::unstable));  // 17 % of the median
  EXPECT_FALSE(sample.has(fit::SampleFlag::throttled));
  timing.spread_s = 0.01;
  timing.reading.reasons = 0x40;
  fit::Sample other;
  record_timing(timing, other);
  EXPECT_FALSE(other.has(fit::SampleFlag::unstable));
  EXPECT_TRUE(other.has(fit::SampleFlag::throttled));
}

}  // namespace
}  // namespace headway::measure
