// Which plan is best: objectives, limits and the front between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"
#include "sim/plan/search.h"

#include "tests/plan/search_fixture.h"

namespace headway::plan {
namespace {

// Twice the GPUs do the run in more than half the time, for more money: both sizes are on the
// front. With memory for every layout, no recompute tips the scales: two nodes are faster, one node
// saves the transfers between them and so is cheaper by the GPU-second.
TEST(Objectives, MarksTheFrontOfTimeAndMoneyOverClusterSizes) {
  auto scenario = sample_scenario();
  scenario.cluster.node.gpu.memory = core::Bytes(1e12);
  scenario.search.vary = few_layouts().search.vary;
  PlanOptions sizes;
  sizes.keep = 2;
  sizes.nodes = {1, 2};
  const auto result = search(scenario, sizes);
  ASSERT_GE(result.plans.size(), 2U);
  std::vector<int> front;
  for (const Plan& plan : result.plans) {
    EXPECT_NEAR(plan.estimate / plan.step.time, 1, 0.05);
    if (plan.pareto) {
      front.push_back(plan.setting.nodes);
    }
  }
  EXPECT_EQ(front, (std::vector<int>{2, 1}));  // fastest first
}

TEST(Objectives, CountsWhatMissesALimit) {
  auto scenario = sample_scenario();
  scenario.run.until = training::UntilSpec{};
  scenario.run.until->steps = 1000;
  scenario.run.trials = 2;
  PlanOptions options;
  options.keep = 1;
  const auto free = search(scenario, options);
  const double run = 1000 * free.plans.front().step.time.si();
  options.limits.deadline = core::Seconds(0.5 * run);
  const auto late = search(scenario, options);
  EXPECT_TRUE(late.plans.empty());
  EXPECT_EQ(late.simulated, 0);
  EXPECT_GT(count_of(late, "deadline"), 10);
  options.limits = {};
  options.limits.gpus = 8;
  const auto many = search(scenario, options);
  EXPECT_EQ(count_of(many, "gpus"), many.enumerated);
}

// 2 nodes of the job in a rack: of n nodes and s spares ceil(n / 2) + ceil(s / 2) racks.
TEST(Objectives, KeepsALimitOfRacks) {
  auto scenario = sample_scenario();
  PlanOptions options;
  options.keep = 1;
  options.simulate = 1;
  options.limits.racks = 2;
  EXPECT_THROW(
      try { search(scenario, options); } catch (const core::Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("set run.recovery.rack_nodes"));
        throw;
      },
      core::Error);
  scenario.run.recovery.rack_nodes = 2;
  const auto plans = [&](int nodes, int spares) {
    scenario.cluster.nodes = nodes;
    scenario.cluster.spares = spares;
    const auto result = search(scenario, options);
    EXPECT_EQ(count_of(result, "racks"), result.plans.empty() ? result.enumerated : 0);
    return result.plans.size();
  };
  EXPECT_EQ(plans(4, 0), 1U);
  EXPECT_EQ(plans(2, 2), 1U);
  EXPECT_EQ(plans(2, 3), 0U);
  EXPECT_EQ(plans(4, 1), 0U);
  EXPECT_EQ(plans(8, 0), 0U);
}

TEST(Objectives, AsksForARunWhereTheObjectiveNeedsOne) {
  PlanOptions options;
  options.objective = Objective::days;
  EXPECT_THROW(search(sample_scenario(), options), core::Error);
}

// On one cluster the same tokens cost least where they are trained fastest; the plan with the least
// energy a token is that with the most tokens a joule.
TEST(Objectives, OrdersByEveryObjective) {
  for (const Objective objective :
       {Objective::days, Objective::dollars, Objective::goodput, Objective::energy, Objective::co2,
        Objective::tokens_per_joule, Objective::tokens_per_dollar, Objective::power}) {
    PlanOptions options;
    options.objective = objective;
    options.nodes = objective == Objective::power ? std::vector{2, 1} : std::vector{2};
    const auto plans = search(priced(), options).plans;
    ASSERT_GT(plans.size(), 2U);
    const auto value = [&](const Plan& plan) {
      const auto& run = *plan.campaign;
      const double energy = run.mean_bill->energy.si();
      switch (objective) {
        case Objective::days:
          return run.result.wall_days.p50;
        case Objective::goodput:
          return -run.result.goodput.p50;
        case Objective::dollars:
        case Objective::tokens_per_dollar:  // the same tokens
          return run.mean_bill->total().si();
        case Objective::power:  // 700 W boards, two switch ports a GPU; times a PUE of 1.5
          return static_cast<double>(plan.gpus);
        default:
          return energy;
      }
    };
    for (std::size_t i = 1; i < plans.size(); ++i) {
      EXPECT_GE(value(plans[i]), value(plans[i - 1]) * (1 - 1e-9)) << core::to_word(objective);
    }
  }
}

// Of two sizes the larger is faster, the smaller takes less energy: both are on the front of step
// and energy, and each plan of the front takes less energy than the one before.
TEST(Objectives, TakesTheFrontOfTheObjectivesAskedFor) {
  auto scenario = priced();
  scenario.cluster.node.gpu.memory = core::Bytes(1e12);  // nobody recomputes
  scenario.search.nodes = {1, 2};
  PlanOptions options;
  options.objective = Objective::days;
  options.beside = {Objective::energy};
  std::vector<const Plan*> front;
  const auto result = search(scenario, options);
  for (const Plan& plan : result.plans) {
    if (plan.pareto) {
      front.push_back(&plan);
    }
  }
  ASSERT_GE(front.size(), 2U);
  EXPECT_EQ(front.front(), &result.plans.front());
  EXPECT_LT(front.size(), result.plans.size());
  for (std::size_t i = 1; i < front.size(); ++i) {
    EXPECT_LT(front[i]->campaign->mean_bill->energy, front[i - 1]->campaign->mean_bill->energy);
  }
}

// 16 GPUs of 700 W, two hosts and the switches, times 1.5; and shares of memory and goodput.
TEST(Objectives, KeepsLimitsOfPowerMemoryAndGoodput) {
  PlanOptions options;
  const double least = 16 * 700 * 1.5;
  options.limits.power = core::Watts(least);
  EXPECT_GT(count_of(search(priced(), options), "power"), 10);
  options.limits.power = core::Watts(2 * least);
  EXPECT_EQ(count_of(search(priced(), options), "power"), 0);
  options.limits = {};
  options.limits.headroom = 0.5;
  const auto roomy = search(priced(), options);
  EXPECT_GT(count_of(roomy, "headroom"), 0);
  ASSERT_FALSE(roomy.plans.empty());
  for (const Plan& plan : roomy.plans) {
    EXPECT_LE(plan.step.memory.peak, 0.5 * plan.step.memory.capacity);
  }
  options.limits = {};
  options.limits.goodput = 0.9999999;
  const auto strict = search(priced(), options);
  EXPECT_GT(count_of(strict, "goodput"), 0);
  // The nearest is at least as near as the best of the plans that no limit drops.
  double best = 0;
  for (const Plan& plan : search(priced(), {}).plans) {
    best = std::max(best, plan.campaign->result.goodput.p50);
  }
  const auto missed = std::find_if(strict.rejected.begin(), strict.rejected.end(),
                                   [](const Rejection& r) { return r.kind == "goodput"; });
  ASSERT_NE(missed, strict.rejected.end());
  EXPECT_GT(missed->distance, 0);
  EXPECT_LE(missed->distance, 1 - best / 0.9999999 + 1e-9);
}

// What feeds the machine: PUE of its prices times GPUs, hosts and switches.
TEST(Objectives, PowerOfAPlanCountsWhatTheBuildingTakes) {
  training::Scenario s = priced();
  const double fed = search(s, {}).plans.at(0).power.si();
  ASSERT_EQ(s.run.prices->pue, 1.5);
  s.run.prices->pue = 1;
  const double machine = search(s, {}).plans.at(0).power.si();
  EXPECT_NEAR(fed / machine, 1.5, 1e-12);
  EXPECT_GT(machine, 16 * 700);
}

// The fastest layout leaves less free than is asked for: another is simulated in its place, and
// each is counted once.
TEST(Objectives, LooksForHeadroomBeforeItSimulates) {
  PlanOptions one;
  one.keep = one.simulate = 1;
  const auto free = search(few_layouts(), one);
  const auto& memory = free.plans.at(0).step.memory;
  one.limits.headroom = 1 - 0.99 * (memory.peak / memory.capacity);
  const auto roomy = search(few_layouts(), one);
  ASSERT_EQ(roomy.plans.size(), 1U);
  EXPECT_LE(roomy.plans[0].step.memory.peak, 0.99 * memory.peak);
  EXPECT_EQ(rejected_of(roomy) + roomy.simulated, roomy.enumerated);
  const auto missed = std::find_if(roomy.rejected.begin(), roomy.rejected.end(),
                                   [](const Rejection& r) { return r.kind == "headroom"; });
  ASSERT_NE(missed, roomy.rejected.end());
  EXPECT_NE(missed->nearest.find("GiB more than"), std::string::npos) << missed->nearest;
}

// Two sizes miss the deadline, the smaller by more; a third has no layout at all, its batch being
// odd.
TEST(Objectives, TellsTheNearestMissOfAllSizes) {
  auto scenario = priced();
  PlanOptions options;
  options.nodes = {2, 1};
  options.limits.deadline = core::Seconds(100);
  const auto nearest = [&] {
    for (const Rejection& entry : search(scenario, options).rejected) {
      if (entry.kind == "deadline") {
        return entry.nearest;
      }
    }
    return std::string();
  };
  const std::string both = nearest();
  EXPECT_EQ(both.rfind("2 nodes: at least ", 0), 0U) << both;
  options.nodes = {2, 37};
  EXPECT_EQ(nearest(), both);
}

TEST(Objectives, SaysWhichPueALimitOfPowerTakes) {
  const auto held = [](const training::Scenario& scenario) {
    PlanOptions options;
    options.limits.power = core::Watts(1);
    const auto list = search(scenario, options).searched.held;
    return std::any_of(list.begin(), list.end(),
                       [](const SearchedField& field) { return field.key == "cluster.power.pue"; });
  };
  EXPECT_TRUE(held(few_layouts()));
  EXPECT_FALSE(held(priced()));
  PlanOptions options;
  options.limits.power = core::Watts(1);
  EXPECT_NE(search(priced(), options).rejected.at(0).reason.find("times a PUE of 1.50"),
            std::string::npos);
}

}  // namespace
}  // namespace headway::plan
