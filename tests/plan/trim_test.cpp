#include "sim/plan/shortlist/trim.h"

#include <gtest/gtest.h>

#include "sim/analytic/analytic.h"
#include "sim/plan/entry.h"
#include "sim/plan/shortlist/fit.h"

#include "tests/plan/sample_scenario.h"

namespace headway::plan {
namespace {

using namespace core::literals;
using training::SearchAxis;
using workload::Recompute;

/// Pipeline 2 of sixteen layers each, with little memory.
training::Scenario tight(core::Bytes memory) {
  auto s = sample_scenario();
  s.cluster.node.gpu.memory = memory;
  s.parallelism.tensor = 8;
  s.parallelism.pipeline = 2;
  s.parallelism.micro_batch = 4;
  s.search.vary = {SearchAxis::recompute};
  return s;
}

core::Bytes peak_of(const training::Scenario& s, Recompute recompute) {
  auto own = s;
  own.parallelism.recompute = recompute;
  return training::predict_memory(training::check(std::move(own))).peak;
}

/// Memory between what recomputing nothing and all takes.
training::Scenario between() {
  const auto roomy = tight(200_GiB);
  const auto middle = (peak_of(roomy, Recompute::none) + peak_of(roomy, Recompute::full)) * 0.5;
  return tight(middle * (1 / (1 - training::kMemoryHeadroom)));
}

/// The layout of the space that recomputes like this, timed.
Estimate estimate_of(const training::Scenario& s, const Space& space, Recompute recompute) {
  for (std::int64_t i = 0; i < space.layouts(); ++i) {
    const auto layout = space.layout(i);
    if (layout.recompute == recompute && layout.recompute_period == 1) {
      const int data = space.place(i).shape->data;
      const int micro_batches = s.training.global_batch / data / layout.micro_batch;
      analytic::AnalyticTier tier(s);
      return {layout, micro_batches, tier.evaluate(layout, data, micro_batches).time, i};
    }
  }
  ADD_FAILURE() << "no such layout";
  return {};
}

TEST(Trim, MakesALayoutFasterThatRecomputesMoreThanMemoryAsksFor) {
  const auto s = between();
  const Space space(s);
  const auto before = estimate_of(s, space, Recompute::full);
  std::vector<Estimate> layouts{before};
  trim_recompute(s, space, training::kMemoryHeadroom, layouts);
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_LT(layouts[0].time, before.time);
  EXPECT_FALSE(layouts[0].layout.chunk_recompute.empty());
  EXPECT_EQ(layouts[0].number, before.number);
  // It fits, and with a layer less in its fullest stage it would not.
  auto own = with_layout(s, layouts[0].layout);
  EXPECT_FALSE(lack(training::check(training::Scenario(own)), training::kMemoryHeadroom));
  ASSERT_GT(own.parallelism.chunk_recompute.front(), 0);
  --own.parallelism.chunk_recompute.front();
  EXPECT_TRUE(lack(training::check(std::move(own)), training::kMemoryHeadroom));
}

TEST(Trim, LeavesWhatRecomputesNothingOrWhatNeedsNoRecompute) {
  const auto s = between();
  const Space space(s);
  const auto none = estimate_of(s, space, Recompute::none);
  std::vector<Estimate> layouts{none};
  trim_recompute(s, space, training::kMemoryHeadroom, layouts);
  EXPECT_EQ(layouts[0].layout, none.layout);
  // With room for all, the layout without recompute is in the space already.
  const auto roomy = tight(200_GiB);
  const Space large(roomy);
  const auto full = estimate_of(roomy, large, Recompute::full);
  layouts = {full};
  trim_recompute(roomy, large, training::kMemoryHeadroom, layouts);
  EXPECT_EQ(layouts[0].layout, full.layout);
}

TEST(Trim, SortsTheListAgain) {
  const auto s = between();
  const Space space(s);
  auto quick = estimate_of(s, space, Recompute::selective);
  auto slow = estimate_of(s, space, Recompute::full);
  slow.time = core::Seconds(1e6);
  quick.time = core::Seconds(2e6);
  std::vector<Estimate> layouts{quick, slow};
  trim_recompute(s, space, training::kMemoryHeadroom, layouts);
  EXPECT_LE(layouts[0].time, layouts[1].time);
}

}  // namespace
}  // namespace headway::plan
