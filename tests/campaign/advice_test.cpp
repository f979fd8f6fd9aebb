// What a campaign teaches: spares for a target.
#include "sim/campaign/advice.h"

#include <gtest/gtest.h>

#include "sim/campaign/trials.h"
#include "sim/failures/closed_form.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;

constexpr double kDay = 86400;
constexpr double kTarget = 0.01;

/// 64 nodes for 200 days, of which one is lost every half day and back after two: four in repair.
JobModel losing_nodes(std::int64_t nodes_lost) {
  JobModel model = small_job();
  model.gpus = 64 * 8;
  model.end = {.work = {}, .wall = Seconds(200 * kDay)};
  model.interval = Seconds(3600);
  model.recovery.repair = Seconds(2 * kDay);
  failures::Hazard hazard;
  hazard.name = "node";
  hazard.rate = core::PerSecond(1 / (0.5 * kDay)) / static_cast<double>(nodes_lost);
  hazard.nodes_lost = nodes_lost;
  model.hazards = {hazard};
  return model;
}

std::optional<SparesNeeded> spares(const JobModel& model, int trials = 40) {
  StepTimes times;
  return spares_for(model, kTarget, trials, 1, times);
}

double waits(JobModel model, std::int64_t spare_nodes, int trials = 40) {
  model.spare_nodes = spare_nodes;
  double waiting = 0;
  double wall = 0;
  for (const auto& trial : run_trials(model, trials, 1)) {
    waiting += static_cast<double>(trial[Account::wait]);
    wall += static_cast<double>(trial.wall);
  }
  return waiting / wall;
}

// Four nodes in repair on average: Erlang's B(4, c) falls below 1 % at c = 10 (0.0053; c = 9 gives
// 0.0133), so nine spares and the one that is missed.
TEST(Spares, OfSingleNodesAreErlangs) {
  const auto found = spares(losing_nodes(1));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(found->nodes, 9);
}

// Erlang's formula holds for any law of repair. A queue of more crews than nodes never queues, so
// trials with lognormal repairs must find his number, give or take the one that noise costs.
TEST(Spares, ByTrialsAgreeWithErlangWhereHeHolds) {
  JobModel model = losing_nodes(1);
  model.recovery.repair_crews = 1000;
  model.recovery.repair_sigma = 0.5;
  const auto found = spares(model, 200);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->exact);
  EXPECT_NEAR(static_cast<double>(found->nodes), 9, 1);
}

// As many nodes in repair on average, but four at a time: more spares, and the fewest that do.
TEST(Spares, OfRacksAreTheFewestThatSuffice) {
  const JobModel model = losing_nodes(4);
  const auto found = spares(model);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->exact);
  EXPECT_GT(found->nodes, 9 + 2);
  EXPECT_LT(waits(model, found->nodes), kTarget);
  EXPECT_GE(waits(model, found->nodes - 1), kTarget);
}

// One crew and an offered load of 0.5: P(waiting) of the truncated birth-death chain is
// 0.5^(s + 1) (1 - 0.5) / (1 - 0.5^(s + 2)); s = 5 gives 0.0079, s = 4 gives 0.0159.
TEST(Spares, OfOneCrewFollowTheBirthDeathChain) {
  JobModel model = losing_nodes(1);
  model.recovery.repair = Seconds(0.25 * kDay);
  model.recovery.repair_crews = 1;
  const auto found = spares(model);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(found->nodes, 5);
}

TEST(Spares, AreNoQuestionWhereNoNodeIsLost) {
  JobModel model = losing_nodes(1);
  model.hazards[0].nodes_lost = 0;
  EXPECT_FALSE(spares(model).has_value());
}

}  // namespace
}  // namespace headway::campaign
