// The step on a cluster with slow parts.
#include "sim/training/degraded/degrade.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "sim/training/degraded/degraded_step.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using Kind = Degradation::Kind;

core::Seconds step_with(std::vector<Degradation> degradations, bool fold = true) {
  StepOptions options;
  options.fold = fold;
  options.trace = false;
  options.degradations = std::move(degradations);
  return simulate_step(check(eight_nodes()), options).time;
}

TEST(SlowGpu, SlowsTheStepByNoMoreThanItself) {
  const double healthy = step_with({}).si();
  const double slow = step_with({{Kind::gpu, 0.8, core::Rank(0)}}).si();
  EXPECT_GT(slow, healthy);
  EXPECT_LE(slow, healthy / 0.8);
  // All GPUs slow: no better than one, and compute alone cannot be slower than 1 / 0.8.
  const double all = step_with({{Kind::all_gpus, 0.8, {}}}).si();
  EXPECT_GE(all, slow);
  EXPECT_LE(all, healthy / 0.8);
}

TEST(SlowGpu, HasTheSameTicksFoldedAndUnfolded) {
  const Degradation slow{Kind::gpu, 0.9, core::Rank(13)};
  EXPECT_EQ(step_with({slow}, true).si(), step_with({slow}, false).si());
}

TEST(SlowParts, InDifferentReplicasCostAsMuchAsTheSlowestOfThem) {
  // TP 8 x DP 2 x PP 4: a node is one stage of one replica; nodes 0 and 1 are stage 0 of both.
  const double one = step_with({{Kind::gpu, 0.8, core::Rank(0)}}).si();
  const double other = step_with({{Kind::gpu, 0.9, core::Rank(8)}}).si();
  const double both =
      step_with({{Kind::gpu, 0.8, core::Rank(0)}, {Kind::gpu, 0.9, core::Rank(8)}}).si();
  EXPECT_NEAR(both, std::max(one, other), 0.01 * one);
}

TEST(SlowParts, InOnePlaceOfAnotherReplicaAreAlike) {
  EXPECT_EQ(step_with({{Kind::gpu, 0.8, core::Rank(0)}}).si(),
            step_with({{Kind::gpu, 0.8, core::Rank(8)}}).si());
  EXPECT_EQ(step_with({{Kind::gpu, 0.8, core::Rank(0)}}).si(),
            step_with({{Kind::gpu, 0.8, core::Rank(3)}}).si());
}

TEST(SlowLink, NeverMakesTheStepFaster) {
  const double healthy = step_with({}).si();
  const double half = step_with({{Kind::link, 0.5, core::Rank(0)}}).si();
  const double tenth = step_with({{Kind::link, 0.1, core::Rank(0)}}).si();
  const double all = step_with({{Kind::all_links, 0.1, {}}}).si();
  EXPECT_GE(half, healthy);
  EXPECT_GT(tenth, half);
  EXPECT_GE(all, tenth);
}

/// The same slow parts asked of both.
void expect_equal_ticks(Scenario scenario, const std::vector<Degradation>& degradations) {
  const CheckedScenario checked = check(std::move(scenario));
  StepOptions options;
  options.trace = false;
  options.degradations = degradations;
  const PreparedStep healthy = prepare_step(checked);
  std::vector<core::Rank> places;
  for (const auto& it : degradations) {
    if (it.kind == Kind::gpu || it.kind == Kind::link) {
      places.push_back(it.rank);
    }
  }
  EXPECT_EQ(DegradedSteps(healthy, places).time(degradations).si(),
            simulate_step(checked, options).time.si());
}

TEST(DegradedSteps, GiveTheTicksOfTheWholeSimulation) {
  Scenario interleaved = eight_nodes();
  interleaved.parallelism.virtual_stages = 2;
  interleaved.parallelism.schedule = workload::ScheduleKind::interleaved;
  Scenario shuffled = eight_nodes();
  shuffled.cluster.placement = Placement::random;
  for (const Scenario& scenario : {eight_nodes(), interleaved, shuffled}) {
    expect_equal_ticks(scenario, {});
    expect_equal_ticks(scenario, {{Kind::gpu, 0.8, core::Rank(16)}});
    expect_equal_ticks(scenario, {{Kind::link, 0.3, core::Rank(40)}});
    expect_equal_ticks(scenario,
                       {{Kind::link, 0.3, core::Rank(40)}, {Kind::gpu, 0.7, core::Rank(0)}});
    expect_equal_ticks(scenario, {{Kind::all_gpus, 0.9, {}}, {Kind::gpu, 0.7, core::Rank(8)}});
    expect_equal_ticks(scenario, {{Kind::all_links, 0.2, {}}});
  }
}

TEST(DegradedSteps, KeepPlacesApartThatAreNotSlow) {
  const CheckedScenario checked = check(eight_nodes());
  const PreparedStep healthy = prepare_step(checked);
  const DegradedSteps steps(healthy, {core::Rank(0), core::Rank(16), core::Rank(32)});
  StepOptions options;
  options.trace = false;
  EXPECT_EQ(steps.time({}).si(), simulate_step(checked, options).time.si());
  options.degradations = {{Kind::gpu, 0.8, core::Rank(16)}};
  EXPECT_EQ(steps.time(options.degradations).si(), simulate_step(checked, options).time.si());
}

}  // namespace
}  // namespace headway::training
