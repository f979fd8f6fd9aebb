// What racks and building leave the boards, by hand; what follows from it in both tiers.
#include "sim/training/power/power_fit.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/analytic/analytic.h"
#include "sim/gpu/closed_form.h"
#include "sim/price/spec.h"
#include "sim/training/power/machine_power.h"
#include "sim/training/step/step.h"

#include "tests/training/answers.h"
#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Watts;
using ::testing::HasSubstr;

constexpr double kKilo = 1e3;

/// Eight nodes of eight GPUs of 700 W (70 W at rest) and 2 kW beside them, in racks of four; ports
/// of switches 10 W each.
Scenario fed() {
  Scenario s = eight_nodes();
  s.cluster.node.gpu.idle_power = Watts(70);
  s.cluster.node.host_power = Watts(2000);
  s.cluster.fabric.tiers = 2;
  s.cluster.fabric.leaf_oversubscription = 1;
  s.cluster.fabric.switch_power_per_port = Watts(10);
  s.run.recovery.rack_nodes = 4;
  s.cluster.power.emplace();
  return s;
}

Scenario with_rack(double watts) {
  Scenario s = fed();
  s.cluster.power->rack = Watts(watts);
  return s;
}

Scenario with_facility(double watts) {
  Scenario s = fed();
  s.cluster.power->facility = Watts(watts);
  return s;
}

double board_of(const Scenario& s) { return check(s).scenario().cluster.node.gpu.power.si(); }

// A PUE alone limits nothing, and counts in power and bill.
TEST(PowerFit, APueAloneIsTaken) {
  Scenario s = fed();
  s.cluster.power->pue = 1.3;
  const CheckedScenario checked = check(s);
  EXPECT_EQ(pue_of(checked.scenario()), 1.3);
  EXPECT_FALSE(power_fit(checked.scenario()));
  EXPECT_EQ(board_of(s), 700);
}

// The building's PUE is that of its feed, else of the prices, else 1, which is said.
TEST(PowerFit, TakesThePueOfTheFeedBeforeThatOfThePrices) {
  Scenario s = with_facility(1e6);
  EXPECT_EQ(pue_of(s), 1);
  const auto says_one = [](const Scenario& scenario) {
    const auto list = simulate_step(check(scenario)).assumptions;
    return std::any_of(list.begin(), list.end(),
                       [](const Assumption& a) { return a.key == "cluster.power.pue"; });
  };
  EXPECT_TRUE(says_one(s));
  s.run.prices.emplace();
  EXPECT_EQ(pue_of(s), 1.25);
  s.cluster.power->pue = 1.1;
  EXPECT_EQ(pue_of(s), 1.1);
  s.run.prices.reset();
  EXPECT_FALSE(says_one(s));
  EXPECT_DOUBLE_EQ(power_fit(s)->facility->drawn().si(), 1.1 * peak_power(s).si());
}

// A rack of four nodes draws 32 x 70 + 4 x 2,000 = 10,240 W while its GPUs idle. Of 26,240 W
// 16,000 are left, 500 W a GPU: boards run at 570 W. A spare draws 8 x 70 + 2,000 = 2,560 W.
TEST(PowerFit, ARackLeavesItsBoardsWhatIsAboveIdle) {
  Scenario s = with_rack(26'240);
  EXPECT_DOUBLE_EQ(board_of(s), 570);
  s.run.recovery.rack_spares = 1;
  s.cluster.power->rack = Watts(26'240 + 2'560);
  EXPECT_DOUBLE_EQ(board_of(s), 570);
  const PowerFit fit = *power_fit(s);
  EXPECT_EQ(fit.lowered_by, PowerLimit::rack);
  EXPECT_DOUBLE_EQ(fit.rack()->drawn().si(), 28'800);
  EXPECT_NEAR(fit.rack()->headroom().si(), 0, 1e-9);
  // A job of three nodes fills no rack: 24 x 70 + 3 x 2,000 + 2,560 = 10,240 W as well, so that of
  // 28,800 W 18,560 are left, 773 W a GPU.
  s.cluster.nodes = 3;
  EXPECT_DOUBLE_EQ(power_fit(s)->rack()->highest_board().si(), 70 + 18'560.0 / 24);
}

// 8 nodes and 2 spares: 80 GPUs idle at 5,600 W, hosts draw 20,000 W; 80 cards have 80 + 160 ports
// of 10 W. So 28,000 W, and with 400 W more a GPU that trains 53,600 W, at a PUE of 1.25 67,000 W.
TEST(PowerFit, ABuildingLeavesThemWhatIsAboveIdleByItsPue) {
  Scenario s = with_facility(67'000);
  s.cluster.spares = 2;
  s.run.prices.emplace().pue = 1.25;
  EXPECT_DOUBLE_EQ(board_of(s), 470);
  const PowerFit fit = *power_fit(check(s).scenario());
  EXPECT_EQ(fit.lowered_by, PowerLimit::facility);
  EXPECT_DOUBLE_EQ(fit.facility->drawn().si(), 67'000);
  EXPECT_DOUBLE_EQ(fit.facility->drawn() / peak_power(check(s).scenario()), 1.25);
  EXPECT_DOUBLE_EQ(fit.boards.front().own.si(), 700);
  EXPECT_EQ(boards_in_words(s, fit) + "; " + feeds_in_words(fit),
            "boards limited to 470 W of 700 W; the building draws 67 of 67 kW, PUE 1.25");
}

TEST(PowerFit, TheTighterOfBothHolds) {
  Scenario s = with_rack(26'240);  // 570 W
  // (64 x 70 + 8 x 2,000 + 192 ports x 10) + 64 x 400 = 48,000 W
  s.cluster.power->facility = Watts(48'000);
  PowerFit fit = *power_fit(check(s).scenario());
  EXPECT_DOUBLE_EQ(fit.boards.front().board.si(), 470);
  EXPECT_EQ(fit.lowered_by, PowerLimit::facility);
  EXPECT_DOUBLE_EQ(fit.rack()->headroom().si(), 32 * 100);  // 100 W a GPU below what it feeds
  s.cluster.power->facility = Watts(48'000 + 64 * 150);     // 620 W
  fit = *power_fit(check(s).scenario());
  EXPECT_DOUBLE_EQ(fit.boards.front().board.si(), 570);
  EXPECT_EQ(fit.lowered_by, PowerLimit::rack);
  EXPECT_DOUBLE_EQ(fit.facility->headroom().si(), 64 * 50);
}

// Meta (arXiv 2605.24461): 83,000 GB200 share 150 MW. All that the building draws beside a board
// is 847 W a GPU, so of 150e6 / 83,000 = 1,807.229 W a board has 960.229 W; they provision 960 W.
// Four GPUs a node: 20,750 nodes with 3,388 W beside their boards.
TEST(PowerFit, MetasBuildingFeedsTheBoardsWhatTheyProvision) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 20'750;
  s.cluster.node.gpus = 4;
  s.cluster.node.scale_up.domain_gpus = 4;
  s.cluster.node.nic.count = 4;
  s.cluster.node.gpu.power = Watts(1200);
  s.cluster.node.host_power = Watts(4 * 847);
  s.cluster.fabric.switch_power_per_port = Watts(0);
  s.cluster.power.emplace().facility = Watts(150e6);
  const PowerFit fit = *power_fit(s);
  EXPECT_NEAR(fit.boards.front().board.si(), 150e6 / 83'000 - 847, 1e-9);
  EXPECT_NEAR(fit.boards.front().board.si(), 960, 0.3);
  EXPECT_THAT(feeds_in_words(fit), HasSubstr("the building draws 150 of 150 MW, PUE 1"));
}

// A limit that binds nothing changes no bit of a step; it is printed.
TEST(PowerFit, WhatIsFedInFullIsAsWithoutALimit) {
  Scenario s = with_rack(32 * 700 + 4 * 2000);  // exactly what boards at their limit draw
  s.cluster.power->facility = Watts(1e6);
  s.cluster.power->pue = 1;
  const StepResult step = simulate_step(check(s));
  EXPECT_EQ(check(s).scenario().cluster.node.gpu.own_power, Watts(0));
  EXPECT_EQ(power_fit(s)->lowered_by, PowerLimit::none);
  s.cluster.power.reset();
  const StepResult alone = simulate_step(check(s));
  EXPECT_EQ(step.result_digest, alone.result_digest);
  EXPECT_EQ(step.time, alone.time);
  EXPECT_EQ(step.assumptions.size(), alone.assumptions.size() + 1);
}

// The lowered limit is that of the key: 570 of 700 W, products at sqrt(500 / 630) of their rate.
TEST(PowerFit, ALoweredLimitIsThatOfTheKey) {
  const Scenario s = with_rack(26'240);
  Scenario key = s;
  key.cluster.power.reset();
  key.cluster.node.gpu.power = Watts(570);
  key.cluster.node.gpu.sustained.power = Watts(700);
  const CheckedScenario capped = check(s), keyed = check(key);
  const auto& gpu = capped.scenario().cluster.node.gpu;
  EXPECT_DOUBLE_EQ(gpu::power_share(gpu, gpu.sustained), std::sqrt(500.0 / 630));
  EXPECT_EQ(simulate_step(capped).result_digest, simulate_step(keyed).result_digest);
  EXPECT_EQ(analytic::AnalyticTier(capped.scenario()).evaluate(capped).time,
            analytic::AnalyticTier(key).evaluate(keyed).time);
}

// Shares of a profile that names no limit hold at the GPU's own, not at the lowered one.
TEST(PowerFit, MeasuredSharesHoldAtTheLimitBefore) {
  Scenario s = with_rack(26'240);
  s.calibration.kernels = gpu::SustainedShares{};
  const auto& gpu = check(s).scenario().cluster.node.gpu;
  EXPECT_DOUBLE_EQ(gpu::power_share(gpu, *check(s).scenario().calibration.kernels),
                   std::sqrt(500.0 / 630));
}

TEST(PowerFit, LessPowerIsNeverFasterInBothTiers) {
  core::Seconds before(0), analytic_before(0);
  for (double watts = 31'000; watts >= 16'640; watts -= 1'436) {
    const CheckedScenario checked = check(with_rack(watts));
    const auto time = simulate_step(checked).time;
    const auto analytic = analytic::AnalyticTier(checked.scenario()).evaluate(checked).time;
    EXPECT_GE(time, before) << watts;
    EXPECT_GE(analytic, analytic_before) << watts;
    EXPECT_NEAR(analytic / time, 1, 0.05) << watts;
    before = time;
    analytic_before = analytic;
  }
  EXPECT_GT(before, 1.3 * simulate_step(check(with_rack(31'000))).time);  // it did bind
}

TEST(PowerFit, CheckingTwiceLowersOnce) {
  const Scenario once = check(with_rack(26'240)).scenario();
  const Scenario twice = check(once).scenario();
  EXPECT_EQ(once, twice);
  EXPECT_DOUBLE_EQ(power_fit(twice)->boards.front().own.si(), 700);
  EXPECT_EQ(power_fit(twice)->lowered_by, PowerLimit::rack);
}

/// Half of the nodes with boards of 400 W (50 W at rest), 1 kW beside them.
Scenario two_kinds() {
  Scenario s = fed();
  NodeSpec old = s.cluster.node;
  old.name = "old node";
  old.gpu.power = Watts(400);
  old.gpu.idle_power = Watts(50);
  old.host_power = Watts(1000);
  s.cluster.other_nodes = {{4, old}};
  s.parallelism.pipeline = 2;
  return s;
}

// A rack holds nodes of one kind: 26,240 W are 570 W a board of the first, and above the 32 x 400 +
// 4,000 = 16,800 W of the second; 13,600 W are 50 + 8,000 / 32 = 300 W of the second.
TEST(PowerFit, RacksOfUnequalNodesAreEachOfOneKind) {
  Scenario s = two_kinds();
  s.cluster.power->rack = Watts(26'240);
  Scenario checked = check(s).scenario();
  EXPECT_DOUBLE_EQ(checked.cluster.node.gpu.power.si(), 570);
  EXPECT_DOUBLE_EQ(checked.cluster.other_nodes[0].node.gpu.power.si(), 400);
  EXPECT_DOUBLE_EQ(power_fit(checked)->rack()->drawn().si(), 26'240);
  // The building's sum: 32 x (570 - 70) + 32 x (400 - 50) above what all draw at rest.
  s.cluster.power->facility = Watts(1e6);
  const Feed building = *power_fit(check(s).scenario())->facility;
  EXPECT_NEAR((building.drawn() - building.standing).si(), 32 * 500 + 32 * 350, 1e-6);
  EXPECT_NEAR(building.drawn() / peak_power(check(s).scenario()), 1, 1e-12);

  s.cluster.power->rack = Watts(13'600);
  s.cluster.power->facility.reset();
  EXPECT_THAT(complaint(s), HasSubstr("13.6 kW feed a rack of 4 nodes of test node with boards at "
                                      "175 W, and none can be limited to less than 200 W"));
  s.cluster.power->least_board = Watts(150);
  checked = check(s).scenario();
  EXPECT_DOUBLE_EQ(checked.cluster.node.gpu.power.si(), 175);
  EXPECT_DOUBLE_EQ(checked.cluster.other_nodes[0].node.gpu.power.si(), 300);
}

TEST(PowerFit, ABuildingOfUnequalNodesIsFedOrRefused) {
  Scenario s = two_kinds();
  const double drawn = peak_power(s).si();
  s.cluster.power->facility = Watts(drawn + 1);
  EXPECT_EQ(complaint(s), "");
  s.cluster.power->facility = Watts(drawn - 1'000);
  EXPECT_THAT(complaint(s), HasSubstr("which of several kinds of boards is lowered for it is not "
                                      "modelled; set the power of their GPUs"));
}

// 700 W: 22,400 + 8,000 = 30.4 kW a rack, 7.6 kW a node; of 26.24 kW three nodes.
TEST(PowerFit, WhatIsNotLoweredIsRefusedWithWhatFits) {
  Scenario s = with_rack(26'240);
  s.cluster.power->excess = PowerExcess::refuse;
  EXPECT_THAT(
      complaint(s),
      HasSubstr("a rack of 4 nodes draws 30.4 kW with boards at 700 W, and 26.24 kW feed it: limit "
                "boards to 570 W (cluster.node.gpu.power), as 'excess: cap' does, or put at most 3 "
                "nodes in a rack (run.recovery.rack_nodes)"));
  s.cluster.power->rack = Watts(30'400);
  EXPECT_EQ(complaint(s), "");
  // 64 x 700 + 16,000 + 1,920 = 62.72 kW, 7.84 kW a node: 50 kW feed six.
  s = with_facility(50'000);
  s.cluster.power->excess = PowerExcess::refuse;
  EXPECT_THAT(
      complaint(s),
      HasSubstr(
          "the building of 8 nodes draws 62.72 kW with boards at 700 W, and 50 kW feed it: limit "
          "boards to 501 W (cluster.node.gpu.power), as 'excess: cap' does, or use at most 6 "
          "nodes (cluster.nodes)"));
}

// 2/7 of 700 W are 200 W: 32 x 200 + 8,000 = 14.4 kW a rack, 3.6 kW a node. 13 kW are 156 W a
// board and feed three nodes; 10 kW not even the 10.24 kW of a rack at rest.
TEST(PowerFit, BelowTheLowestLimitOfABoardItIsRefused) {
  EXPECT_DOUBLE_EQ(board_of(with_rack(14'400)), 200);
  EXPECT_THAT(
      complaint(with_rack(13'000)),
      HasSubstr(
          "13 kW feed a rack of 4 nodes with boards at 156 W, and none can be limited to less "
          "than 200 W (cluster.power.least_board, 2/7 of its own where absent): feed 14.4 kW or "
          "more, or put at most 3 nodes in a rack (run.recovery.rack_nodes)"));
  EXPECT_THAT(
      complaint(with_rack(10'000)),
      HasSubstr(
          "10 kW do not feed a rack of 4 nodes even while its GPUs idle, when it draws 10.24 kW: "
          "feed 14.4 kW or more, or put at most 2 nodes in a rack (run.recovery.rack_nodes)"));
  EXPECT_THAT(complaint(with_rack(3'000)), HasSubstr("choose another node: not even one is fed"));
  Scenario s = with_rack(13'000);
  s.cluster.power->least_board = Watts(150);
  EXPECT_DOUBLE_EQ(board_of(s), 70 + 2'760.0 / 32);
}

TEST(PowerFit, WhatIsNotModelledIsRefusedByName) {
  EXPECT_THAT(complaint(fed()), HasSubstr("neither 'rack' nor 'facility' is written"));
  Scenario s = with_rack(6'000);
  s.run.recovery.rack_nodes = 1;
  EXPECT_THAT(complaint(s), HasSubstr("a rack of one node: set 'run.recovery.rack_nodes'"));
  EXPECT_THAT(complaint(s), HasSubstr("limit its boards to 500 W (cluster.node.gpu.power)"));
  s = with_rack(40'000);
  s.run.recovery.rack_nodes = 1;
  EXPECT_THAT(complaint(s), HasSubstr("its boards are fed at their 700 W: leave out 'rack'"));
  s = with_facility(60 * kKilo);
  s.cluster.sites.emplace();
  s.cluster.occupancy.emplace().nodes = 16;
  EXPECT_THAT(complaint(s), HasSubstr("the buildings of several sites is not modelled"));
  EXPECT_THAT(complaint(s), HasSubstr("jobs of others (cluster.occupancy) draw from too is not"));
}

}  // namespace
}  // namespace headway::training
