// Saves on several levels, bad saves, wrong blame, evictions and repair queues, by hand arithmetic.
#include <cmath>
#include <gtest/gtest.h>

#include "sim/campaign/job/job_ticks.h"
#include "sim/campaign/job/spare_pool.h"
#include "sim/campaign/saves/restore.h"
#include "sim/core/statistics.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using core::Tick;

JobModel two_levels() {
  JobModel model = small_job();
  model.stall = Seconds(0);
  model.storage_every = 3;
  model.near = {{"host", Reach::process, 1, Seconds(10), Seconds(0), Seconds(3)}};
  return model;
}

TEST(NearLevel, ServesFailuresThatLeaveItsNode) {
  JobModel model = two_levels();
  model.hazards = {fault_at("software", 250, 0)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // Saves in host memory after 100 and 200 s of work; D = 11 s, R = 15 + 3 + 5 s.
  EXPECT_EQ(result[Account::lost], ticks(30));
  EXPECT_EQ(result[Account::load], ticks(3));
  EXPECT_EQ(result.wall, ticks(250 + 11 + 23 + 800 + 80 + 30));
}

TEST(NearLevel, IsLostWithItsNode) {
  JobModel model = two_levels();
  model.spare_nodes = 2;
  model.hazards = {fault_at("node", 250), fault_at("node again", 500)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // Every third save goes to storage: none yet at 250 s. 18 + 40 s later, at 308 s, all begins
  // anew; at 500 s 182 s more are done and lost.
  EXPECT_EQ(result[Account::lost], ticks(230 + 182));
  EXPECT_EQ(result.wall, ticks(558 + 1000 + 100 + 30));
}

TEST(NearLevel, OfAPeerOutlivesANodeButNotItsRack) {
  JobModel model = two_levels();
  model.gpus = 64;
  model.near[0].survives = Reach::node;
  model.spare_nodes = 10;
  model.hazards = {fault_at("node", 250)};
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::lost], ticks(30));
  model.hazards = {fault_at("rack", 250, 4)};
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::lost], ticks(230));
}

TEST(BadSaves, CostAnotherIntervalAndAnotherLoadEach) {
  JobModel model = small_job();
  model.unreadable = 0.2;
  model.hazards = {fault_at("crash", 950, 0)};
  core::Moments lost;
  core::Moments load;
  for (std::uint32_t trial = 0; trial < 20000; ++trial) {
    const TrialResult result = run_trial(model, JobTicks(model), trial);
    lost.add(static_cast<double>(result[Account::lost]) / kSecond);
    load.add(static_cast<double>(result[Account::load]) / kSecond);
  }
  // 870 s done, 800 s durable; the number of bad saves is geometric with mean 0.2 / 0.8.
  EXPECT_NEAR(lost.mean(), 70 + 100 * 0.25, 4 * lost.estimate().standard_error);
  EXPECT_NEAR(load.mean(), 20 * 1.25, 4 * load.estimate().standard_error);
}

TEST(BadSaves, BeyondThoseThatAreKeptLeaveOnlyTheBeginning) {
  JobModel model = small_job();
  model.unreadable = 0.5;
  model.keep = 1;
  model.hazards = {fault_at("crash", 950, 0)};
  for (std::uint32_t trial = 0; trial < 20; ++trial) {
    const Tick lost = run_trial(model, JobTicks(model), trial)[Account::lost];
    EXPECT_TRUE(lost == ticks(70) || lost == ticks(870)) << lost;
  }
}

TEST(BadSaves, BeyondThoseThatAreKeptLeaveTheArchiveIfThereIsOne) {
  JobModel model = small_job();
  model.unreadable = 0.5;
  model.keep = 1;
  model.archive = Seconds(300);
  model.hazards = {fault_at("crash", 950, 0)};
  // 870 s done, 800 s durable: the archive has 600 s, or 300 s and 0 s after more bad saves.
  for (std::uint32_t trial = 0; trial < 20; ++trial) {
    const Tick lost = run_trial(model, JobTicks(model), trial)[Account::lost];
    EXPECT_TRUE(lost == ticks(70) || lost == ticks(270) || lost == ticks(570) || lost == ticks(870))
        << lost;
  }
}

TEST(SilentFailure, ThatIsNoticedTooLateFindsItsGoodSaveDeleted) {
  JobModel model = small_job();
  failures::Hazard corruption = fault_at("corruption", 250, 0);
  corruption.latent = Seconds(330);
  model.hazards = {corruption};
  // The good save holds 200 s; three newer ones have been made when it is noticed.
  model.keep = 4;
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::lost], ticks(330));
  model.keep = 3;
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::lost], ticks(530));
  // The archive has the save of 200 s if every second one is kept for good, not if every third is.
  model.archive = Seconds(200);
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::lost], ticks(330));
  model.archive = Seconds(300);
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::lost], ticks(530));
}

TEST(WrongBlame, RepeatsTheWholeRecovery) {
  JobModel model = small_job();
  model.gpus = 800;
  model.spare_nodes = 100;
  model.recovery.wrong_blame = 0.3;
  model.hazards = {fault_at("crash", 250)};
  core::Moments walls;
  core::Moments stops;
  for (std::uint32_t trial = 0; trial < 20000; ++trial) {
    const TrialResult result = run_trial(model, JobTicks(model), trial);
    walls.add(static_cast<double>(result.wall) / kSecond);
    stops.add(static_cast<double>(result.interruptions[0]));
  }
  // Each of these stops the job: 1 / 0.7 of them, known to 4 sqrt(0.3) / 0.7 / sqrt(20,000) = 2 %.
  EXPECT_NEAR(stops.mean(), 1 / 0.7, 4 * stops.standard_error());
  EXPECT_LT(4 * stops.standard_error(), 0.025);
  // D = 18 s and R = 40 s, each once more with chance 0.3: 0.3 / 0.7 more times on average.
  const double once = 250 + 58 + 800 + 80 + 30;
  EXPECT_NEAR(walls.mean(), once + 58 * 0.3 / 0.7, 4 * walls.estimate().standard_error);
  EXPECT_LT(4 * walls.estimate().standard_error, 0.01 * walls.mean());
}

// Of two nodes one is slow and kept, and one breaks. Blamed is the one that is not broken: where
// that is the slow one, it leaves the job and the slowness with it; where the slow one broke, it
// stays.
TEST(WrongBlame, NeverTakesTheBrokenNode) {
  JobModel model = small_job();
  model.spare_nodes = 20;
  model.recovery.wrong_blame = 0.999999;
  model.recovery.slow_part = failures::SlowPart::keep;
  model.hazards = {slow_at("slow", 100, failures::Effect::slow_gpu, 0.5), fault_at("crash", 250)};
  model.end = {.work = {}, .wall = Seconds(600)};
  int apart = 0;
  for (std::uint32_t trial = 0; trial < 40; ++trial) {
    IncidentLog log;
    const TrialResult result = run_trial(model, JobTicks(model), trial, &log);
    const auto incidents = log.take(result.wall);
    ASSERT_EQ(incidents.size(), 2U);
    EXPECT_GE(incidents[1].wrong_blames, 3);
    const bool other = incidents[0].first_node != incidents[1].first_node;
    EXPECT_EQ(incidents[0].resumed.has_value(), other) << trial;
    apart += other ? 1 : 0;
  }
  EXPECT_GT(apart, 8);
  EXPECT_LT(apart, 32);
}

TEST(Peers, GiveBackAllButTheStepUnderWay) {
  JobModel model = small_job();
  model.spare_nodes = 1;
  model.recovery.peer_load = Seconds(2);
  model.hazards = {fault_at("crash", 253)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // 233 s are done, 33 steps of 7 s = 231 s are with the peers.
  EXPECT_EQ(result[Account::lost], ticks(2));
  EXPECT_EQ(result.wall, ticks(253 + 18 + 22 + 769 + 80 + 30));
}

TEST(InProcessRestart, SparesTheContainersIfNoNodeIsLost) {
  JobModel model = small_job();
  model.spare_nodes = 1;
  model.recovery.in_process_start = Seconds(2);
  model.hazards = {fault_at("software", 250, 0)};
  EXPECT_EQ(run_trial(model, JobTicks(model), 0).wall, ticks(250 + 11 + 27 + 800 + 80 + 30));
  model.hazards = {fault_at("node", 250)};
  EXPECT_EQ(run_trial(model, JobTicks(model), 0).wall, ticks(250 + 18 + 40 + 800 + 80 + 30));
}

TEST(Eviction, OfARackWaitsForAsManySparesAndGetsTheHealthyOnesBack) {
  JobModel model = small_job();
  model.gpus = 64;
  model.spare_nodes = 1;
  model.recovery.retest = Seconds(100);
  model.recovery.repair = Seconds(1e9);
  model.hazards = {fault_at("node", 250)};
  model.hazards[0].evicted = 4;
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // One spare is ready, three healthy nodes of the rack are back after 100 s.
  EXPECT_EQ(result[Account::wait], ticks(100));
  model.spare_nodes = 4;
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::wait], 0);
}

TEST(Eviction, OfAGpuReplacesItInPlace) {
  JobModel model = small_job();
  model.hazards = {fault_at("gpu", 250, 0)};
  model.hazards[0].swapped = true;
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result[Account::wait], 0);
  EXPECT_EQ(result[Account::restart], ticks(7 + 15 + 5));
}

TEST(RepairShop, QueuesWhatItsCrewsCannotTakeAtOnce) {
  RepairShop two(2);
  EXPECT_EQ(two.take(0, 100), 100);
  EXPECT_EQ(two.take(10, 100), 110);
  EXPECT_EQ(two.take(20, 100), 200);   // waits for the first
  EXPECT_EQ(two.take(500, 100), 600);  // finds both idle
  RepairShop many(0);
  EXPECT_EQ(many.take(0, 100), 100);
  EXPECT_EQ(many.take(0, 100), 100);
}

TEST(Job, BooksEveryTickWithAllFeaturesTogether) {
  // `run_trial` itself checks that the accounts add up to the wall clock, to the tick.
  JobModel model = two_levels();
  model.gpus = 256;
  model.replicas = 4;
  model.spare_nodes = 3;
  model.end.work = Seconds(20000);
  model.unreadable = 0.1;
  model.keep = 3;
  model.recovery.wrong_blame = 0.2;
  model.recovery.retest = Seconds(200);
  model.recovery.repair_sigma = 1.3;
  model.recovery.repair_crews = 2;
  model.recovery.in_process_start = Seconds(4);
  failures::DetectorsSpec detectors;
  detectors.watchdog = Seconds(30);
  detectors.health_check = failures::HealthCheckSpec{Seconds(40), 0.5};
  detectors.straggler_monitor = failures::StragglerMonitorSpec{Seconds(50), 0.7, {}};
  model.recovery.detectors = detectors;
  const auto drawn = [](const char* name, failures::Effect effect, double mean, std::int64_t lost) {
    failures::Hazard hazard = slow_at(name, 0, effect, 0.7);
    hazard.recorded.clear();
    hazard.rate = core::PerSecond(1 / mean);
    hazard.nodes_lost = lost;
    return hazard;
  };
  using failures::Effect;
  model.hazards = {
      drawn("stop", Effect::stop, 900, 1),        drawn("soft", Effect::stop, 1500, 0),
      drawn("hang", Effect::hang, 2000, 1),       drawn("gpu", Effect::slow_gpu, 1500, 1),
      drawn("link", Effect::slow_link, 2500, 0),  drawn("drive", Effect::slow_drive, 3000, 1),
      drawn("spot", Effect::preemption, 4000, 1), drawn("alarm", Effect::false_alarm, 5000, 1),
      drawn("rack", Effect::stop, 9000, 4)};
  model.hazards[4].lasts = Seconds(300);
  model.hazards[6].notice = Seconds(45);
  model.hazards[0].evicted = 2;
  model.slow_drives = {{5, Seconds(0), Seconds(500), {Seconds(10)}, {Seconds(0)}}};
  model.maintenance = failures::MaintenanceSpec{Seconds(5000), Seconds(100)};
  model.throttling = {{Seconds(3000), Seconds(9000), 0.9}};
  for (const bool elastic : {false, true}) {
    if (elastic) {
      model.recovery.elastic = failures::ElasticSpec{};
    }
    for (std::uint32_t trial = 0; trial < 100; ++trial) {
      const TrialResult plain = run_trial(model, JobTicks(model), trial);
      IncidentLog log;
      const TrialResult logged = run_trial(model, JobTicks(model), trial, &log);
      EXPECT_EQ(plain.accounts, logged.accounts);
      EXPECT_EQ(plain.event_digest, logged.event_digest);
      Tick lost = 0;
      for (const auto& incident : log.take(logged.wall)) {
        lost += incident.lost_work;
      }
      EXPECT_LE(lost, logged[Account::lost]);
    }
  }
}

// Saves each 100 s: of them each, each fourth (the whole number nearest to 3.6), or none is kept.
TEST(Archive, IsOfSavesThatAreMadeAnyway) {
  JobModel model = small_job();
  EXPECT_EQ(archived_every(model), 0);
  model.archive = core::Seconds(30);
  EXPECT_EQ(archived_every(model), 1);
  model.archive = core::Seconds(360);
  EXPECT_EQ(archived_every(model), 4);
  EXPECT_EQ(JobTicks(model).archive, ticks(400));
}

}  // namespace
}  // namespace headway::campaign
