// A step as timers see it.
#include "sim/training/explain/observed_step.h"

#include <gtest/gtest.h>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

TEST(ObservedStep, IsTheSimulatedStep) {
  const auto checked = check(eight_nodes());
  const auto step = simulate_step(checked);
  const auto observed = observe_step(checked);
  EXPECT_EQ(observed.time.si(), step.time.si());
  for (std::size_t a = 0; a < core::kActivities; ++a) {
    EXPECT_NEAR(observed.breakdown.values[a].si(), step.breakdown.values[a].si(), 1e-9);
  }
  // What passes are made of is work and transfers inside the model; the rest of a step is not.
  const auto& b = observed.breakdown;
  using core::Activity;
  const double inside = (b[Activity::compute] + b[Activity::launch] + b[Activity::tensor] +
                         b[Activity::context] + b[Activity::expert])
                            .si();
  EXPECT_NEAR((observed.forward.mean + observed.backward.mean).si(), inside, 0.02 * inside);
  EXPECT_LE(observed.forward.least.si(), observed.forward.mean.si());
  EXPECT_LE(observed.forward.mean.si(), observed.forward.most.si());
}

TEST(ObservedStep, FullRecomputationAddsAForwardToTheBackward) {
  auto scenario = eight_nodes();
  const auto plain = observe_step(check(scenario));
  scenario.parallelism.recompute = workload::Recompute::full;
  const auto full = observe_step(check(scenario));
  EXPECT_NEAR(full.forward.mean.si(), plain.forward.mean.si(), 0.01 * plain.forward.mean.si());
  // The head is not recomputed, so the whole forward is not repeated.
  const double more = (full.backward.mean - plain.backward.mean).si();
  EXPECT_GT(more, 0.6 * plain.forward.mean.si());
  EXPECT_LT(more, 1.01 * plain.forward.mean.si());
  EXPECT_LT(full.allocated.si(), plain.allocated.si());
}

TEST(ObservedStep, ASlowGpuIsThatOfTheLongestPass) {
  const auto checked = check(eight_nodes());
  const auto healthy = observe_step(checked);
  const auto slow = observe_step(checked, {{Degradation::Kind::gpu, 0.5, core::Rank(0)}});
  EXPECT_GT(slow.time.si(), healthy.time.si());
  EXPECT_GT(slow.forward.most.si(), 1.5 * healthy.forward.least.si());
  EXPECT_NEAR(slow.forward.least.si(), healthy.forward.least.si(),
              0.05 * healthy.forward.least.si());
}

}  // namespace
}  // namespace headway::training
