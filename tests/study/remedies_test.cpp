#include "sim/study/verdict/remedies.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/training/power/power_fit.h"
#include "sim/training/step/step.h"

#include "tests/study/sample_report.h"

namespace headway::study {
namespace {

using core::Activity;
using core::Seconds;

TEST(Remedies, LossesOfTheStepAreBoundsLargestFirst) {
  // Of a step of 4 s the mean rank has 0.75 s of bubble and 0.25 s of data: 18.75 % and 6.25 %. The
  // longest path has 0.5 s of data, 12.5 %: what others wait for, the mean does not show.
  const auto list = remedies(sample_report());
  ASSERT_EQ(list.size(), 2U);
  EXPECT_THAT(list[0].change, testing::StartsWith("the pipeline bubble: more micro-batches"));
  EXPECT_DOUBLE_EQ(list[0].gain, 0.1875);
  EXPECT_EQ(list[0].brings, "at most 18.8 % of the step");
  EXPECT_TRUE(list[0].at_most);
  EXPECT_DOUBLE_EQ(list[1].gain, 0.125);
  EXPECT_EQ(list[1].brings, "at most 12.5 % of the step (its longest path)");
}

// A step without its path has no bound: 0.25 of 4 s of the mean rank are about what data brings.
TEST(Remedies, WithoutThePathNothingIsABound) {
  auto report = sample_report();
  report.step.critical_path = {};
  const auto list = remedies(report);
  EXPECT_EQ(list[1].brings, "about 6.25 % of the step");
  EXPECT_FALSE(list[1].at_most);
}

/// The step of the largest example, changed.
RunReport report_of(const std::vector<std::string>& sets) {
  const auto loaded =
      config::load_scenario(HEADWAY_SOURCE_DIR "/configs/scenarios/llama-3.1-405b-16k-h100.yaml",
                            {{HEADWAY_SOURCE_DIR "/configs"}, sets});
  const auto checked = training::check(loaded.scenario, loaded.marks);
  RunReport report;
  report.scenario = checked.scenario();
  report.step = training::simulate_step(checked);
  return report;
}

/// The bounds of all losses that `what` shortens, together.
double bound_of(const RunReport& report, const std::string& what) {
  double sum = 0;
  for (const Remedy& remedy : remedies(report, 20)) {
    sum += remedy.at_most && remedy.change.find(what) != std::string::npos ? remedy.gain : 0;
  }
  return sum;
}

// Ranks of the last stage alone wait for gradients, and all others for them: 1.4 % of the mean
// rank, 21 % of the longest path. Machines of ten and a hundred times the rate gain no more than is
// said.
TEST(Remedies, NoFasterMachineGainsMoreThanTheBound) {
  for (const bool plain : {false, true}) {
    const auto with = [&](std::vector<std::string> sets) {
      if (plain) {
        sets.insert(sets.end(), {"parallelism.virtual=1", "parallelism.schedule=1f1b"});
      }
      return report_of(sets);
    };
    const auto now = with({});
    const auto network =
        with({"cluster.node.nic.bandwidth=500 GB/s", "cluster.fabric.link_bandwidth=500 GB/s"});
    const auto nvlink = with({"cluster.node.scale_up.bandwidth=45000 GB/s"});
    const double by_network = 1 - network.step.time / now.step.time;
    const double by_nvlink = 1 - nvlink.step.time / now.step.time;
    EXPECT_GT(by_network, 0.05);
    EXPECT_GT(by_nvlink, 0.1);
    EXPECT_LE(by_network, bound_of(now, "a faster network"));
    EXPECT_LE(by_nvlink, bound_of(now, "a faster NVLink domain"));
  }
}

// Of 4 s the longest path has 3.2 s of data-parallel communication, but the mean rank computes for
// 2.4 s, launches and updates for 0.1 s each and has 0.4 s of fixed work: 3 s stay.
TEST(Remedies, NoStepGetsShorterThanWhatARankHasToDo) {
  auto report = sample_report();
  report.step.time = Seconds(4);
  report.step.breakdown = {};
  report.step.critical_path = {};
  report.step.breakdown[Activity::compute] = Seconds(2.4);
  report.step.breakdown[Activity::launch] = Seconds(0.1);
  report.step.breakdown[Activity::optimizer] = Seconds(0.1);
  report.step.breakdown[Activity::other] = Seconds(0.4);
  report.step.breakdown[Activity::data] = Seconds(1);
  report.step.critical_path[Activity::data] = Seconds(3.2);
  report.step.critical_path[Activity::other] = Seconds(0.8);
  const auto list = remedies(report);
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list[0].brings, "at most 25.0 % of the step");
  // Faster launches cannot take away what they are not: 0.1 of 4 s.
  report.step.critical_path[Activity::launch] = Seconds(0.1);
  EXPECT_NEAR(remedies(report)[1].gain, 0.025, 1e-12);
}

// Stages wait 0.13 s for the longest one and 0.75 s besides: 0.13 of 3.25 s are about 4 %.
TEST(Remedies, EqualStagesAreAnEstimate) {
  auto report = sample_report();
  report.step.breakdown[Activity::stage_imbalance] = Seconds(0.13);
  const auto list = remedies(report);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[2].brings, "about 4.00 % of the step");
  EXPECT_FALSE(list[2].at_most);
}

// ETTR 0.9 at 1,800 s, 0.95 at 600 s: the run takes 0.9 / 0.95 of its time, 5.26 % of 10 days less.
TEST(Remedies, TheBestIntervalComesBeforeBounds) {
  auto report = sample_report_with_campaign();
  report.campaign->advice.interval_curve = {
      {Seconds(600), 0.95, true}, {Seconds(1800), 0.9, true}, {Seconds(90), {}, true}};
  const auto list = remedies(report);
  EXPECT_EQ(list[0].change, "a checkpoint every 600 s of work, not 1,800 s");
  EXPECT_EQ(list[0].brings, "0.526 days less, ETTR +5.00 pts");
  EXPECT_NEAR(list[0].gain, 1 - 0.9 / 0.95, 1e-12);
  EXPECT_FALSE(list[0].at_most);
  // The bubble has 18.75 % of the step, which runs 90 % of the time.
  EXPECT_NEAR(list[1].gain, 0.9 * 0.1875, 1e-12);
}

TEST(Remedies, OfEarlierDetectionTheLeastThatGainsMost) {
  auto report = sample_report_with_campaign();
  report.campaign->advice.earlier_detection = {
      {Seconds(10), 0.001, 0, 0}, {Seconds(60), 0.09, 0, 0}, {Seconds(3600), 0.1, 0, 0}};
  EXPECT_EQ(remedies(report)[0].change, "failures noticed up to 60.0 s sooner");
  EXPECT_NEAR(remedies(report)[0].gain, 0.09 / 0.99, 1e-12);
}

TEST(Remedies, SparesOnlyWhereTheRunWaitsForThem) {
  auto report = sample_report_with_campaign();
  report.campaign->advice.spares = 6;
  report.campaign->advice.wait_target = 0.01;
  EXPECT_FALSE(remedies(report)[0].change.starts_with("6 spare nodes"));
  report.campaign->ledger[campaign::Account::wait] = 40 * 3600.0;
  const auto list = remedies(report);
  EXPECT_EQ(list[0].change, "6 spare nodes instead of 0");
  EXPECT_NEAR(list[0].gain, 0.8 - 0.01, 1e-12) << "40 of 50 hours";
}

// Boards of 700 W (70 W at rest) at 500 W: products run at sqrt(430 / 630) = 0.8262 of their rate,
// so of the 3.5 s in 4 that the longest path computes 1 - 0.8262 would be saved at most. A node of
// 8 boards and 2 kW is fed 6 kW and would draw 7.6, a building of two 12 kW times a PUE of 1
// with 15.2 to draw.
TEST(Remedies, PowerThatBoardsLackIsABound) {
  auto report = sample_report();
  auto& cluster = report.scenario.cluster;
  cluster.node.gpus = 8;
  cluster.node.host_power = core::Watts(2000);
  cluster.node.gpu.idle_power = core::Watts(70);
  cluster.node.gpu.power = core::Watts(700);
  cluster.fabric.switch_power_per_port = core::Watts(0);
  cluster.power.emplace().facility = core::Watts(12'000);
  training::limit_boards(report.scenario);
  const auto list = remedies(report);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[1].change, "3.2 kW more for the building: boards at 700 W, not 500 W");
  EXPECT_EQ(list[1].brings, "at most 15.2 % of the step (its longest path)");
  EXPECT_NEAR(list[1].gain, 0.875 * (1 - std::sqrt(430.0 / 630)), 1e-12);
  EXPECT_TRUE(list[1].at_most);
  cluster.node.gpu = {};
  cluster.node.gpu.power = core::Watts(400);  // fed in full
  EXPECT_EQ(remedies(report).size(), 2U);
}

// Of 1,000 s of the clock that are not idle spares 400 load: at most 40 %, before losses of the
// step (18.75 % of the half that is useful). What advice computes (spares, detection, lost steps)
// has no bound beside it, and what is below 0.2 % no line.
TEST(Remedies, LossesOfTheRunAreBounds) {
  using campaign::Account;
  auto report = sample_report_with_campaign();
  report.campaign->advice = {};
  report.campaign->ettr.mean = 0.5;
  auto& ledger = report.campaign->ledger;
  ledger = {};
  const auto account = [&](Account of) -> double& {
    return ledger.gpu_seconds[static_cast<std::size_t>(of)];
  };
  account(Account::useful) = 500;
  account(Account::load) = 400;
  account(Account::restart) = 1;
  account(Account::wait) = 49;
  account(Account::lost) = 50;
  account(Account::spare_idle) = 7000;
  const auto list = remedies(report, 20);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_THAT(list[0].change, testing::StartsWith("loading checkpoints: storage that reads"));
  EXPECT_EQ(list[0].brings, "at most 40.0 % of the wall clock");
  EXPECT_DOUBLE_EQ(list[0].gain, 0.4);
  EXPECT_TRUE(list[0].at_most);
  EXPECT_DOUBLE_EQ(list[1].gain, 0.09375);
}

// Nobody is told to do what he does: overlap that the profile has, states that are sharded.
TEST(Remedies, WhatTheScenarioHasIsNoAdvice) {
  auto report = sample_report();
  auto& framework = report.scenario.training.framework;
  const auto data = [&] {
    const auto list = remedies(report);
    const auto found = std::find_if(list.begin(), list.end(), [](const Remedy& remedy) {
      return remedy.change.starts_with("data-parallel");
    });
    return found == list.end() ? std::string() : found->way;
  };
  framework.data_overlap = true;
  EXPECT_THAT(data(), testing::StartsWith("more micro-batches a step"));
  framework.data_overlap = false;
  EXPECT_THAT(data(), testing::StartsWith("training.framework.data_overlap; more micro-batches"));
}

TEST(Remedies, APlanThatDoesNotFitHasNone) {
  auto report = sample_report();
  report.step.memory.fits = false;
  EXPECT_TRUE(remedies(report).empty());
}

// The wall clock ends the run: what is gained is work. 5.26 % of the time saved is 0.95 / 0.9 of
// the steps: 5.56 % more.
TEST(Remedies, WhereTheClockEndsTheRunMoreIsDone) {
  auto report = sample_report_with_campaign();
  report.scenario.run.until.emplace().wall = Seconds(864'000);
  report.campaign->steps.mean = 9000;
  report.campaign->tokens = 18e9;
  report.campaign->advice.interval_curve = {{Seconds(600), 0.95, true}, {Seconds(1800), 0.9, true}};
  EXPECT_EQ(remedies(report)[0].brings, "500 steps more (1.00 B tokens), ETTR +5.00 pts");
}

}  // namespace
}  // namespace headway::study
