// Sites whose way to the others is gone for a while, against hand arithmetic.
#include <gtest/gtest.h>

#include "sim/campaign/job/detection.h"
#include "sim/campaign/trials.h"
#include "sim/core/random.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using failures::Effect;

/// A way that is cut at 250 s and back so many seconds later. Lives are drawn; the mean is chosen
/// so that this one is what is asked for.
failures::Hazard cut_at_250(JobModel& model, double seconds) {
  failures::Hazard cut = slow_at("cut", 250, Effect::cut_site, 1);
  cut.nodes_lost = 0;
  model.hazards = {cut};
  const failures::HazardSampler sampler(model.hazards, model.seed, 0, kClock);
  const double drawn = sampler.draw({core::kEndOfTime, 0, 0}, failures::Draw::lasts);
  cut.lasts = Seconds(seconds / core::exponential_from(drawn, 1));
  return cut;
}

/// The small job on two sites; 1,000 s of work, ten saves of 10 s and 30 s until the last is
/// durable: 1,130 s if nothing happens. At 250 s 230 s are done.
JobModel on_two_sites(double cut_for, double detection) {
  JobModel model = small_job();
  model.sites = 2;
  model.replicas = 4;
  model.recovery.detection = Seconds(detection);
  model.hazards = {cut_at_250(model, cut_for)};
  return model;
}

TEST(CutSite, LetsAllStandUntilTheWayIsBack) {
  const JobModel model = on_two_sites(10, 60);
  IncidentLog log;
  const TrialResult result = run_trial(model, JobTicks(model), 0, &log);
  EXPECT_EQ(result.wall, ticks(1130 + 10));
  EXPECT_EQ(result[Account::cut_off], ticks(10));
  EXPECT_EQ(result[Account::lost] + result[Account::detect] + result[Account::restart], 0);
  EXPECT_EQ(result.interruptions[0], 1);
  const auto incidents = log.take(result.wall);
  ASSERT_EQ(incidents.size(), 1U);
  EXPECT_EQ(incidents[0].resumed, ticks(260));
  EXPECT_EQ(time_in(incidents[0], Stage::detect), ticks(10));
}

TEST(CutSite, EndsTheJobIfAWatchdogIsFasterThanTheRepair) {
  // Alarm at 255 s, diagnosed at 261 s, back at 350 s, running at 390 s; the save at 200 s of work
  // was durable at 250 s, so 30 s are lost and 800 s are left, with 8 saves and 30 s.
  const JobModel model = on_two_sites(100, 5);
  IncidentLog log;
  const TrialResult result = run_trial(model, JobTicks(model), 0, &log);
  EXPECT_EQ(result.wall, ticks(390 + 800 + 80 + 30));
  EXPECT_EQ(result[Account::cut_off], ticks(5 + 350 - 261));
  EXPECT_EQ(result[Account::diagnose], ticks(6));
  EXPECT_EQ(result[Account::detect] + result[Account::wait], 0);
  EXPECT_EQ(result[Account::restart] + result[Account::load], ticks(40));
  EXPECT_EQ(result[Account::lost], ticks(30));
  EXPECT_EQ(result.interruptions[0], 1);
  const auto incidents = log.take(result.wall);
  ASSERT_EQ(incidents.size(), 1U);
  EXPECT_EQ(time_in(incidents[0], Stage::wait), ticks(350 - 261));
  EXPECT_EQ(incidents[0].resumed, ticks(390));
}

TEST(CutSite, IsLeftByTheReplicasOfTheOthersWhereTheJobIsElastic) {
  // Alarm at 255 s; the step under way is lost (230 - 224 s), and after 3 s half of the replicas go
  // on at half the speed: 92 s give 46 s of work until 350 s. They stand 4 s while the others join;
  // 730 s are left, with 8 saves and 30 s.
  JobModel model = on_two_sites(100, 5);
  failures::ElasticSpec elastic;
  elastic.stall = Seconds(3);
  elastic.rejoin = Seconds(4);
  model.recovery.elastic = elastic;
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result[Account::lost], ticks(6));
  EXPECT_EQ(result[Account::degraded], ticks(46));
  EXPECT_EQ(result[Account::restart], ticks(3 + 4));
  EXPECT_EQ(result[Account::cut_off], ticks(5));
  EXPECT_EQ(result.wall, ticks(354 + 730 + 80 + 30));
  // With too few replicas left it waits, as any other.
  model.recovery.elastic->fewest_replicas = 3;
  EXPECT_EQ(run_trial(model, JobTicks(model), 0)[Account::cut_off], ticks(5 + 350 - 261));
}

TEST(CutSite, IsFeltByTrainingApartAtTheNextExchangeOnly) {
  // Exchanges begin at multiples of 70 s of work and may take 14 s beside training: the one of 280
  // s must have passed at 294 s of work, which are done at 314 s.
  JobModel model = on_two_sites(50, 60);
  model.exchange_every = Seconds(70);
  model.exchange_beside = Seconds(14);
  const TrialResult unfelt = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(unfelt.wall, ticks(1130));
  EXPECT_EQ(unfelt.interruptions[0], 0);
  model.hazards = {cut_at_250(model, 100)};
  const TrialResult felt = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(felt.wall, ticks(1130 + 350 - 314));
  EXPECT_EQ(felt[Account::cut_off], ticks(350 - 314));
  EXPECT_EQ(felt.interruptions[0], 1);
}

TEST(CutSite, KeepsAJobDownThatFailedMeanwhile) {
  // Training apart runs on after the cut; at 260 s a process dies: alarm at 270 s, diagnosed at
  // 276 s, running at 316 s from 200 s of work. The exchange is due at 294 s of work, at 410 s: the
  // way has been back since 400 s.
  JobModel model = on_two_sites(150, 10);
  model.exchange_every = Seconds(70);
  model.exchange_beside = Seconds(14);
  failures::Hazard stop = fault_at("process", 260, 0);
  model.hazards.push_back(stop);
  const TrialResult apart = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(apart.interruptions[0], 0);
  EXPECT_EQ(apart.wall, ticks(316 + 800 + 80 + 30));
  // A way that is back at 414 s makes them stand for 4 s.
  model.hazards = {cut_at_250(model, 164), stop};
  const TrialResult felt = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(felt.interruptions[0], 1);
  EXPECT_EQ(felt.wall, apart.wall + ticks(4));
}

TEST(CutSite, CountsAsAFailureAsOftenAsItOutlastsTheDetection) {
  JobModel model = on_two_sites(100, 5);
  failures::Hazard& cut = model.hazards[0];
  cut.recorded.clear();
  cut.rate = core::PerSecond(1e-4);
  cut.lasts = Seconds(20);
  EXPECT_DOUBLE_EQ(ending_rate(model, cut).si(), 1e-4 * std::exp(-5.0 / 20));
  EXPECT_DOUBLE_EQ(mean_time_between_failures(model).si(), 1e4 * std::exp(5.0 / 20));
  // D: detected, diagnosed, and what is left of the cut then.
  EXPECT_DOUBLE_EQ(mean_downtime(model).si(), 5 + 6 + 20 * std::exp(-6.0 / 20));
  model.exchange_every = Seconds(70);
  model.exchange_beside = Seconds(14);
  EXPECT_DOUBLE_EQ(ending_rate(model, cut).si(),
                   1e-4 * std::exp(-19.0 / 20) * 20 / 70 * (1 - std::exp(-70.0 / 20)));
  EXPECT_FALSE(exact_ettr(model).has_value());
}

TEST(CutSite, IsFoundByAWatchdogAndByNoTestOfNodes) {
  JobModel model = on_two_sites(100, 5);
  failures::DetectorsSpec detectors;
  detectors.watchdog = Seconds(600);
  detectors.health_check = failures::HealthCheckSpec{Seconds(60), 1};
  model.recovery.detectors = detectors;
  const failures::Hazard& cut = model.hazards[0];
  const auto found = first_detection(model.recovery, cut, {0.5, 0.5, 0.5});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->detector, Detector::watchdog);
  EXPECT_DOUBLE_EQ(found->after.si(), 600);
  EXPECT_DOUBLE_EQ(mean_detection(model.recovery, cut).si(), 600);
}

TEST(SlowWay, IsReplacedByNobody) {
  // At half the rate until the end: 770 s of work take twice as long, and no detector stops the
  // job.
  JobModel model = small_job();
  model.sites = 2;
  failures::Hazard slow = slow_at("slow", 250, Effect::slow_site, 0.5);
  slow.nodes_lost = 0;
  slow.lasts = Seconds(1e9);
  model.hazards = {slow};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result[Account::degraded], ticks(770));
  EXPECT_EQ(result.wall, ticks(250 + 2 * 770 + 80 + 30));
  EXPECT_EQ(result.interruptions[0], 0);
}

TEST(SlowWay, IsOneForTheWholeJob) {
  const SlowState half = slow_state(Effect::slow_site, 0.5, 3, 7);
  EXPECT_EQ(half, slow_state(Effect::slow_site, 0.5, 1, 2));
  SlowState tenth = half;
  tenth.keeps = 0.1;
  EXPECT_EQ(canonical({{half, tenth}}), canonical({{tenth}}));
  // It is in no replica, so that a pair with it is one for all places alike.
  const SlowState gpu{SlowState::Kind::gpu, 0.5, 2, 5};
  const SlowState other{SlowState::Kind::gpu, 0.5, 2, 0};
  EXPECT_EQ(canonical({{gpu, half}}), canonical({{other, half}}));
  int asked = 0;
  StepTimes times(
      [&](const ClusterState& state) {
        ++asked;
        double slowness = 1;
        for (const auto& part : state.parts) {
          slowness += 1 - part.keeps;
        }
        return slowness;
      },
      {4, {1}});
  times.prepare({half}, 1);
  EXPECT_EQ(asked, 1);
  EXPECT_DOUBLE_EQ(times.slowness(canonical({{gpu, half}})), 2);
}

}  // namespace
}  // namespace headway::campaign
