// Jobs that run on with a slow part, with notice, or with a replica fewer, against hand arithmetic.
#include <gtest/gtest.h>

#include "sim/campaign/trials.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using core::Tick;
using failures::Effect;

TEST(SlowPart, IsReplacedAfterASaveMadeForIt) {
  JobModel model = small_job();
  model.spare_nodes = 1;
  model.hazards = {slow_at("slow", 250, Effect::slow_gpu, 0.5)};
  IncidentLog log;
  const TrialResult result = run_trial(model, JobTicks(model), 0, &log);
  // At 250 s 230 s are done; noticed at 255 s, named at 261 s: 11 s at half speed give 5.5 s. The
  // save takes 10 + 30 s, the node 7 s, the restart 40 s: 348 s. 764.5 s are left, with 8 saves and
  // 30 s.
  EXPECT_EQ(result[Account::degraded], ticks(5.5));
  EXPECT_EQ(result[Account::lost], 0);
  EXPECT_EQ(result[Account::detect] + result[Account::diagnose], 0);
  EXPECT_EQ(result.wall, ticks(348 + 764.5 + 80 + 30));
  EXPECT_EQ(result.interruptions[0], 1);
  const auto incidents = log.take(result.wall);
  ASSERT_EQ(incidents.size(), 1U);
  EXPECT_EQ(incidents[0].slow_time, ticks(5.5));
  EXPECT_DOUBLE_EQ(incidents[0].slowness, 2);
  EXPECT_EQ(incidents[0].noticed, ticks(255));
  EXPECT_EQ(incidents[0].blamed, ticks(261));
  EXPECT_EQ(incidents[0].resumed, ticks(348));
  EXPECT_EQ(incidents[0].stages.front().stage, Stage::unnoticed);
}

TEST(SlowPart, CostsTheWorkSinceTheLastSaveIfTheJobStopsAtOnce) {
  JobModel model = small_job();
  model.spare_nodes = 1;
  model.recovery.slow_part = failures::SlowPart::stop_at_once;
  model.hazards = {slow_at("slow", 250, Effect::slow_gpu, 0.5)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // 235.5 s are done at 261 s, 200 s of them durable; then 7 + 40 s and 800 s with 8 saves.
  EXPECT_EQ(result[Account::lost], ticks(35.5));
  EXPECT_EQ(result.wall, ticks(261 + 47 + 800 + 80 + 30));
}

TEST(SlowPart, SlowsTheRestOfTheRunIfItIsKept) {
  JobModel model = small_job();
  model.recovery.slow_part = failures::SlowPart::keep;
  model.hazards = {slow_at("slow", 250, Effect::slow_link, 0.5)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // 770 s of work take twice as long; the saves do not.
  EXPECT_EQ(result[Account::degraded], ticks(770));
  EXPECT_EQ(result.wall, ticks(250 + 2 * 770 + 80 + 30));
  EXPECT_EQ(result.interruptions[0], 0);
}

TEST(SlowPart, StaysWhileTheWrongNodeIsReplaced) {
  JobModel model = small_job();
  model.gpus = 800;
  model.spare_nodes = 10;
  model.recovery.wrong_blame = 0.999999;
  model.end = {.work = {}, .wall = Seconds(600)};
  model.hazards = {slow_at("slow", 250, Effect::slow_gpu, 0.5)};
  IncidentLog log;
  const TrialResult result = run_trial(model, JobTicks(model), 0, &log);
  const auto incidents = log.take(result.wall);
  EXPECT_GE(incidents[0].wrong_blames, 2);
  EXPECT_FALSE(incidents[0].resumed.has_value() && *incidents[0].resumed < ticks(300));
  // It is slow before and after each restart.
  EXPECT_GT(result[Account::degraded], ticks(5.5));
}

TEST(SlowDrive, MakesSavesRarerWhenTheyAreInTheBackground) {
  JobModel model = small_job();
  model.recovery.slow_part = failures::SlowPart::keep;
  model.hazards = {slow_at("drive", 5, Effect::slow_drive, 0.25)};
  model.slow_drives = {{0, Seconds(10), Seconds(130), {}, {}}};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // Durable after 130 s, longer than a segment: every second save is made, and the last takes 130
  // s.
  EXPECT_EQ(result.wall, ticks(1000 + 5 * 10 + 130));
  EXPECT_EQ(result[Account::degraded], 0);
}

TEST(FalseAlarm, TakesAHealthyNodeThatIsSoonBack) {
  JobModel model = small_job();
  model.spare_nodes = 1;
  model.recovery.retest = Seconds(50);
  failures::Hazard alarm = fault_at("alarm", 250);
  alarm.effect = Effect::false_alarm;
  failures::Hazard crash = fault_at("crash", 500);
  model.hazards = {alarm, crash};
  IncidentLog log;
  const TrialResult result = run_trial(model, JobTicks(model), 0, &log);
  EXPECT_EQ(result[Account::degraded], 0);
  EXPECT_EQ(result[Account::wait],
            0);  // the spare taken for the alarm was replaced by the tested node
  const auto incidents = log.take(result.wall);
  EXPECT_TRUE(incidents[0].false_alarm);
  EXPECT_EQ(incidents[0].lost_work, 0);
  EXPECT_FALSE(incidents[1].false_alarm);
}

TEST(Preemption, LosesNothingIfItsNoticeIsLongEnoughForASave) {
  JobModel model = small_job();
  model.spare_nodes = 1;
  failures::Hazard spot = fault_at("spot", 250);
  spot.effect = Effect::preemption;
  spot.notice = Seconds(60);
  model.hazards = {spot};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // 60 s: 20 s of work, 10 s of stall, 30 s until durable. 7 + 40 s later 750 s are left.
  EXPECT_EQ(result[Account::lost], 0);
  EXPECT_EQ(result.wall, ticks(310 + 47 + 750 + 80 + 30));
}

TEST(Preemption, WithoutNoticeIsAFailure) {
  JobModel model = small_job();
  model.spare_nodes = 1;
  failures::Hazard spot = fault_at("spot", 250);
  spot.effect = Effect::preemption;
  model.hazards = {spot};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result[Account::lost], ticks(30));
  EXPECT_EQ(result.wall, ticks(250 + 47 + 800 + 80 + 30));
}

TEST(ElasticJob, GoesOnWithAReplicaFewerUntilItIsMended) {
  JobModel model = small_job();
  model.gpus = 64;
  model.replicas = 4;
  model.spare_nodes = 1;
  failures::ElasticSpec elastic;
  elastic.stall = Seconds(20);
  elastic.rejoin = Seconds(10);
  model.recovery.elastic = elastic;
  model.hazards = {fault_at("crash", 253)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // 233 s are done; the step under way (7 s each: 231 s) is lost. Alarm at 258 s, the others run
  // from 278 s at 3/4 of the speed. The mended replica is ready 6 + 7 + 15 + 20 + 5 = 53 s after
  // the alarm, at 311 s: 33 s gave 24.75 s of work. All stand for 10 s; then 744.25 s with 8 saves
  // and 30 s.
  EXPECT_EQ(result[Account::lost], ticks(2));
  EXPECT_EQ(result[Account::degraded], ticks(33 - 24.75));
  EXPECT_EQ(result[Account::restart], ticks(30));
  EXPECT_EQ(result.wall, ticks(321 + 744.25 + 80 + 30));
}

TEST(ElasticJob, StopsWhenTooFewReplicasAreLeft) {
  JobModel model = small_job();
  model.replicas = 2;
  model.spare_nodes = 1;
  failures::ElasticSpec elastic;
  elastic.fewest_replicas = 2;
  model.recovery.elastic = elastic;
  model.hazards = {fault_at("crash", 250)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result[Account::degraded], 0);
  EXPECT_EQ(result.wall, ticks(250 + 18 + 40 + 800 + 80 + 30));
}

TEST(Throttling, FollowsTheTimeOfDay) {
  JobModel model = small_job();
  failures::ThrottleSpec heat;
  heat.from = Seconds(0);
  heat.until = Seconds(500);
  heat.keeps = 0.5;
  model.throttling = {heat};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  // Two segments of 210 s and 80 s at half speed: 240 s are done at 500 s. Then 760 s, 8 saves, 30
  // s.
  EXPECT_EQ(result[Account::degraded], ticks(240));
  EXPECT_EQ(result.wall, ticks(500 + 760 + 80 + 30));
}

TEST(StarvedJob, BooksWhatItsStepsWaitForInput) {
  JobModel model = small_job();
  model.starved = 1.25;
  model.staging = Seconds(100);
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(result[Account::load], ticks(100));
  EXPECT_EQ(result[Account::degraded], ticks(250));
  EXPECT_EQ(result.wall, ticks(100 + 1250 + 100 + 30));
}

TEST(StepTimes, AreAskedForOnceAState) {
  int asked = 0;
  StepTimes times([&asked](const SlowState& state) {
    ++asked;
    return 1 / state.keeps;
  });
  JobModel model = small_job();
  model.spare_nodes = 100;
  model.gpus = 64;
  model.class_of_node = {0, 0, 0, 0, 1, 1, 1, 1};
  failures::Hazard slow = slow_at("slow", 0, Effect::slow_gpu, 0.8);
  slow.recorded.clear();
  slow.rate = core::PerSecond(1.0 / 200);
  failures::Hazard flap = slow;
  flap.name = "flap";
  flap.effect = Effect::flapping_link;
  failures::Hazard link = flap;
  link.name = "link";
  link.effect = Effect::slow_link;
  model.hazards = {slow, flap, link};
  run_trials(model, 50, 0, times);
  // Two places, GPU or link: a flapping link is a slow one.
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(times.simulated(), 4U);
}

}  // namespace
}  // namespace headway::campaign
