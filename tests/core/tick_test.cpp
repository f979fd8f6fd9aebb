#include "sim/core/tick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "sim/core/error.h"

namespace headway::core {
namespace {

using ::testing::HasSubstr;

TEST(Clock, RoundsToTheNearestTick) {
  const Clock clock = Clock::step();
  EXPECT_EQ(clock.to_ticks(1_us), 1'000'000);
  EXPECT_EQ(clock.to_ticks(Seconds(1.4e-12)), 1);
  EXPECT_EQ(clock.to_ticks(Seconds(1.6e-12)), 2);
  EXPECT_EQ(Clock::campaign().to_ticks(3_days), 259'200'000'000);
}

TEST(Clock, ConvertsBack) {
  EXPECT_DOUBLE_EQ(Clock::step().to_seconds(2'500'000).si(), 2.5e-6);
  EXPECT_DOUBLE_EQ(Clock::campaign().to_seconds(1'500'000).si(), 1.5);
}

TEST(Clock, HoldsAHundredDaysOfPicosecondsAndSaysWhenThereAreMore) {
  const Clock clock = Clock::step();
  EXPECT_EQ(clock.to_ticks(100_days), 8'640'000'000'000'000'000);
  try {
    (void)clock.to_ticks(107_days);  // 2^63 ps are 106.75 days
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("9244800 s do not fit into 2^63 ticks of 1e-12 s; use a coarser clock"));
  }
}

TEST(Clock, RefusesWhatIsNotANumber) {
  EXPECT_THROW((void)Clock::step().to_ticks(Seconds(std::numeric_limits<double>::quiet_NaN())),
               InternalError);
  EXPECT_THROW((void)Clock::step().to_ticks(Seconds(std::numeric_limits<double>::infinity())),
               InternalError);
}

}  // namespace
}  // namespace headway::core
