#include "sim/analytic/layout_times.h"

#include <gtest/gtest.h>

namespace headway::analytic {
namespace {

/// Two stages of one chunk that take so long on one kind of GPU.
LayoutTimes on_kind(double pass, double message, const StepEnds* ends) {
  LayoutTimes times;
  workload::PassTimes passes;
  passes.fill(pass);
  times.passes.chunks = {passes, passes};
  times.passes.ready = {pass / 10, pass / 10};
  times.passes.message = {message, message};
  times.tails = {pass / 2, pass / 2};
  times.reductions = {pass / 4, pass / 4};
  times.begun = {pass / 8, pass / 8};
  times.ends = ends;
  return times;
}

const StepEnds kFast{{{1, 2, 3}}, {0, 0}};
const StepEnds kSlow{{{4, 1, 6}}, {0, 0}};

TEST(LayoutTimes, OfStagesOnTwoKindsAreThoseOfEachStagesKind) {
  const std::vector<LayoutTimes> kinds{on_kind(1, 0.1, &kFast), on_kind(2, 0.3, &kSlow)};
  const auto both = mixed(kinds, {{0}, {1}});
  EXPECT_EQ(both.passes.chunks[0].front(), 1);
  EXPECT_EQ(both.passes.chunks[1].front(), 2);
  EXPECT_EQ(both.passes.ready[0], 0.1);
  EXPECT_EQ(both.tails[1], 1);
  EXPECT_EQ(both.reductions[1], 0.5);
  EXPECT_EQ(both.begun[0], 0.125);
  EXPECT_EQ(both.end(0).lead, 1);
  EXPECT_EQ(both.end(1).after, 6);
  // A message takes the slower of both ends.
  EXPECT_EQ(both.passes.message[0], 0.3);
  EXPECT_EQ(both.passes.message[1], 0.3);
}

// Ranks that meet in the middle of passes go with the slowest, part by part: `rest` of an end is
// longer on the fast kind.
TEST(LayoutTimes, OfAStageOnTwoKindsAreTheLongest) {
  const std::vector<LayoutTimes> kinds{on_kind(1, 0.3, &kFast), on_kind(2, 0.1, &kSlow)};
  const auto both = mixed(kinds, {{0, 1}, {0, 1}});
  EXPECT_EQ(both.passes.chunks[0].front(), 2);
  EXPECT_EQ(both.passes.message[0], 0.3);
  EXPECT_EQ(both.end(0).lead, 4);
  EXPECT_EQ(both.end(0).rest, 2);
  EXPECT_EQ(both.end(0).after, 6);
}

TEST(LayoutTimes, OfPassesAloneHaveNoEnds) {
  const auto one = mixed({on_kind(1, 0, nullptr)}, {{0}, {0}});
  EXPECT_EQ(one.passes.chunks[1].front(), 1);
  EXPECT_EQ(one.reductions[0], 0);
  EXPECT_EQ(one.end(0).lead, 0);
}

}  // namespace
}  // namespace headway::analytic
