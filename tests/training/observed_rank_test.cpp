// What the GPU of one rank does in a step.
#include "sim/training/explain/observed_rank.h"

#include <gtest/gtest.h>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

TEST(ObservedRank, ComputesAsLongAsTheBreakdownSaysLessGaps) {
  const auto checked = check(eight_nodes());
  const auto step = simulate_step(checked);
  const auto observed = observe_ranks(checked, {core::Rank(0), core::Rank(7), core::Rank(63)});
  EXPECT_EQ(observed.time.si(), step.time.si());
  ASSERT_EQ(observed.ranks.size(), 3U);
  EXPECT_EQ(observed.ranks[2].at.pipeline, 3);
  for (const auto& rank : observed.ranks) {
    core::Seconds compute, slots;
    for (const auto& span : rank.spans) {
      EXPECT_GE(span.begin.si(), 0);
      EXPECT_LE(span.end.si(), observed.time.si() * (1 + 1e-12));
      if (core::is_computation(span.work)) {
        slots += span.end - span.begin;
        compute += (span.end - span.begin) * span.busy;
      }
    }
    EXPECT_GT(compute, core::Seconds(0));
    EXPECT_LT(compute, slots);  // gaps between kernels are no work
    EXPECT_LE(slots, observed.time);
  }
  // Ranks of one tensor group do the same.
  EXPECT_EQ(observed.ranks[0].spans.size(), observed.ranks[1].spans.size());
}

}  // namespace
}  // namespace headway::training
