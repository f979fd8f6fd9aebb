// The flow model's error as width of an interval: an elasticity, by the table's traffic and size.
#include "sim/validation/compared/flow_model.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/compared/compared_runs.h"

namespace headway::validation {
namespace {

using core::Activity;
using core::CollectiveKind;
using testing::HasSubstr;

constexpr const char* kFabric = "test fabric";

std::vector<FlowModelRow> table() {
  return {{kFabric, "credits", "all_to_all", core::Bytes(1e4), 1.44},
          {kFabric, "credits", "all_to_all", core::Bytes(1e6), 1.0},
          {kFabric, "credits", "permutation", core::Bytes(1e4), 0.9},
          {kFabric, "credits", "bystander", core::Bytes(1e6), 4.16},
          {kFabric, "dcqcn", "all_to_all", core::Bytes(1e4), 18},
          {"another", "credits", "all_to_all", core::Bytes(1e4), 7}};
}

training::Scenario scenario_of_flows() {
  training::Scenario s;
  s.cluster.fabric.name = kFabric;
  return s;
}

/// A step of 10 s, 9 to 12, of which `share` waits for experts that exchange messages of this size.
training::StepResult step_of(double share, double message) {
  training::StepResult step;
  step.time = core::Seconds(10);
  step.interval_low = core::Seconds(9);
  step.interval_high = core::Seconds(12);
  step.breakdown[Activity::expert] = step.time * share;
  step.breakdown[Activity::compute] = step.time * (1 - share);
  step.calls = {{Activity::expert, CollectiveKind::all_to_all, core::Bytes(message)}};
  return step;
}

// A quarter of the step waits for what takes 1.44 times as long: the step takes 1.44^(1/4) times as
// long to first order, and only the upper end moves.
TEST(FlowModelError, IsTheElasticityOfTheStepInWhatItWaitsFor) {
  auto step = step_of(0.25, 1e4);
  widen_by_flow_model(scenario_of_flows(), table(), step);
  EXPECT_DOUBLE_EQ(step.interval_high.si(), 12 * std::pow(1.44, 0.25));
  EXPECT_DOUBLE_EQ(step.interval_low.si(), 9);
  ASSERT_EQ(step.assumptions.size(), 1U);
  EXPECT_THAT(
      step.assumptions.front().why,
      HasSubstr("all_to_all in messages of 10.0 kB takes 1.44 times as long by packets, and "
                "25 % of the step waits for it: the interval goes 9.5 % further up"));
  ASSERT_EQ(step.warnings.size(), 1U);
  EXPECT_THAT(step.warnings.front(),
              HasSubstr("fluid flows are more than 10 % off on test fabric under credits"));
  EXPECT_THAT(step.warnings.front(),
              HasSubstr("what is sent past an incast of 16 to one there takes up to 4.16 times"));
}

// Half way between the logarithms of 10 kB and 1 MB: the root of 1.44; level beyond both ends.
TEST(FlowModelError, LiesBetweenTheSizesOfTheTable) {
  const auto times = [](double message) {
    const auto effects = flow_model_effects(scenario_of_flows(), step_of(0.5, message), table());
    return effects.empty() ? 1.0 : effects.front().times;
  };
  EXPECT_NEAR(times(1e5), 1.2, 1e-12);
  EXPECT_EQ(times(1), 1.44);
  EXPECT_EQ(times(1e9), 1);
}

// All groups of a step make a call at once: where the table has rows of several at once, they
// count.
TEST(FlowModelError, IsThatOfTheFullLoad) {
  auto rows = table();
  rows.push_back({kFabric, "credits", "all_to_all", core::Bytes(1e4), 2, 8});
  const auto effects = flow_model_effects(scenario_of_flows(), step_of(0.5, 1e4), rows);
  ASSERT_EQ(effects.size(), 1U);
  EXPECT_EQ(effects.front().times, 2);
}

// What packets do faster moves the lower end.
TEST(FlowModelError, GoesDownWherePacketsAreFaster) {
  auto step = step_of(0, 1e4);
  step.breakdown[Activity::pipeline_p2p] = step.time * 0.1;
  step.calls = {{Activity::pipeline_p2p, CollectiveKind::send_receive, core::Bytes(1e4)}};
  widen_by_flow_model(scenario_of_flows(), table(), step);
  EXPECT_EQ(step.interval_high.si(), 12);
  EXPECT_DOUBLE_EQ(step.interval_low.si(), 9 * std::pow(0.9, 0.1));
}

TEST(FlowModelError, SaysNothingOfWhatItDoesNotKnowOrWhatDoesNotMatter) {
  const auto none = [](const training::Scenario& s, const training::StepResult& step) {
    return flow_model_effects(s, step, table()).empty();
  };
  EXPECT_FALSE(none(scenario_of_flows(), step_of(0.25, 1e4)));
  EXPECT_TRUE(none(scenario_of_flows(), step_of(1e-3, 1e4)));  // 0.04 % of the step
  auto other = scenario_of_flows();
  other.cluster.fabric.name = "not in the table";
  EXPECT_TRUE(none(other, step_of(0.25, 1e4)));
  auto swift = scenario_of_flows();
  swift.cluster.fabric.packets = network::PacketSpec{};
  swift.cluster.fabric.packets->transport = network::Transport::swift;
  EXPECT_TRUE(none(swift, step_of(0.25, 1e4)));
  auto by_packets = step_of(0.25, 1e4);
  by_packets.packets = training::PacketStep{};
  EXPECT_TRUE(none(scenario_of_flows(), by_packets));
  auto alone = step_of(0.25, 1e4);
  widen_by_flow_model(scenario_of_flows(), {}, alone);
  EXPECT_TRUE(alone.assumptions.empty());
}

// The table that is shipped: every fabric of it is one of the catalogue, by its own name, and a
// collective's message is what one of its 64 ranks sends another.
TEST(FlowModelError, ReadsTheTableOfTheCatalogue) {
  const auto rows = load_flow_model({HEADWAY_SOURCE_DIR "/configs"});
  ASSERT_EQ(rows.size(), 288U);
  EXPECT_EQ(rows.front().fabric, "EFA");
  EXPECT_EQ(rows.front().message.si(), 65536.0 * 16 / 64);
  EXPECT_EQ(rows[2].traffic, "permutation");
  EXPECT_EQ(rows[2].message.si(), 65536);
  EXPECT_EQ(rows[1].times, 1.239);
  EXPECT_TRUE(load_flow_model({HEADWAY_SOURCE_DIR "/docs"}).empty());
  const auto known = load_known_errors({HEADWAY_SOURCE_DIR "/configs"});
  EXPECT_EQ(known.flow_model.size(), rows.size());
  EXPECT_FALSE(known.runs.empty());
}

}  // namespace
}  // namespace headway::validation
