#include "sim/plan/searched.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "sim/plan/search.h"
#include "sim/training/step/step.h"

#include "tests/plan/sample_scenario.h"

namespace headway::plan {
namespace {

using workload::Recompute;
using workload::RecomputePart;

const std::string* values_of(const std::vector<SearchedField>& fields, const std::string& key) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const SearchedField& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &found->values;
}

TEST(Searched, SaysOfEveryFieldWhetherItIsVariedOrHeld) {
  auto scenario = sample_scenario();
  const Searched fields = searched(scenario, {});
  for (const char* key : {"tensor", "pipeline", "virtual", "data", "micro_batch", "schedule",
                          "recompute", "first_stage_layers", "last_stage_layers"}) {
    EXPECT_NE(values_of(fields.varied, std::string("parallelism.") + key), nullptr) << key;
  }
  EXPECT_EQ(*values_of(fields.held, "parallelism.sharding"), "zero1");
  EXPECT_EQ(*values_of(fields.held, "parallelism.expert"), "1");
  EXPECT_EQ(*values_of(fields.held, "parallelism.offload_layers"), "auto");
  EXPECT_EQ(*values_of(fields.held, "cluster.nodes"), "2");
  for (const SearchedField& field : fields.varied) {
    EXPECT_EQ(values_of(fields.held, field.key), nullptr) << field.key;
  }
  scenario.parallelism.schedule = workload::ScheduleKind::zero_bubble_h1;
  const Searched other = searched(scenario, {2, 4});
  EXPECT_EQ(*values_of(other.held, "parallelism.schedule"), "zb-h1");
  EXPECT_EQ(*values_of(other.varied, "cluster.nodes"), "2, 4");
}

// Of a hashed fabric a plan's step is simulated with one hash only; whoever reads its interval is
// told.
TEST(Searched, SaysThatPlansOfAHashedFabricHaveOneHash) {
  auto scenario = sample_scenario();
  EXPECT_EQ(values_of(searched(scenario, {}).held, "run.seed"), nullptr);
  scenario.cluster.fabric.routing = network::Routing::ecmp;
  EXPECT_EQ(
      *values_of(searched(scenario, {}).held, "run.seed"),
      "1: one hash of the switches; intervals of steps cover no other, those of `headway run` "
      "do");
}

TEST(RecomputeLevels, HaveThePartsOfTheScenarioAndItsPeriod) {
  workload::ParallelismSpec layout;
  layout.recompute = Recompute::selective;
  layout.recompute_parts = {RecomputePart::mlp};
  layout.recompute_period = 2;
  const auto levels = recompute_levels(layout);
  ASSERT_EQ(levels.size(), 4U);
  EXPECT_EQ(levels[0].recompute, Recompute::none);
  EXPECT_TRUE(levels[0].recompute_parts.empty());
  EXPECT_EQ(levels[0].recompute_period, 1);
  EXPECT_EQ(levels[1], layout);
  EXPECT_EQ(levels[2].recompute_parts, layout.recompute_parts);
  EXPECT_EQ(levels[2].recompute_period, 1);
  EXPECT_EQ(levels[3].recompute, Recompute::full);
  EXPECT_TRUE(levels[3].recompute_parts.empty());
}

// The shipped DeepSeek-V3 scenario has such parts: the search stopped at "recompute_parts belongs
// to recompute: selective".
TEST(Search, RaisesRecomputeFromPartsToFull) {
  auto scenario = sample_scenario();
  scenario.parallelism.recompute = Recompute::selective;
  scenario.parallelism.recompute_parts = {RecomputePart::mlp};
  scenario.cluster.node.gpu.memory = core::Bytes(30e9);
  EXPECT_FALSE(search(scenario).plans.empty());
}

// The scenario recomputes all, and nothing has to be.
TEST(Search, TakesLessRecomputeThanTheScenario) {
  auto scenario = sample_scenario();
  scenario.parallelism.recompute = Recompute::full;
  const auto plans = search(scenario).plans;
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(plans.front().layout.recompute, Recompute::none);
  scenario.parallelism = plans.front().layout;
  scenario.parallelism.recompute = Recompute::full;
  EXPECT_LT(plans.front().step.time, 0.9 * training::simulate_step(training::check(scenario)).time);
}

}  // namespace
}  // namespace headway::plan
