#include "sim/campaign/bring_up.h"

#include <cmath>
#include <gtest/gtest.h>

#include "sim/campaign/campaign.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using namespace core::literals;
using core::Seconds;

constexpr Seconds kOneDay{86400};

// Of one node tests are a geometric series: P(K <= k) = 1 - p^k. Of n nodes without spares all must
// have passed: (1 - p^k)^n. One spare of one more node: 1 - (p^k)^2.
TEST(BringUp, TestsAreAGeometricSeries) {
  for (int k = 1; k < 5; ++k) {
    const double failed = std::pow(0.2, k);
    EXPECT_NEAR(passed_within(k, 0.2, 1, 0), 1 - failed, 1e-12);
    EXPECT_NEAR(passed_within(k, 0.2, 7, 0), std::pow(1 - failed, 7), 1e-12);
    EXPECT_NEAR(passed_within(k, 0.2, 1, 1), 1 - failed * failed, 1e-12);
  }
  EXPECT_EQ(passed_within(1, 0, 1000, 0), 1);
  EXPECT_EQ(tests_until(0.79, 0.2, 1, 0), 1);
  EXPECT_EQ(tests_until(0.81, 0.2, 1, 0), 2);
  EXPECT_EQ(tests_until(0.999999, 0, 1000, 0), 1);
}

TEST(BringUp, WaitIsDeliveryAndTests) {
  const price::BringUpSpec spec{90 * kOneDay, 3 * kOneDay, 0.1, 14 * kOneDay, {}, 0, 1};
  EXPECT_NEAR(wait_of(spec, 1) / kOneDay, 93, 1e-12);
  EXPECT_NEAR(wait_of(spec, 3) / kOneDay, 93 + 2 * 17, 1e-12);
}

// The integral of the speed up to the time that it gives is the work.
TEST(BringUp, RampedWorkIsTheIntegralOfTheSpeed) {
  for (const double from : {0.0, 0.3, 0.9}) {
    price::BringUpSpec spec;
    spec.ramp = 10 * kOneDay;
    spec.ramp_from = from;
    for (const double work : {0.1, 2.0, 5.0, 6.5, 9.5, 40.0}) {
      const double end = ramped(spec, work * kOneDay) / kOneDay;
      const double within = std::min(end, 10.0);
      const double done =
          from * within + (1 - from) * within * within / 20 + std::max(0.0, end - 10);
      EXPECT_NEAR(done, work, 1e-9) << from << " " << work;
    }
    // Where the ramp ends before: half of what it lacks is lost.
    EXPECT_NEAR(ramped(spec, 40 * kOneDay) / kOneDay, 40 + 10 * (1 - from) / 2, 1e-9);
  }
  price::BringUpSpec none;
  EXPECT_EQ(ramped(none, 3 * kOneDay), 3 * kOneDay);
  none.ramp = kOneDay;
  none.ramp_from = 1;
  EXPECT_EQ(ramped(none, 3 * kOneDay), 3 * kOneDay);
}

// The mean over trials is the sum of what is not yet passed: E K = sum over k >= 0 of 1 - P(K <=
// k).
TEST(BringUp, MeanOfTrialsIsTheClosedForm) {
  const price::BringUpSpec spec{30 * kOneDay, 2 * kOneDay, 0.15, 5 * kOneDay, {}, 0, 0.5};
  for (const std::int64_t spares : {0, 1, 4}) {
    double expected = 1;
    for (int k = 1; k < 60; ++k) {
      expected += 1 - passed_within(k, spec.fail_share, 16, spares);
    }
    constexpr int kTrials = 20000;
    double tests = 0;
    for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
      const BroughtUp one = bring_up(spec, 16, spares, kOneDay, 7, trial);
      tests += one.tests;
      EXPECT_EQ(one.wait, wait_of(spec, one.tests));
      EXPECT_NEAR(one.paid.si(), 0.5 * (one.wait - spec.delivery).si(), 1e-6);
    }
    EXPECT_NEAR(tests / kTrials, expected, 0.02) << spares;
  }
}

}  // namespace
}  // namespace headway::campaign
