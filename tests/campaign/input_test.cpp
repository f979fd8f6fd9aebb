// The data a job trains on: staged again at restarts, and read over the training fabric.
#include <gtest/gtest.h>

#include "sim/campaign/campaign.h"
#include "sim/campaign/saves/simulated_saves.h"
#include "sim/campaign/trials.h"
#include "sim/training/step/step.h"

#include "tests/campaign/fixture.h"
#include "tests/training/fixture.h"

namespace headway::campaign {
namespace {

using core::Bytes;
using core::Seconds;

TrialResult first_trial_of(const JobModel& model) { return run_trial(model, JobTicks(model), 0); }

// Staging comes between the spare and the restart: the wall clock grows by it, and it is a load.
TEST(Restaging, CostsWhatTheSpareReadsFirst) {
  JobModel model = small_job();
  model.spare_nodes = 3;
  model.hazards = {fault_at("node", 250)};
  const TrialResult plain = first_trial_of(model);
  model.recovery.refill = Seconds(40);
  const TrialResult filled = first_trial_of(model);
  EXPECT_EQ(filled.wall, plain.wall + ticks(40));
  EXPECT_EQ(filled[Account::load], plain[Account::load] + ticks(40));
  model.recovery.moves = 1;
  model.recovery.restaging = Seconds(100);
  EXPECT_EQ(first_trial_of(model).wall, plain.wall + ticks(140));
}

TEST(Restaging, IsSparedWhereNoNodeIsLost) {
  JobModel model = small_job();
  model.hazards = {fault_at("software", 250, 0)};
  const TrialResult plain = first_trial_of(model);
  model.recovery.refill = Seconds(40);
  model.recovery.moves = 1;
  model.recovery.restaging = Seconds(100);
  EXPECT_EQ(first_trial_of(model).wall, plain.wall);
}

// 40 trials of 1,000 lost nodes each, a quarter of which move the job: a share of 0.25 with a
// standard error of sqrt(0.25 x 0.75 / 40,000) = 0.0022, so that four of them are 0.0087.
TEST(Restaging, HappensAsOftenAsTheChanceSays) {
  constexpr int kFailures = 1000;
  constexpr std::uint32_t kTrials = 40;
  JobModel model = small_job();
  model.end = {.work = {}, .wall = Seconds(1000.0 * (kFailures + 0.5))};
  model.spare_nodes = kFailures;
  model.recovery.repair = Seconds(1e9);
  model.hazards = {fault_at("node", 0)};
  model.hazards[0].recorded.clear();
  for (int i = 1; i <= kFailures; ++i) {
    model.hazards[0].recorded.push_back({Seconds(1000.0 * i), {}});
  }
  const TrialResult plain = first_trial_of(model);
  model.recovery.moves = 0.25;
  model.recovery.restaging = Seconds(10);
  const JobTicks in_ticks(model);
  double moved = 0;
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    moved += static_cast<double>(run_trial(model, in_ticks, trial)[Account::load] -
                                 plain[Account::load]) /
             static_cast<double>(ticks(10));
  }
  EXPECT_NEAR(moved / (kTrials * kFailures), 0.25, 0.0087);
}

/// Eight nodes whose storage of 100 GB/s hangs on the fabric of training.
training::Scenario reading(double bytes_per_token) {
  training::Scenario s = training::eight_nodes();
  s.cluster.storage->path = storage::StoragePath::shared;
  s.cluster.storage->servers = 4;
  s.cluster.storage->latency = Seconds(0);
  s.cluster.storage->client_read_bandwidth = core::BytesPerSecond(40e9);
  s.run.until = training::UntilSpec{};
  s.run.until->steps = 1000;
  s.run.data = storage::DataSpec{};
  s.run.data->bytes_per_token = Bytes(bytes_per_token);
  return s;
}

double starved(const training::Scenario& s) {
  const auto checked = training::check(s);
  return resolve_job(checked, training::simulate_step(checked)).job.starved;
}

// Text is nothing beside the collectives; what takes the servers twice a step doubles it, however
// much the flows beside it lose; in between the collectives lose a part of what the reads take.
TEST(Input, OnTheTrainingFabricIsReadBesideTheStep) {
  const auto checked = training::check(reading(4));
  const Seconds step = training::simulate_step(checked).time;
  const double tokens = checked.tokens_per_step();
  const double all =
      100e9 * step.si() / tokens;  // bytes a token that fill the servers all the time
  EXPECT_NEAR(starved(reading(4)), 1, 1e-4);
  EXPECT_NEAR(starved(reading(2 * all)), 2, 0.02);
  const double beside = starved(reading(0.5 * all));
  EXPECT_GT(beside, 1.00001);
  EXPECT_LT(beside, 1.5);
}

TEST(Input, OnAFabricOfItsOwnLosesNothingUntilTheServersBind) {
  auto s = reading(4);
  const auto checked = training::check(s);
  const double all = 100e9 * training::simulate_step(checked).time.si() / checked.tokens_per_step();
  s.cluster.storage->path = storage::StoragePath::dual;
  s.run.data->bytes_per_token = Bytes(0.5 * all);
  EXPECT_EQ(starved(s), 1);
  s.run.data->bytes_per_token = Bytes(2 * all);
  EXPECT_NEAR(starved(s), 2, 1e-9);
}

}  // namespace
}  // namespace headway::campaign
