// Jobs that run on with a slow part, with notice, or with a replica fewer, against hand arithmetic.
#include <atomic>
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

// Up four fifths of the time: the job stands for the rest, as long as the link flaps. Two such
// links are up together for 0.64 of it.
TEST(FlappingLink, StopsTheJobWhileItIsDown) {
  JobModel model = small_job();
  model.recovery.slow_part = failures::SlowPart::keep;
  model.hazards = {slow_at("flap", 250, Effect::flapping_link, 0.8)};
  const TrialResult one = run_trial(model, JobTicks(model), 0);
  EXPECT_EQ(one[Account::degraded], ticks(770 * 0.25));
  const SlowState flap{SlowState::Kind::flap, 0.8, 0, 0};
  const SlowState gpu{SlowState::Kind::gpu, 0.5, 0, 0};
  StepTimes times;
  EXPECT_DOUBLE_EQ(times.slowness(canonical({{flap, flap}})), 1 / 0.64);
  EXPECT_DOUBLE_EQ(times.slowness(canonical({{flap, gpu}})), 2 / 0.8);
  EXPECT_EQ(times.simulated(), 1U);  // the slow GPU; outages need no simulation
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
  EXPECT_EQ(result[Account::input], ticks(250));
  EXPECT_EQ(result[Account::degraded], 0);
  EXPECT_EQ(result.wall, ticks(100 + 1250 + 100 + 30));
}

// A part that keeps half makes a step that waits a quarter longer for its input 2.5 times as long:
// a quarter is input, 1.25 are the part's.
TEST(StarvedJob, BooksWhatASlowPartAddsToTheWaitToThePart) {
  JobModel model = small_job();
  model.starved = 1.25;
  model.recovery.slow_part = failures::SlowPart::keep;
  model.hazards = {slow_at("slow", 0, failures::Effect::slow_gpu, 0.5)};
  const TrialResult result = run_trial(model, JobTicks(model), 0);
  EXPECT_NEAR(static_cast<double>(result[Account::input]), static_cast<double>(ticks(250)), 40);
  EXPECT_NEAR(static_cast<double>(result[Account::degraded]), static_cast<double>(ticks(1250)), 40);
}

TEST(StepTimes, AreAskedForOnceAState) {
  std::atomic<int> asked = 0;
  StepTimes times([&asked](const ClusterState& state) {
    ++asked;
    return waits_for_the_slowest(state);
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
  // Two places, GPU or link; outages need no simulation. Four single states, and of two parts
  // ten pairs in different replicas and four in one (two parts of one kind in one place are one).
  EXPECT_EQ(static_cast<std::size_t>(asked), times.simulated());
  EXPECT_GE(times.simulated(), 4U);
  EXPECT_LE(times.simulated(), 4U + 10U + 6U);
}

TEST(ClusterStates, AreOneIfOnlyTheReplicaDiffers) {
  const SlowState gpu{SlowState::Kind::gpu, 0.9, 3, 7};
  const SlowState link{SlowState::Kind::link, 0.5, 1, 2};
  SlowState other = gpu;
  other.replica = 5;
  EXPECT_EQ(canonical({{gpu}}), canonical({{other}}));
  EXPECT_EQ(canonical({{gpu, link}}), canonical({{link, other}}));
  SlowState beside = link;
  beside.replica = gpu.replica;
  EXPECT_NE(canonical({{gpu, link}}), canonical({{gpu, beside}}));
  // In one place the slower of one kind counts.
  SlowState slower = gpu;
  slower.keeps = 0.6;
  EXPECT_EQ(canonical({{gpu, slower}}), canonical({{slower}}));
}

TEST(StepTimes, LeaveOutOfPairsWhatNobodyFeels) {
  StepTimes times([](const ClusterState& state) {
    double slowness = 1;
    for (const auto& part : state.parts) {
      slowness += part.kind == SlowState::Kind::gpu ? 0.1 : 0;
    }
    return slowness;
  });
  const SlowState link{SlowState::Kind::link, 0.5, 0, 0};
  const SlowState gpu{SlowState::Kind::gpu, 0.5, 0, 1};
  EXPECT_DOUBLE_EQ(times.slowness(canonical({{link, gpu}})), 1.1);
  EXPECT_EQ(times.simulated(), 2U);
}

TEST(StepTimes, TakePlacesToBeAlikeThatSlowTheStepEqually) {
  // Positions 0 and 3 are the ends of a pipeline, 1 and 2 are alike.
  StepTimes times(
      [](const ClusterState& state) {
        double slowness = 1;
        for (const auto& part : state.parts) {
          slowness += part.position == 0 || part.position == 3 ? 0.1 * (1 + part.position) : 0.05;
        }
        return slowness;
      },
      {4, {1}});
  for (std::uint16_t a = 0; a < 4; ++a) {
    for (std::uint16_t b = 0; b < 4; ++b) {
      times.slowness(
          canonical({{{SlowState::Kind::gpu, 0.5, a, 0}, {SlowState::Kind::gpu, 0.5, b, 1}}}));
    }
  }
  // Four alone; pairs of three classes: 3 equal and 3 mixed ones.
  EXPECT_EQ(times.simulated(), 4U + 6U);
}

TEST(ClusterStates, OfManyPartsAreDecidedByTheSlowestPair) {
  StepTimes times(waits_for_the_slowest);
  ClusterState state;
  for (std::uint32_t replica = 0; replica < 5; ++replica) {
    state.parts.push_back({SlowState::Kind::gpu, 0.9 - 0.1 * replica, 0, replica});
  }
  EXPECT_DOUBLE_EQ(times.slowness(canonical(state)), 2);
  EXPECT_EQ(times.simulated(), 5U + 10U);
}

// Thousands of slow parts are of few classes: what decides is the same as of all pairs, whether two
// in one replica are worse or better than two apart.
TEST(ClusterStates, OfManyPartsAreThoseOfTheirClasses) {
  for (const double together : {0.5, -0.5}) {
    const auto slowness = [together](const ClusterState& state) {
      double sum = 2;
      for (const SlowState& part : state.parts) {
        sum += (1 - part.keeps) * (1 + 0.1 * part.position) +
               (part.kind == SlowState::Kind::link ? 0.013 : 0);
      }
      const bool two = state.parts.size() == 2;
      return sum + (two && state.parts[0].replica == state.parts[1].replica ? together : 0);
    };
    StepTimes times(slowness);
    ClusterState state;
    for (std::uint32_t i = 0; i < 60; ++i) {
      const auto kind = i % 3 == 0 ? SlowState::Kind::link : SlowState::Kind::gpu;
      state.parts.push_back(
          {kind, 0.9 - 0.1 * (i % 4), static_cast<std::uint16_t>(i % 5 % 2), i * 7 % 11});
    }
    state = canonical(std::move(state));
    ASSERT_GT(state.parts.size(), 20U);
    double slowest = 1;
    for (const SlowState& a : state.parts) {
      for (const SlowState& b : state.parts) {
        slowest = a == b ? slowest : std::max(slowest, slowness(canonical({{a, b}})));
      }
    }
    EXPECT_DOUBLE_EQ(times.slowness(state), slowest) << together;
  }
}

}  // namespace
}  // namespace headway::campaign
