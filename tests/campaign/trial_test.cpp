// One attempt and one trial against hand arithmetic, in ticks.
#include "sim/campaign/trial.h"

#include <cmath>
#include <gtest/gtest.h>

#include "sim/campaign/trials.h"
#include "sim/core/engine/event.h"
#include "sim/core/error.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using core::Tick;

constexpr Tick kNever = core::kEndOfTime;

JobModel job() { return small_job(); }

failures::Hazard hazard(const char* name, double rate, bool node_lost = false) {
  failures::Hazard h;
  h.name = name;
  h.rate = core::PerSecond(rate);
  h.nodes_lost = node_lost ? 1 : 0;
  return h;
}

Cursor after(const JobTicks& ticks, Goal goal, Tick wall, double slowness = 1) {
  Cursor cursor;
  advance(ticks.saves, {slowness}, goal, wall, cursor);
  return cursor;
}

TEST(Attempt, EndsWhenItsLastSaveIsDurable) {
  const JobTicks ticks(job());
  // 1000 s of work + 10 stalls + 30 s until the last is durable.
  EXPECT_EQ(time_to(ticks.saves, {}, {}, {ticks.work}), 1130 * kSecond);
  // 250 s left: saves after 100, 200 and 250 s.
  EXPECT_EQ(time_to(ticks.saves, {}, {}, {250 * kSecond}), (250 + 30 + 30) * kSecond);
  // At half speed the work takes twice as long, the saves do not.
  EXPECT_EQ(time_to(ticks.saves, {}, {2}, {250 * kSecond}), (500 + 30 + 30) * kSecond);
}

TEST(Attempt, PlansItsLastSaveBeforeTheWallIsUp) {
  JobModel model = job();
  model.end = {.work = {}, .wall = Seconds(500)};
  const JobTicks ticks(model);
  // 500 - 30 s: four segments of 110 s, then 20 s of work and a stall of 10 s.
  EXPECT_EQ(goal_within(ticks.saves, {}, {}, kNever, 500 * kSecond, 1).work, 420 * kSecond);
  // Whole steps of 7 s: saves every 98 s (14 steps) and 470 - 4 x 108 - 10 = 28
  // s = 4 steps more.
  model.whole_steps = true;
  model.interval = Seconds(98);
  const JobTicks steps(model);
  EXPECT_EQ(goal_within(steps.saves, {}, {}, kNever, 500 * kSecond, steps.grain()).work,
            (4 * 98 + 28) * kSecond);
  // No time for anything to become durable.
  EXPECT_EQ(goal_within(ticks.saves, {}, {}, kNever, 20 * kSecond, 1).work, kNever);
  // In the middle of an attempt, 325 s old and in its third stall: 5 s more of
  // that, 90 s of work, a stall, 30 s.
  const Cursor cursor = after(ticks, {}, 325 * kSecond);
  EXPECT_EQ(goal_within(ticks.saves, cursor, {}, kNever, 135 * kSecond, 1).work, 390 * kSecond);
}

TEST(Attempt, SavesAsSoonAsItCan) {
  JobModel model = job();
  const JobTicks ticks(model);
  const Cursor cursor = after(ticks, {}, 150 * kSecond);  // 40 s into the second segment
  const Goal goal = goal_now(ticks.saves, cursor, 1);
  EXPECT_EQ(goal.work, 140 * kSecond);
  EXPECT_EQ(time_to(ticks.saves, cursor, {}, goal), 40 * kSecond);
}

TEST(Progress, CountsASaveOnlyWhenItIsDurable) {
  const JobTicks ticks(job());
  // Second save ends at 220 s and is durable at 250 s: one tick early and on
  // time.
  EXPECT_EQ(after(ticks, {}, 250 * kSecond - 1).durable(0), 100 * kSecond);
  const Cursor c = after(ticks, {}, 250 * kSecond);
  EXPECT_EQ(c.durable(0), 200 * kSecond);
  EXPECT_EQ(c.work(ticks.saves), 230 * kSecond);
  EXPECT_EQ(c.checkpoint, 20 * kSecond);
  // In the middle of the third stall, 325 s.
  EXPECT_EQ(after(ticks, {}, 325 * kSecond).work(ticks.saves), 300 * kSecond);
  EXPECT_EQ(after(ticks, {}, 325 * kSecond).checkpoint, 25 * kSecond);
}

TEST(Progress, IsTheSameInOneJumpOrMany) {
  JobModel model = job();
  model.near = {{"host", Reach::process, 1, Seconds(1), Seconds(0), Seconds(3)}};
  model.storage_every = 3;
  const JobTicks ticks(model);
  for (const double slowness : {1.0, 2.0}) {
    Cursor many;
    Tick at = 0;
    for (int i = 1; at < 2000 * kSecond; ++i) {
      const Tick wall = i * 17 % 91 * kSecond;
      advance(ticks.saves, {slowness}, {}, wall, many);
      at += wall;
      const Cursor once = after(ticks, {}, at, slowness);
      EXPECT_EQ(many.work(ticks.saves), once.work(ticks.saves));
      EXPECT_EQ(many.checkpoint, once.checkpoint);
      EXPECT_EQ(many.stepping + many.checkpoint, at);
      EXPECT_EQ(many.durable(0), once.durable(0));
      EXPECT_EQ(many.durable(1), once.durable(1));
    }
  }
}

TEST(Progress, BooksTheWaitForTheLastSaveAsCheckpoint) {
  const JobTicks ticks(job());
  const Goal goal{250 * kSecond};
  const Tick length = time_to(ticks.saves, {}, {}, goal);
  EXPECT_EQ(after(ticks, goal, length - 1).durable(0), 200 * kSecond);
  const Cursor end = after(ticks, goal, length);
  EXPECT_EQ(end.work(ticks.saves), 250 * kSecond);
  EXPECT_EQ(end.checkpoint, 60 * kSecond);  // three stalls and 30 s
}

TEST(Trial, WithoutFailuresIsWorkAndSaves) {
  const JobModel model = job();
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result.wall, 1130 * kSecond);
  EXPECT_EQ(result[Account::useful], 1000 * kSecond);
  EXPECT_EQ(result[Account::checkpoint], 130 * kSecond);
  EXPECT_EQ(result.events, 1);
}

TEST(Trial, EndsWithTheWallClockToTheTick) {
  JobModel model = job();
  model.end = {.work = {}, .wall = Seconds(5000)};
  model.hazards = {hazard("often", 1.0 / 150, true)};
  for (std::uint32_t trial = 0; trial < 50; ++trial) {
    const TrialResult result = run_trial(model, JobTicks(model), trial);
    EXPECT_EQ(result.wall, 5000 * kSecond);
  }
}

TEST(Trial, BooksDowntimeByPhase) {
  JobModel model = job();
  model.hazards = {hazard("soft", 1.0 / 400)};
  for (std::uint32_t trial = 0; trial < 20; ++trial) {
    const TrialResult result = run_trial(model, JobTicks(model), trial);
    const std::int64_t n = result.interruptions[0];
    EXPECT_EQ(result[Account::detect], n * 5 * kSecond);
    EXPECT_EQ(result[Account::diagnose], n * 6 * kSecond);
    EXPECT_LE(result[Account::load], n * 20 * kSecond);
    EXPECT_EQ(result[Account::wait], 0);
    EXPECT_EQ(result[Account::useful], 1000 * kSecond);
  }
}

TEST(Trial, ReplacesOnlyLostNodes) {
  JobModel model = job();
  model.spare_nodes = 1000;
  model.hazards = {hazard("soft", 1.0 / 900), hazard("hard", 1.0 / 900, true)};
  model.recovery.container_start = Seconds(0);
  model.recovery.warm_up = Seconds(0);
  for (std::uint32_t trial = 0; trial < 20; ++trial) {
    const TrialResult result = run_trial(model, JobTicks(model), trial);
    EXPECT_EQ(result[Account::restart], result.interruptions[1] * 7 * kSecond);
  }
}

TEST(Trial, WaitsForTheRepairWithoutSpares) {
  JobModel model = job();
  model.hazards = {hazard("hard", 1.0 / 300, true)};
  Tick waited = 0;
  std::int64_t failures = 0;
  for (std::uint32_t trial = 0; trial < 2000; ++trial) {
    const TrialResult result = run_trial(model, JobTicks(model), trial);
    waited += result[Account::wait];
    failures += result.interruptions[0];
  }
  // Every failure waits one whole repair: exponential, so the mean of n has
  // error 1000 / sqrt(n).
  const double mean = static_cast<double>(waited) / kSecond / static_cast<double>(failures);
  EXPECT_NEAR(mean, 1000, 4 * 1000 / std::sqrt(static_cast<double>(failures)));
}

TEST(Trial, IsNotMovedByANewHazardThatNeverStrikes) {
  JobModel model = job();
  model.hazards = {hazard("often", 1.0 / 300)};
  const TrialResult before = run_trial(model, JobTicks(model), 3);
  model.hazards.insert(model.hazards.begin(), hazard("never", 1e-15));
  const TrialResult after = run_trial(model, JobTicks(model), 3);
  EXPECT_EQ(before.wall, after.wall);
  EXPECT_EQ(before.accounts, after.accounts);
}

TEST(Trial, ReplaysRecordedFailuresAtTheirTime) {
  JobModel model = job();
  failures::Hazard hang = hazard("hang", 1e-3);
  // The second comes while the job is down (D = 11 s), and strikes when it
  // restarts.
  hang.recorded = {{Seconds(250), {}}, {Seconds(255), {}}};
  model.hazards = {hang};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result.interruptions[0], 2);
  // 200 s are durable at 250 s, 30 s lost; twice D, one restart of 40 s, then
  // 800 s of work and 8 saves.
  EXPECT_EQ(result[Account::lost], 30 * kSecond);
  EXPECT_EQ(result[Account::load], 20 * kSecond);
  EXPECT_EQ(result.wall, (250 + 2 * 11 + 40 + 800 + 80 + 30) * kSecond);
  EXPECT_FALSE(exact_ettr(model).has_value());
}

TEST(Trial, LosesWholeDomainsAndWaitsForAsManySpares) {
  JobModel model = job();
  model.gpus = 64;  // 8 nodes in 2 domains of 4
  model.spare_nodes = 4;
  failures::Hazard rack = hazard("rack", 1e-3);
  rack.nodes_lost = 4;
  rack.recorded = {{Seconds(50), {}}, {Seconds(500), {}}};
  model.hazards = {rack};
  model.recovery.repair = Seconds(1e6);
  // The first takes all four spares; the second waits for four of eight
  // repairs.
  core::Tick waited = 0;
  constexpr int kTrials = 4000;
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    waited += run_trial(model, JobTicks(model), trial)[Account::wait];
  }
  // Exponential repairs of mean m: the fourth of eight is m (1/8 + 1/7 + 1/6 +
  // 1/5), less what has run before.
  const double exact = 1e6 * (1.0 / 8 + 1.0 / 7 + 1.0 / 6 + 1.0 / 5);
  const double sd = 1e6 * std::sqrt(1.0 / 64 + 1.0 / 49 + 1.0 / 36 + 1.0 / 25);
  EXPECT_NEAR(static_cast<double>(waited) / kSecond / kTrials, exact,
              4 * sd / std::sqrt(kTrials) + 500);
}

TEST(Trial, GoesBackBehindASilentFailure) {
  JobModel model = job();
  failures::Hazard corruption = hazard("corruption", 1e-3);
  corruption.recorded = {{Seconds(250), {}}};
  corruption.latent = Seconds(330);
  model.hazards = {corruption};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // At 250 s the save of 200 s is good. At 580 s, five segments later, 500 s
  // are durable and 530 s done: 330 s are thrown away. Then D = 11 s, R = 40 s
  // and the other 800 s with 8 saves.
  EXPECT_EQ(result[Account::lost], 330 * kSecond);
  EXPECT_EQ(result[Account::useful], 1000 * kSecond);
  EXPECT_EQ(result.wall, (580 + 11 + 40 + 800 + 80 + 30) * kSecond);
  EXPECT_EQ(result.interruptions[0], 1);
}

// What an elastic job or its peers hold has the bad numbers, too: whoever is down when they are
// noticed loads the good save.
TEST(Trial, LoadsTheGoodSaveIfASilentFailureIsNoticedWhileItIsDown) {
  JobModel model = job();
  model.recovery.peer_load = Seconds(2);
  failures::Hazard corruption = hazard("corruption", 1e-3);
  corruption.recorded = {{Seconds(150), {}}};
  corruption.latent = Seconds(400);
  failures::Hazard crash = hazard("crash", 1e-3);
  crash.recorded = {{Seconds(545), {}}};
  model.hazards = {corruption, crash};
  IncidentLog log;
  const TrialResult result = run_trial(model, JobTicks(model), 0, &log);
  // At 545 s 500 s are done, and the fifth save stalls. At 550 s all behind 100 s is lost.
  // Up again at 545 + 11 + 15 + 20 + 5 s, with 900 s, 8 saves and the last one's 30 s to go.
  EXPECT_EQ(result[Account::lost], 400 * kSecond);
  EXPECT_EQ(result.wall, (545 + 11 + 40 + 900 + 90 + 30) * kSecond);
  EXPECT_EQ(result.loads, 1);
  const auto incidents = log.take(result.wall);
  ASSERT_EQ(incidents.size(), 2U);
  EXPECT_EQ(incidents[0].noticed, 550 * kSecond);
  EXPECT_EQ(incidents[0].stages.back().end, 550 * kSecond);
}

TEST(Trial, CountsTheStepsThatWereAskedFor) {
  JobModel model = job();
  model.step = Seconds(7.0000004);  // less than half a tick longer than 7 s
  model.whole_steps = true;
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(steps_of(model, result), 143);  // 1,000 s are 142.9 of them
}

TEST(Trial, LosesSilentFailuresFasterThanTheirSaves) {
  // A second failure meanwhile restarts from a bad save; the alarm then still
  // sends the job back.
  JobModel model = job();
  failures::Hazard corruption = hazard("corruption", 1e-3);
  corruption.recorded = {{Seconds(150), {}}};
  corruption.latent = Seconds(400);
  failures::Hazard crash = hazard("crash", 1e-3);
  crash.recorded = {{Seconds(400), {}}};
  model.hazards = {corruption, crash};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // Good: 100 s (durable at 140 s). Crash at 400 s: 300 durable, 70 lost; runs
  // again at 451 s, at 550 s 99 s more are lost and 200 s of the durable ones.
  EXPECT_EQ(result[Account::lost], (70 + 99 + 200) * kSecond);
  EXPECT_EQ(result.wall, (550 + 11 + 40 + 900 + 90 + 30) * kSecond);
}

TEST(Trial, IsGivenUpWhenItMakesNoHeadway) {
  // A silent failure comes within the first save, as a rule, and is noticed
  // before the work is done.
  JobModel model = job();
  failures::Hazard corruption = hazard("corruption", 1.0 / 20);
  corruption.latent = Seconds(500);
  model.hazards = {corruption};
  EXPECT_THROW(run_trial(model, JobTicks(model), 0), core::Error);
  model.hazards.clear();
  model.maintenance =
      failures::MaintenanceSpec{Seconds(50), Seconds(10)};  // no save fits in between
  EXPECT_THROW(run_trial(model, JobTicks(model), 0), core::Error);
}

TEST(Trial, SavesBeforePlannedWork) {
  JobModel model = job();
  model.maintenance = failures::MaintenanceSpec{Seconds(500), Seconds(60)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // Until 500 s: 4 segments, 20 s of work, a stall and 30 s until durable: 420
  // s. Again from 560 s with a restart of 40 s until 1000 s: 3 segments of 110
  // s, 30 s of work, stall, 30 s: 330 s. From 1060 s the last 250 s.
  EXPECT_EQ(result[Account::maintenance], 2 * 60 * kSecond);
  EXPECT_EQ(result[Account::lost], 0);
  EXPECT_EQ(result.wall, (1060 + 40 + 250 + 30 + 30) * kSecond);
}

TEST(Trial, EvictsLemonsSoThatFailuresGrowRarer) {
  JobModel model = job();
  model.gpus = 8000;
  // One spare: a lemon is back in the job soon. In a large pool it would sit
  // out most of the run.
  model.spare_nodes = 1;
  model.recovery.repair = Seconds(100);
  failures::FailureSpec table;
  failures::HazardSpec node;
  node.name = "node";
  node.per = failures::Population::node;
  node.mtbf = Seconds(1e6);
  table.hazards = {node};
  table.lemons = failures::LemonSpec{.share = 0.05, .factor = 50};
  model.end = {.work = {}, .wall = Seconds(2e5)};
  std::int64_t kept = 0;
  std::int64_t evicted = 0;
  for (std::uint32_t trial = 0; trial < 20; ++trial) {
    table.lemons->evict_after = 0;
    model.hazards = failures::hazards_of(table, {8000, 1000}, 1);
    TrialResult result = run_trial(model, JobTicks(model), trial);
    kept += result.interruptions[0] + result.interruptions[1];
    table.lemons->evict_after = 1;
    model.hazards = failures::hazards_of(table, {8000, 1000}, 1);
    result = run_trial(model, JobTicks(model), trial);
    evicted += result.interruptions[0] + result.interruptions[1];
  }
  EXPECT_LT(evicted, 0.75 * static_cast<double>(kept));
}

TEST(Incidents, TellEveryPhaseOfARecordedFailure) {
  JobModel model = job();
  model.spare_nodes = 1;
  failures::Hazard crash = hazard("crash", 1e-3, true);
  crash.recorded = {{Seconds(250), {}}};
  model.hazards = {crash};
  IncidentLog log;
  const TrialResult result = run_trial(model, JobTicks(model), 0, &log);
  EXPECT_EQ(result.accounts, run_trial(model, JobTicks(model), 0).accounts);
  const auto incidents = log.take(result.wall);
  ASSERT_EQ(incidents.size(), 1U);
  const Incident& it = incidents[0];
  EXPECT_EQ(it.struck, 250 * kSecond);
  EXPECT_EQ(it.noticed, 255 * kSecond);
  EXPECT_EQ(it.blamed, 261 * kSecond);
  // 7 s of replacement, 15 s of start, 20 s of load, 5 s of warm-up.
  EXPECT_EQ(it.resumed, 308 * kSecond);
  EXPECT_EQ(it.lost_work, 30 * kSecond);
  EXPECT_EQ(time_in(it, Stage::replace), 7 * kSecond);
  EXPECT_EQ(time_in(it, Stage::load), 20 * kSecond);
  EXPECT_EQ(it.stages.front().stage, Stage::detect);
  EXPECT_EQ(it.stages.back().end, 308 * kSecond);
}

TEST(Incidents, KeepSilentFailuresApartFromThoseInBetween) {
  JobModel model = job();
  failures::Hazard corruption = hazard("corruption", 1e-3);
  corruption.recorded = {{Seconds(150), {}}};
  corruption.latent = Seconds(400);
  failures::Hazard crash = hazard("crash", 1e-3);
  crash.recorded = {{Seconds(400), {}}};
  model.hazards = {corruption, crash};
  IncidentLog log;
  const TrialResult result = run_trial(model, JobTicks(model), 0, &log);
  const auto incidents = log.take(result.wall);
  ASSERT_EQ(incidents.size(), 2U);
  EXPECT_EQ(incidents[0].detector, Detector::validation);
  EXPECT_EQ(incidents[0].lost_work, (99 + 200) * kSecond);
  EXPECT_EQ(time_in(incidents[0], Stage::unnoticed), 400 * kSecond);
  EXPECT_EQ(incidents[1].lost_work, 70 * kSecond);
  EXPECT_EQ(incidents[1].resumed, 451 * kSecond);
  // What all lost is what the ledger says.
  EXPECT_EQ(incidents[0].lost_work + incidents[1].lost_work, result[Account::lost]);
}

}  // namespace
}  // namespace headway::campaign
