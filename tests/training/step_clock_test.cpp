#include "sim/training/step/step_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "sim/core/infeasible.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

std::string clock_refusal(const Scenario& scenario) {
  try {
    simulate_step(check(scenario));
  } catch (const core::Infeasible& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

TEST(StepClock, CountsHundredDaysAndNamesWhatIsLonger) {
  EXPECT_EQ(step_ticks(core::Seconds(8.64e6), "all-reduce"), 8'640'000'000'000'000'000);
  // The last 3,000 s before 2^63 ps, where the clock refused what this let pass.
  EXPECT_EQ(step_ticks(core::Seconds(9.222e6), "all-reduce"), 9'222'000'000'000'000'000);
  for (const double seconds :
       {9.3e6, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    try {
      step_ticks(core::Seconds(seconds), "all-reduce");
      FAIL() << seconds;
    } catch (const core::Infeasible& error) {
      EXPECT_THAT(error.what(), HasSubstr("'all-reduce' alone takes"));
      EXPECT_EQ(core::exit_code(error), 3);
    }
  }
}

TEST(StepClock, NamesTheOneTransferThatIsTooLong) {
  auto s = eight_nodes();
  s.cluster.fabric.link_bandwidth = core::BytesPerSecond(1);
  EXPECT_THAT(clock_refusal(s), HasSubstr("a step would take more than 106 days: '"));
  EXPECT_THAT(clock_refusal(s), HasSubstr("' alone takes "));
}

// Every kernel waits a day for its launch: none is too long, but a step has thousands.
TEST(StepClock, NamesThePartThatTakesLongestWhereOnlyTheSumIsTooLong) {
  auto s = eight_nodes();
  s.cluster.node.gpu.kernel_launch = core::Seconds(86400);
  EXPECT_THAT(clock_refusal(s), MatchesRegex("a step would take more than 106 days: '.+' of stage "
                                             "[0-3] takes [0-9.]+ days, more than any other part"));
}

}  // namespace
}  // namespace headway::training
