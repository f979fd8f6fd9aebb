// A building that feeds so much: more nodes with lower boards against fewer in full.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/training/power/machine_power.h"

#include "tests/plan/search_fixture.h"

namespace headway::plan {
namespace {

using core::Watts;
using ::testing::HasSubstr;

/// Two nodes of eight boards of 700 W (70 W at rest) and 2 kW beside them draw 15.2 kW.
training::Scenario building() {
  auto s = few_layouts();
  s.training.global_batch = 96;
  s.cluster.node.host_power = Watts(2000);
  s.cluster.node.gpu.sustained.power = Watts(700);
  s.cluster.fabric.switch_power_per_port = Watts(0);
  s.cluster.power.emplace().facility = Watts(15'200);
  return s;
}

// N nodes have 15,200 / N W each, (15,200 / N - 2,000) / 8 W a board: 700, 383 and 225 W of 2, 3
// and 4 nodes; of 5 nodes 130 W, below 2/7 of 700. By products alone a board runs at
// sqrt((W - 70) / 630), so N nodes at 2, 2.12 and 1.98 times the rate of one: 3 are best.
TEST(SearchWithPower, FindsTheSizeThatTheKeyFinds) {
  auto s = building();
  s.search.nodes = {1, 2, 3, 4, 5};
  const PlanResult found = search(s, {});
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.plans.front().setting.nodes, 3);
  EXPECT_GT(count_of(found, "power"), 0);
  const auto refused = std::find_if(found.rejected.begin(), found.rejected.end(),
                                    [](const auto& entry) { return entry.kind == "power"; });
  EXPECT_THAT(refused->reason, HasSubstr("15.2 kW feed the building of 5 nodes with boards at 130 "
                                         "W, and none can be limited to less than 200 W"));
  for (const int nodes : {1, 2, 3, 4}) {
    auto keyed = building();
    keyed.cluster.power.reset();
    keyed.cluster.nodes = nodes;
    keyed.cluster.node.gpu.power = Watts(std::min(700.0, (15'200.0 / nodes - 2'000) / 8));
    const Plan alone = search(keyed, {}).plans.front();
    const auto same = std::find_if(found.plans.begin(), found.plans.end(),
                                   [&](const Plan& plan) { return plan.setting.nodes == nodes; });
    EXPECT_GE(alone.step.time / found.plans.front().step.time, 1 - 1e-9) << nodes;
    if (same != found.plans.end()) {
      EXPECT_EQ(same->layout, alone.layout) << nodes;
      EXPECT_NEAR(same->step.time / alone.step.time, 1, 1e-9) << nodes;
    }
  }
}

// A limit of the search and of the scenario: what a plan draws is what its lowered boards draw.
TEST(SearchWithPower, LimitsAskWhatLoweredBoardsDraw) {
  auto s = building();
  s.cluster.nodes = 4;  // 30.4 kW at their own limit, 15.2 kW as they are fed
  PlanOptions options;
  options.limits.power = Watts(15'200 * 1.0001);
  EXPECT_FALSE(search(s, options).plans.empty());
  options.limits.power = Watts(15'000);
  EXPECT_TRUE(search(s, options).plans.empty());
}

// Spares that a run is found to need draw power and stand in racks: limits are asked again of them.
TEST(SearchWithPower, LimitsAreThoseOfTheSparesThatAreChosen) {
  auto s = priced();
  s.search.vary = {SearchAxis::tensor};
  s.search.spares = training::SearchAdvice::automatic;
  s.cluster.node.host_power = Watts(2000);
  s.run.recovery.rack_nodes = 2;
  s.run.until->steps = 200'000;
  failures::HazardSpec hazard;
  hazard.name = "often";
  hazard.mtbf = core::Seconds(20'000);
  s.run.failures.emplace().hazards = {hazard};
  PlanOptions options;
  const PlanResult free = search(s, options);
  ASSERT_FALSE(free.plans.empty());
  const Plan& first = free.plans.front();
  ASSERT_GT(first.spares, 0);
  EXPECT_EQ(first.racks, (s.cluster.nodes + 1) / 2 + (first.spares + 1) / 2);
  auto bare = s;
  bare.search.spares.reset();
  const Watts without = search(bare, options).plans.front().power;
  ASSERT_LT(without, first.power);
  options.limits.power = (without + first.power) / 2;
  const PlanResult fed = search(s, options);
  ASSERT_FALSE(fed.plans.empty()) << "fewer spares than it needs keep the limit";
  for (const Plan& plan : fed.plans) {
    EXPECT_LE(plan.power, *options.limits.power);
  }
  EXPECT_LT(fed.plans.front().spares, first.spares);
  options.limits = {};
  options.limits.racks = (s.cluster.nodes + 1) / 2;
  const PlanResult housed = search(s, options);
  ASSERT_FALSE(housed.plans.empty());
  EXPECT_TRUE(std::all_of(housed.plans.begin(), housed.plans.end(),
                          [](const Plan& plan) { return plan.spares == 0; }));
  // A deadline that the run misses with all that it needs is not met with fewer.
  options.limits = {};
  options.limits.deadline = core::Seconds(0.99 * 86'400 * first.campaign->result.days().p50);
  const PlanResult late = search(s, options);
  EXPECT_TRUE(std::none_of(late.plans.begin(), late.plans.end(),
                           [&](const Plan& plan) { return plan.layout == first.layout; }));
  EXPECT_GT(count_of(late, "deadline"), 0);
}

TEST(SearchWithPower, WhatIsRefusedToOneSizeLeavesTheOthers) {
  auto s = building();
  s.cluster.nodes = 4;
  s.cluster.power->excess = training::PowerExcess::refuse;
  s.search.nodes = {2, 4};
  const PlanResult found = search(s, {});
  ASSERT_FALSE(found.plans.empty());
  for (const Plan& plan : found.plans) {
    EXPECT_EQ(plan.setting.nodes, 2);
  }
  EXPECT_GT(count_of(found, "power"), 0);
}

TEST(SearchWithPower, SparesThatNobodyKnowsYetAreRefused) {
  auto s = building();
  s.search.spares = training::SearchAdvice::automatic;
  try {
    search(s, {});
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("search.spares: auto beside cluster.power.facility is not "
                                        "modelled"));
  }
}

}  // namespace
}  // namespace headway::plan
