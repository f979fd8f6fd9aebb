// What was compared before decides how wide an interval is, and what a report says of it.
#include "sim/validation/compared/compared_runs.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/training/step/step.h"

namespace headway::validation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const RunKind kKnown{"Megatron-Core", "H100", "16 bit", false};

ComparedRuns runs(RunKind kind, const std::string& source, int rows = 10, double error = 0.03) {
  return {std::move(kind), source, rows, error};
}

// Two sources: nothing is added; one: less than other GPUs of that software; none: most, and more
// to the slow side than to the fast one.
TEST(UnknownError, FallsWithWhatWasCompared) {
  const std::vector<ComparedRuns> two{runs(kKnown, "a"), runs(kKnown, "b")};
  const RunKind eight{"Megatron-Core", "H100", "8 bit", false};
  const RunKind other{"nanotron", "H100", "16 bit", false};
  const RunKind other_gpu{"nanotron", "B200", "16 bit", false};
  EXPECT_EQ(unknown_error(kKnown, two).slower, 0);
  const double one = unknown_error(kKnown, {runs(kKnown, "a")}).slower;
  const double format = unknown_error(eight, two).slower;
  const StepError never = unknown_error(other, two);
  EXPECT_GT(one, 0);
  EXPECT_GT(format, one);
  EXPECT_GT(never.slower, format);
  EXPECT_GT(never.slower, never.faster);
  EXPECT_GT(unknown_error(other_gpu, two).faster, never.faster);
}

// A source that was compared twice is one source.
TEST(UnknownError, CountsSourcesNotRuns) {
  EXPECT_GT(unknown_error(kKnown, {runs(kKnown, "a"), runs(kKnown, "a")}).slower, 0);
}

// Log distances of the ends from the middle are 1.645 of their own deviations, not of each other's:
// what was never compared is slower more often than faster.
TEST(SetInterval, IsWiderToTheSlowSideByItsOwnDeviation) {
  training::Scenario scenario;
  scenario.calibration.relative_error = 0;
  const double before = training::relative_error(scenario);
  training::StepResult step;
  step.time = core::Seconds(1);
  step.interval_low = core::Seconds(std::exp(-1.6448536269514722 * before));
  step.interval_high = core::Seconds(std::exp(1.6448536269514722 * before));
  set_interval(scenario, {0.15, 0.06}, step);
  EXPECT_NEAR(std::log(step.interval_high.si()), 1.6448536269514722 * 0.15, 1e-12);
  EXPECT_NEAR(std::log(step.interval_low.si()), -1.6448536269514722 * 0.06, 1e-12);
}

// Of the same software first, then the GPU; two sources of one kind are one line: (3 % x 10 +
// 6 % x 20) / 30 = 5 %.
TEST(NearestRuns, AreOfTheSameSoftwareFirst) {
  const RunKind far{"Megatron-Core", "B200", "8 bit", false};
  const std::vector<ComparedRuns> compared{runs({"nanotron", "H100", "16 bit", false}, "c"),
                                           runs(far, "a"), runs(kKnown, "a"),
                                           runs(kKnown, "b", 20, 0.06)};
  const auto nearest = nearest_runs(kKnown, compared, 2);
  ASSERT_EQ(nearest.size(), 2U);
  EXPECT_EQ(nearest[0].kind, kKnown);
  EXPECT_EQ(nearest[0].sources, 2);
  EXPECT_EQ(nearest[0].rows, 30);
  EXPECT_NEAR(nearest[0].median_error, 0.05, 1e-12);
  EXPECT_EQ(nearest[1].kind, far);
}

TEST(NearestRuns, AreSentences) {
  EXPECT_THAT(
      nearest_sentences(kKnown, {runs(kKnown, "a", 40)}),
      ElementsAre("3.0 % off in 40 runs of Megatron-Core on H100, 16 bit, dense (1 source)"));
  EXPECT_THAT(nearest_sentences({"x", "H100", "16 bit", false}, {runs(kKnown, "a")}).front(),
              HasSubstr("no run of x was ever compared with its prediction"));
}

}  // namespace
}  // namespace headway::validation
