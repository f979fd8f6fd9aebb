// Moves to spares, spares of a rack, nodes that are retired or cured, the tax of fault tolerance
// and as many trials as a mean needs; by hand arithmetic and by closed form.
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/campaign/job/spare_pool.h"
#include "sim/campaign/resolve/resolve.h"
#include "sim/campaign/trials.h"
#include "sim/core/statistics.h"
#include "sim/training/step/step.h"

#include "tests/campaign/fixture.h"
#include "tests/training/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using core::Tick;
using failures::Node;
using failures::SpareChoice;

TrialResult trial_of(const JobModel& model, std::uint32_t trial = 0) {
  return run_trial(model, JobTicks(model), trial);
}

JobModel with_migration(std::int64_t spares) {
  JobModel model = small_job();
  model.spare_nodes = spares;
  model.recovery.migration = failures::MigrationSpec{Seconds(40), 0, {}};
  return model;
}

// Saves stall the job from 100 to 110 s and from 210 to 220 s: at 250 s it has done 230 s of work,
// 32 steps of 7 s and 6 s of the next. D = 5 s, then 40 s, and nothing is diagnosed or loaded.
TEST(Migration, LosesTheStepUnderWay) {
  JobModel model = with_migration(1);
  model.hazards = {fault_at("node", 250)};
  const TrialResult result = trial_of(model);
  EXPECT_EQ(result[Account::lost], ticks(6));
  EXPECT_EQ(result[Account::detect], ticks(5));
  EXPECT_EQ(result[Account::restart], ticks(40));
  EXPECT_EQ(result[Account::diagnose] + result[Account::load] + result[Account::wait], 0);
  EXPECT_EQ(result.interruptions[0], 1);
}

TEST(Migration, OfAFaultThatWasForeseenLosesNothing) {
  JobModel model = with_migration(1);
  model.hazards = {fault_at("node", 250)};
  model.hazards[0].foreseen = 1;
  const TrialResult result = trial_of(model);
  EXPECT_EQ(result[Account::lost] + result[Account::detect], 0);
  EXPECT_EQ(result[Account::restart], ticks(40));
}

TEST(Migration, WithoutAReadySpareIsARestart) {
  JobModel model = with_migration(1);
  // The spare is gone, the first node is in repair: D = 5 + 6 s, a wait, 7 s, R = 15 + 20 + 5 s,
  // and back to the save before.
  model.hazards = {fault_at("node", 250), fault_at("node again", 400)};
  model.hazards[1].foreseen = 1;
  const TrialResult result = trial_of(model);
  EXPECT_EQ(result[Account::detect], ticks(5 + 5));
  EXPECT_EQ(result[Account::diagnose], ticks(6));
  EXPECT_EQ(result[Account::restart], ticks(40 + 7 + 15 + 5));
  EXPECT_EQ(result[Account::load], ticks(20));
  EXPECT_GT(result[Account::wait], 0);
}

TEST(Migration, OnAFalseAlarmLeavesAHealthyNode) {
  JobModel model = with_migration(1);
  model.recovery.retest = Seconds(50);
  failures::Hazard alarm = fault_at("alarm", 250);
  alarm.effect = failures::Effect::false_alarm;
  alarm.foreseen = 1;
  // The node is back after its test of 50 s, in time for the second fault 150 s later: nobody
  // waits, where a repair would take 1,000 s.
  model.hazards = {alarm, fault_at("node", 400)};
  const TrialResult result = trial_of(model);
  EXPECT_EQ(result[Account::restart], ticks(40 + 40));
  EXPECT_EQ(result[Account::wait] + result[Account::diagnose], 0);
}

TEST(Migration, OnAFalseAlarmWithoutASpareStaysWhereItIs) {
  JobModel model = with_migration(0);
  failures::Hazard alarm = fault_at("alarm", 250);
  alarm.effect = failures::Effect::false_alarm;
  alarm.foreseen = 1;
  model.hazards = {alarm};
  EXPECT_EQ(trial_of(model).wall, ticks(1000 + 10 * 10 + 30));
}

TEST(Migration, IsNotForFaultsThatLoseNoNode) {
  JobModel model = with_migration(1);
  model.hazards = {fault_at("crash", 250, 0)};
  EXPECT_EQ(trial_of(model)[Account::load], ticks(20));
}

// Failures strike while steps run, lost ones included: of W + n s / 2 at a rate r, n = r W / (1 -
// r s / 2) if a failure loses half a step on average; each costs D + S more.
TEST(Migration, AgreesWithItsClosedForm) {
  constexpr double kWork = 500'000;
  constexpr double kRate = 1e-3;
  constexpr double kStep = 100;
  JobModel model = with_migration(1'000'000);
  model.end.work = Seconds(kWork);
  model.interval = Seconds(0);
  model.step = Seconds(kStep);
  model.stall = model.persist = Seconds(0);
  failures::Hazard hazard;
  hazard.name = "node";
  hazard.rate = core::PerSecond(kRate);
  model.hazards = {hazard};
  core::Moments wall;
  for (std::uint32_t trial = 0; trial < 200; ++trial) {
    wall.add(core::Clock::campaign().to_seconds(trial_of(model, trial).wall).si());
  }
  const double failures = kRate * kWork / (1 - kRate * kStep / 2);
  const double expected = kWork + failures * (kStep / 2 + 5 + 40);
  EXPECT_NEAR(wall.mean(), expected, 4 * wall.standard_error());
  EXPECT_LT(4 * wall.standard_error(), 0.01 * expected);  // would catch 1 %
}

// A tenth of a step of 7 s on every step: 100 s on 1,000 s of work, and nothing is degraded.
TEST(StepTax, HasAnAccountOfItsOwn) {
  JobModel model = small_job();
  model.tax = Seconds(0.7);
  const TrialResult result = trial_of(model);
  EXPECT_NEAR(static_cast<double>(result[Account::protection]), static_cast<double>(ticks(100)),
              20);  // rounded once a segment
  EXPECT_LE(result[Account::degraded], 20);
  EXPECT_EQ(result[Account::useful], ticks(1000));
}

TEST(StepTax, IsKeptApartFromSlowParts) {
  JobModel model = small_job();
  model.tax = Seconds(0.7);
  model.recovery.slow_part = failures::SlowPart::keep;
  // From the first moment on half as fast: 1,000 s more, which are degraded, and 100 s of tax.
  model.hazards = {slow_at("gpu", 0, failures::Effect::slow_gpu, 0.5)};
  const TrialResult result = trial_of(model);
  EXPECT_NEAR(static_cast<double>(result[Account::protection]), static_cast<double>(ticks(100)),
              20);
  EXPECT_NEAR(static_cast<double>(result[Account::degraded]), static_cast<double>(ticks(1000)), 40);
}

// Two nodes in one rack with one spare: the second fault finds none. With three more nodes, a
// whole rack and its spare, it is exchanged; the third finds the new rack's spare; the fourth
// waits.
TEST(RackSpares, AreExchangedWithTheirRack) {
  JobModel model = small_job();
  model.end.work = Seconds(2000);
  model.recovery.repair = Seconds(100'000);
  model.recovery.retest = Seconds(100'000);
  model.recovery.rack_nodes = 2;
  model.recovery.rack_spares = 1;
  model.spare_nodes = 1 + 3;
  model.hazards = {fault_at("first", 150), fault_at("second", 400), fault_at("third", 700)};
  EXPECT_EQ(trial_of(model)[Account::wait], 0);
  model.hazards.push_back(fault_at("fourth", 1000));
  EXPECT_GT(trial_of(model)[Account::wait], 0);
  model.spare_nodes = 1 + 2;  // too few for a rack with its spare
  model.hazards.resize(2);
  EXPECT_GT(trial_of(model)[Account::wait], 0);
}

TEST(RackSpares, ComeBackToTheirOwnRackOnly) {
  Spares spares(SpareChoice::first_ready, 2);
  const auto old = spares.address_of(1);
  spares.add({7, 0}, old);
  spares.add({8, 0}, spares.address_of(0));
  EXPECT_EQ(spares.of(1).ready(), 1U);
  const auto left = spares.exchange(1);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].lemon, 7U);
  spares.add({9, 0}, old);  // repaired after its rack has gone
  EXPECT_EQ(spares.of(1).ready(), 0U);
  EXPECT_EQ(spares.anywhere().ready(), 1U);
  spares.add({10, 0}, spares.address_of(1));
  EXPECT_EQ(spares.of(1).ready(), 1U);
  EXPECT_EQ(spares.of(0).ready(), 1U);
}

/// Share of the time that two racks with one spare each stand still: the chain of (nodes away of
/// the first, of the second), each below 3, that fails at `up` a rack while neither is short and
/// repairs at `down` a node away. Solved by iterating its balance.
double short_share(double up, double down) {
  std::array<std::array<double, 3>, 3> p{};
  p[0][0] = 1;
  const double dt = 0.1 / (2 * up + 4 * down);
  for (int round = 0; round < 20'000; ++round) {
    auto next = p;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const auto move = [&](double rate, std::size_t a, std::size_t b) {
          next[i][j] -= rate * dt * p[i][j];
          next[a][b] += rate * dt * p[i][j];
        };
        if (i < 2 && j < 2) {
          move(up, i + 1, j);
          move(up, i, j + 1);
        }
        if (i > 0) {
          move(static_cast<double>(i) * down, i - 1, j);
        }
        if (j > 0) {
          move(static_cast<double>(j) * down, i, j - 1);
        }
      }
    }
    p = next;
  }
  double waits = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    waits += p[2][i] + (i < 2 ? p[i][2] : 0);
  }
  return waits;
}

TEST(RackSpares, OfTwoRacksAgreeWithTheirMarkovChain) {
  constexpr double kRepair = 1000;
  constexpr double kRackRate = 4e-4;
  JobModel model = small_job();
  model.gpus = 8 * 8;  // two racks of four nodes
  model.end = {.work = {}, .wall = Seconds(2e6)};
  model.interval = model.stall = model.persist = Seconds(0);
  model.step = Seconds(1e-3);
  model.recovery = JobRecovery::at_once();
  model.recovery.repair = Seconds(kRepair);
  model.recovery.rack_nodes = 4;
  model.recovery.rack_spares = 1;
  model.spare_nodes = 2;
  failures::Hazard hazard;
  hazard.name = "node";
  hazard.rate = core::PerSecond(2 * kRackRate);
  model.hazards = {hazard};
  core::Moments waiting;
  for (std::uint32_t trial = 0; trial < 100; ++trial) {
    const TrialResult result = trial_of(model, trial);
    waiting.add(static_cast<double>(result[Account::wait]) / static_cast<double>(result.wall));
  }
  const double expected = short_share(kRackRate, 1 / kRepair);
  EXPECT_NEAR(waiting.mean(), expected, 4 * waiting.standard_error());
  EXPECT_LT(4 * waiting.standard_error(), 0.05 * expected);
}

TEST(SparePool, TakesByItsChoice) {
  const auto taken = [](SpareChoice choice) {
    SparePool pool(choice);
    for (const Node node : {Node{1, 2}, Node{2, 1}, Node{3, 1}}) {
      pool.add(node);
    }
    std::vector<std::uint32_t> order;
    while (pool.ready() > 0) {
      order.push_back(pool.take().lemon);
    }
    return order;
  };
  EXPECT_EQ(taken(SpareChoice::first_ready), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(taken(SpareChoice::last_ready), (std::vector<std::uint32_t>{3, 2, 1}));
  EXPECT_EQ(taken(SpareChoice::fewest_failures), (std::vector<std::uint32_t>{2, 3, 1}));
}

TEST(FailureCounts, GoWithTheNode) {
  FailureCounts counts(2);
  counts.insert({5, 3}, 1);
  EXPECT_EQ(counts.remove({5, 0}, 1, true).failures, 4U);
  EXPECT_EQ(counts.remove({5, 0}, 1, false).failures, 3U);
  EXPECT_EQ(FailureCounts().remove({5, 0}, 1, true).failures, 0U);
}

TEST(Retirement, TakesNodesAwayUntilNoneIsLeft) {
  JobModel model = small_job();
  model.spare_nodes = 2;
  model.recovery.retire_after = 1;
  model.hazards = {fault_at("one", 150), fault_at("two", 400)};
  const TrialResult result = trial_of(model);
  EXPECT_EQ(result.retired, 2);
  EXPECT_EQ(result[Account::wait], 0);
  model.hazards.push_back(fault_at("three", 600));
  EXPECT_THROW(
      {
        try {
          trial_of(model);
        } catch (const HardlyEnds& error) {
          EXPECT_NE(std::string(error.what()).find("retire_after"), std::string::npos);
          throw;
        }
      },
      HardlyEnds);
  // A new node 300 s after the first was retired at 161 s: it is there at 461 s, before 600 s.
  model.recovery.retired_back = Seconds(300);
  EXPECT_EQ(trial_of(model)[Account::wait], 0);
  EXPECT_EQ(trial_of(model).retired, 3);
}

TEST(Retirement, WaitsForTheNthFailure) {
  JobModel model = small_job();
  model.gpus = 8;  // one node, whose spare comes back each time
  model.recovery.repair = Seconds(1e-6);
  model.recovery.retire_after = 2;
  model.recovery.retired_back = Seconds(100'000);
  model.hazards = {fault_at("one", 150), fault_at("two", 400)};
  const TrialResult result = trial_of(model);
  EXPECT_EQ(result.retired, 1);
  EXPECT_GT(result[Account::wait], ticks(90'000));
}

/// Two nodes, both lemons that strike every 1,000 s, and no spares: each comes back to its place.
JobModel all_lemons(double cured) {
  JobModel model = small_job();
  model.end.work = Seconds(20'000);
  model.recovery.repair = Seconds(10);
  failures::Hazard hazard;
  hazard.name = "lemon nodes";
  hazard.rate = core::PerSecond(2e-3);
  hazard.lemons = failures::LemonModel{1, core::PerSecond(1e-3), 0, cured, 2, 0};
  model.hazards = {hazard};
  return model;
}

TEST(Lemons, GiveWayToGoodNodesAfterSoManyFailures) {
  for (const int failures : {1, 3}) {
    JobModel model = all_lemons(0);
    model.hazards[0].lemons->evict_after = failures;
    EXPECT_EQ(trial_of(model).interruptions[0], 2 * failures);
  }
}

TEST(Lemons, AreCuredByRepairs) {
  EXPECT_EQ(trial_of(all_lemons(1)).interruptions[0], 2);
  EXPECT_GT(trial_of(all_lemons(0)).interruptions[0], 20);
  // Half the repairs find it: a lemon takes two on average, geometric.
  core::Moments strikes;
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    strikes.add(static_cast<double>(trial_of(all_lemons(0.5), trial).interruptions[0]));
  }
  EXPECT_NEAR(strikes.mean(), 2 / 0.5, 4 * strikes.standard_error());
  EXPECT_LT(strikes.standard_error(), 0.2);
}

TEST(Lemons, FailAgainAtTheEndOfTheRestartWhereAnotherNodeIsBlamed) {
  // As any other fault: with half the blames wrong a strike takes two stops on average, each with a
  // whole restart behind it. Another strike in a restart of 40 s has a chance of 0.1 %.
  JobModel model = all_lemons(0);
  model.end.work = Seconds(1e6);
  model.spare_nodes = 1;
  model.recovery.wrong_blame = 0.5;
  model.hazards[0].rate = core::PerSecond(2e-5);
  model.hazards[0].lemons->extra_rate = core::PerSecond(1e-5);
  double strikes = 0;
  double stops = 0;
  double loading = 0;
  for (std::uint32_t trial = 0; trial < 200; ++trial) {
    const TrialResult result = trial_of(model, trial);
    strikes += static_cast<double>(result.node_failures);
    stops += static_cast<double>(result.interruptions[0]);
    loading += static_cast<double>(result[Account::load]);
  }
  EXPECT_NEAR(stops / strikes, 2, 4 * std::sqrt(2 / strikes) + 0.01);  // geometric: variance 2
  EXPECT_NEAR(loading / static_cast<double>(ticks(20)) / stops, 1, 0.002);
  EXPECT_GT(strikes, 2000);
}

JobModel noisy() {
  JobModel model = small_job();
  failures::Hazard hazard;
  hazard.name = "crash";
  hazard.rate = core::PerSecond(2e-3);
  hazard.nodes_lost = 0;
  model.hazards = {hazard};
  return model;
}

TEST(Trials, GoOnUntilTheMeanIsKnown) {
  const JobModel model = noisy();
  StepTimes times;
  const auto few = run_trials_until(model, {30, 0.1}, 1, times);
  const auto more = run_trials_until(model, {30, 0.01}, 1, times);
  EXPECT_LE(mean_within(model, few), 0.1);
  EXPECT_LE(mean_within(model, more), 0.01);
  EXPECT_GT(more.size(), few.size());
  // Not many more than asked for: the law of the root and a tenth, or the smallest batch.
  const double needed =
      static_cast<double>(more.size()) * std::pow(mean_within(model, more) / 0.01, 2);
  EXPECT_LT(static_cast<double>(more.size()), 1.5 * needed);
  const auto threaded = run_trials_until(model, {30, 0.01}, 2, times);
  ASSERT_EQ(threaded.size(), more.size());
  for (std::size_t i = 0; i < more.size(); ++i) {
    EXPECT_EQ(threaded[i].wall, more[i].wall);
    EXPECT_EQ(threaded[i].event_digest, more[i].event_digest);
  }
  const auto fixed = run_trials(model, 30, 1);
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    EXPECT_EQ(fixed[i].wall, more[i].wall);
  }
}

// 12 nodes are 3 replicas of 32 GPUs. A layer has the matrices q and o (4,096 x 4,096), k and v
// (4,096 x 1,024), three of the MLP (4,096 x 14,336) and two norms; embedding and logits 128,256 x
// 4,096, and a last norm. Of these each GPU has a 32nd, in 2 bytes, and sends 2 (3 - 1) / 3 of it
// at 5 GB/s.
TEST(StepTax, IsTheQuorumAndARingOfTheReplicasOverHosts) {
  training::Scenario s = training::eight_nodes();
  s.cluster.nodes = 12;
  s.training.global_batch = 48;
  s.training.framework.reduce_bytes = 2;
  s.parallelism.sharding = workload::Sharding::zero0;
  s.run.until = training::UntilSpec{};
  s.run.until->steps = 1000;
  s.run.recovery.step_tax = failures::StepTaxSpec{Seconds(0.125), {}};
  const auto tax = [&] {
    const auto checked = training::check(s);
    return resolve_job(checked, training::simulate_step(checked)).job.tax.si();
  };
  EXPECT_EQ(tax(), 0.125);
  s.run.recovery.step_tax->exchange_bandwidth = core::BytesPerSecond(5e9);
  const double layer = 2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336 + 2 * 4096;
  const double parameters = 16 * layer + 2 * 128256.0 * 4096 + 4096;
  EXPECT_NEAR(tax() - 0.125, 2 * (3 - 1) / 3.0 * parameters / 32 * 2 / 5e9, 1e-9);
  s.cluster.nodes = 4;  // one replica has nobody to exchange with
  EXPECT_EQ(tax(), 0.125);
}

// 1.96 standard errors of the mean of the walls, by hand.
TEST(Trials, SayHowWellTheMeanIsKnown) {
  const JobModel model = noisy();
  const auto trials = run_trials(model, 50, 1);
  double sum = 0;
  double squares = 0;
  for (const auto& trial : trials) {
    sum += static_cast<double>(trial.wall);
    squares += static_cast<double>(trial.wall) * static_cast<double>(trial.wall);
  }
  const double mean = sum / 50;
  const double error = std::sqrt((squares / 50 - mean * mean) / 49);
  EXPECT_NEAR(mean_within(model, trials), 1.95996 * error / mean, 1e-6);
  EXPECT_EQ(summarize(model, trials).mean_within, mean_within(model, trials));
}

}  // namespace
}  // namespace headway::campaign
