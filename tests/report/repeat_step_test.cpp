// Several steps in one trace.
#include <gtest/gtest.h>

#include "sim/report/trace/trace.h"

#include "tests/report/two_traces.h"

namespace headway::report {
namespace {

constexpr core::Seconds kStep{100e-9};

TEST(RepeatStep, EveryStepIsTheFirstOneLater) {
  auto traces = one_step();
  repeat_step(3, kStep, traces);
  ASSERT_EQ(traces.size(), 3U);
  const TraceThread& stage = traces[0].threads[0];
  ASSERT_EQ(stage.slices.size(), 6U);
  EXPECT_EQ(stage.slices[2].begin_ns, 100);
  EXPECT_EQ(stage.slices[2].length_ns, 40);
  EXPECT_EQ(stage.slices[5].begin_ns, 250);
  EXPECT_EQ(stage.slices[5].name, "backward");
  using Values = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(stage.counters[0].values,
            (Values{{0, 5}, {50, 7}, {100, 5}, {150, 7}, {200, 5}, {250, 7}}));
  EXPECT_EQ(traces[1].threads[0].slices[2].begin_ns, 260);
}

// Arrows of one micro-batch stay in their step: their numbers are moved by the largest there is.
TEST(RepeatStep, NoArrowLeadsIntoAnotherStep) {
  auto traces = one_step();
  repeat_step(2, kStep, traces);
  const auto& slices = traces[0].threads[0].slices;
  EXPECT_EQ(slices[0].flows, std::vector<std::uint64_t>{1});
  EXPECT_EQ(slices[1].flows, std::vector<std::uint64_t>{2});
  EXPECT_EQ(slices[2].flows, std::vector<std::uint64_t>{3});
  EXPECT_EQ(slices[3].flows, std::vector<std::uint64_t>{4});
}

TEST(RepeatStep, TheStepsAreALineAndWhatTheyAreIsSaid) {
  auto traces = one_step();
  repeat_step(2, kStep, traces);
  const Trace& steps = traces.back();
  EXPECT_EQ(steps.process, "steps");
  ASSERT_EQ(steps.threads[0].slices.size(), 2U);
  EXPECT_EQ(steps.threads[0].slices[1].name, "step 1");
  EXPECT_EQ(steps.threads[0].slices[1].begin_ns, 100);
  EXPECT_EQ(steps.threads[0].slices[1].length_ns, 100);
  EXPECT_EQ(steps.left_out,
            std::vector<std::string>{"what differs from step to step is not in it: its 2 steps "
                                     "are the one that was simulated"});
}

TEST(RepeatStep, OneStepIsLeftAsItWas) {
  auto traces = one_step();
  repeat_step(1, kStep, traces);
  EXPECT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].threads[0].slices.size(), 2U);
}

// 400,000 may be there, a step has 150,000 and itself: two fit.
TEST(RepeatStep, StepsThatDoNotFitAreLeftOutAndSaidSo) {
  std::vector<Trace> traces{{"step", {{"stage", {}, {}}}, {}}};
  traces[0].threads[0].slices.resize(150'000);
  repeat_step(5, kStep, traces);
  EXPECT_EQ(traces[0].threads[0].slices.size(), 300'000U);
  EXPECT_EQ(traces.back().left_out.back(),
            "3 steps are left out, so that there are at most 400000 spans and values");
}

}  // namespace
}  // namespace headway::report
