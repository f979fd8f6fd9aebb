// What a campaign teaches: spares for a target.
#include "sim/campaign/advice.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "sim/campaign/trials.h"
#include "sim/core/statistics.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;

constexpr double kDay = 86400;
constexpr double kTarget = 0.01;

/// 64 nodes for 200 days, of which one is lost every half day and back after two: four in repair.
JobModel losing_nodes(std::int64_t nodes_lost) {
  JobModel model = small_job();
  model.gpus = 64 * 8;
  model.end = {.work = {}, .wall = Seconds(200 * kDay)};
  model.interval = Seconds(3600);
  model.recovery.repair = Seconds(2 * kDay);
  failures::Hazard hazard;
  hazard.name = "node";
  hazard.rate = core::PerSecond(1 / (0.5 * kDay)) / static_cast<double>(nodes_lost);
  hazard.nodes_lost = nodes_lost;
  model.hazards = {hazard};
  return model;
}

std::optional<SparesNeeded> spares(const JobModel& model, int trials = 40) {
  StepTimes times;
  return spares_for(model, kTarget, trials, 1, times);
}

double waits(JobModel model, std::int64_t spare_nodes, int trials = 40) {
  model.spare_nodes = spare_nodes;
  double waiting = 0;
  double wall = 0;
  for (const auto& trial : run_trials(model, trials, 1)) {
    waiting += static_cast<double>(trial[Account::wait]);
    wall += static_cast<double>(trial.wall);
  }
  return waiting / wall;
}

// Four nodes in repair on average: Erlang's B(4, c) falls below 1 % at c = 10 (0.0053; c = 9 gives
// 0.0133), so nine spares and the one that is missed.
TEST(Spares, OfSingleNodesAreErlangs) {
  const auto found = spares(losing_nodes(1));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(found->nodes, 9);
}

// Erlang's formula holds for any law of repair. A queue of more crews than nodes never queues, so
// trials with lognormal repairs must find his number, give or take the one that noise costs.
TEST(Spares, ByTrialsAgreeWithErlangWhereHeHolds) {
  JobModel model = losing_nodes(1);
  model.recovery.repair_crews = 1000;
  model.recovery.repair_sigma = 0.5;
  const auto found = spares(model, 200);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->exact);
  EXPECT_NEAR(static_cast<double>(found->nodes), 9, 1);
}

// As many nodes in repair on average, but four at a time: more spares, and the fewest that do.
TEST(Spares, OfRacksAreTheFewestThatSuffice) {
  const JobModel model = losing_nodes(4);
  const auto found = spares(model);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->exact);
  EXPECT_GT(found->nodes, 9 + 2);
  EXPECT_LT(waits(model, found->nodes), kTarget);
  EXPECT_GE(waits(model, found->nodes - 1), kTarget);
}

// One crew and an offered load of 0.5: P(waiting) of the truncated birth-death chain is
// 0.5^(s + 1) (1 - 0.5) / (1 - 0.5^(s + 2)); s = 5 gives 0.0079, s = 4 gives 0.0159.
TEST(Spares, OfOneCrewFollowTheBirthDeathChain) {
  JobModel model = losing_nodes(1);
  model.recovery.repair = Seconds(0.25 * kDay);
  model.recovery.repair_crews = 1;
  const auto found = spares(model);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(found->nodes, 5);
}

// Nodes that a score retires do not come back, of which Erlang knows nothing: trials, also where no
// score is so high.
TEST(Spares, OfNodesThatAScoreRetiresAreByTrials) {
  JobModel model = losing_nodes(1);
  model.recovery.retire_score = failures::RetireScoreSpec{1e6, Seconds(500), {}};
  const auto found = spares(model, 200);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->exact);
  EXPECT_NEAR(static_cast<double>(found->nodes), 9, 1);
}

// A fifth of the blame is wrong: 4 broken nodes away and 0.25 x 2 a day x 2 days = 1 healthy one,
// two of which leave one after the other. No Erlang, but the fewest that do.
TEST(Spares, OfNodesBlamedWronglyAreTheFewestThatSuffice) {
  JobModel model = losing_nodes(1);
  model.recovery.wrong_blame = 0.2;
  model.recovery.retest = Seconds(2 * kDay);
  const auto found = spares(model);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->exact);
  EXPECT_GT(found->nodes, 9);
  EXPECT_LT(waits(model, found->nodes), kTarget);
  EXPECT_GE(waits(model, found->nodes - 1), kTarget);
}

// Healthy nodes are away for a test of half a day, not for the repair of two: one at a time on
// average, B(1, c) < 1 % from c = 5 on, so four spares and the one that is missed.
TEST(Spares, OfFalseAlarmsWaitForTheTest) {
  JobModel model = losing_nodes(1);
  model.hazards[0].effect = failures::Effect::false_alarm;
  model.recovery.retest = Seconds(0.5 * kDay);
  const auto found = spares(model, 200);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->exact);
  EXPECT_NEAR(static_cast<double>(found->nodes), 4, 1);
}

// Losses of four nodes keep more than the job's own eight away now and then.
TEST(Spares, MayBeMoreThanTheJobHasNodes) {
  JobModel model = losing_nodes(4);
  model.gpus = 8 * 8;
  const auto found = spares(model);
  ASSERT_TRUE(found.has_value());
  EXPECT_GT(found->nodes, 8);
  EXPECT_LT(waits(model, found->nodes), kTarget);
  EXPECT_LE(found->nodes, most_spares(model));
}

TEST(Spares, AreNoQuestionWhereNoNodeIsLost) {
  JobModel model = losing_nodes(1);
  model.hazards[0].nodes_lost = 0;
  EXPECT_FALSE(spares(model).has_value());
}

failures::Hazard drawn(const char* name, double mean, std::int64_t nodes_lost) {
  failures::Hazard hazard = fault_at(name, 0, nodes_lost);
  hazard.recorded.clear();
  hazard.rate = core::PerSecond(1 / mean);
  return hazard;
}

const IntervalPoint& own_point(const std::vector<IntervalPoint>& curve, const JobModel& job) {
  const auto own = std::find_if(curve.begin(), curve.end(), [&](const auto& point) {
    return point.interval == effective_interval(job);
  });
  HEADWAY_CHECK(own != curve.end(), "the job's own interval is not in the curve");
  return *own;
}

// Silent failures that show after 2 h: with an interval of 20 min and 30 saves kept the job gets
// on, but at an eighth of it the saves kept reach back 75 min, and each failure leads back to the
// start of the run. That interval never ends; the others are answered all the same.
TEST(IntervalCurve, NamesIntervalsThatNeverEndAndAnswersForTheOthers) {
  JobModel job = small_job();
  job.end = {.work = Seconds(30 * kDay), .wall = {}};
  job.interval = Seconds(1200);
  job.stall = Seconds(10);
  job.keep = 30;
  job.spare_nodes = 100;
  job.hazards = {drawn("silent", 0.5 * kDay, 0)};
  job.hazards[0].latent = Seconds(7200);
  const auto trials = run_trials(job, 20, 1);
  StepTimes times;
  const auto curve = interval_curve(job, Seconds(1200), trials, 1, times);
  EXPECT_FALSE(curve.front().ettr.has_value());
  EXPECT_NEAR(*own_point(curve, job).ettr, mean_ettr(trials), 1e-12);
  EXPECT_TRUE(curve.back().ettr.has_value());
  EXPECT_NO_THROW(advise(job, trials, 1, times));
}

// A failure in a hundred runs: 50 trials see half of one, and a curve of them would say that saves
// cost and bring nothing. At eight times the interval of 5,000 s a failure loses 7 x 5,000 / 2 s
// more, which is 175 s a run, and 17 saves of half a second are not made. Few trials: by the
// formula. Where somebody waits for a spare, which it does not know, by as many trials as there
// are.
TEST(IntervalCurve, KnowsWhatFailuresCostThatFewTrialsSee) {
  JobModel job = small_job();
  job.end = {.work = Seconds(100'000), .wall = {}};
  job.interval = Seconds(5000);
  job.stall = Seconds(0.5);
  job.hazards = {drawn("node", 1e7, 1)};
  for (const auto& [spares, count] : {std::pair(4, 50), std::pair(4, 400), std::pair(0, 4000)}) {
    job.spare_nodes = spares;
    const auto trials = run_trials(job, count, 1);
    StepTimes times;
    const auto curve = interval_curve(job, Seconds(5000), trials, 1, times);
    const double loss = *own_point(curve, job).ettr - *curve.back().ettr;
    ASSERT_NEAR(curve.back().interval.si(), 40'000, 1);
    EXPECT_NEAR(loss, (0.01 * 7 * 2500 - 17 * 0.5) / 1e5, 0.0006) << count;
  }
}

// One law over random jobs, one seed: what the advice says of the job's own interval is what the
// campaign found, to 4 standard errors and 0.002 (the end of a run that a formula does not know),
// whether anybody waits for a spare or not.
TEST(IntervalCurve, SaysOfTheJobsOwnIntervalWhatTheCampaignFound) {
  std::mt19937 random(20261122);
  const auto between = [&](double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<>(0, 1)(random));
  };
  int waited = 0;
  int exact = 0;
  for (int i = 0; i < 60; ++i) {
    JobModel job = small_job();
    job.gpus = 64 * 8;
    const Seconds length(between(2 * kDay, 60 * kDay));
    job.end = i % 2 == 0 ? JobEnd{.work = length, .wall = {}} : JobEnd{.work = {}, .wall = length};
    job.stall = Seconds(between(1, 60));
    job.persist = Seconds(i % 3 == 0 ? 0 : between(10, 600));
    job.interval = Seconds(between(600, 20000));
    job.spare_nodes = i % 4;
    job.recovery.repair = Seconds(between(3600, 3 * kDay));
    job.recovery.repair_sigma = i % 5 == 0 ? 1.0 : 0.0;
    job.hazards = {drawn("node", between(0.2 * kDay, 5 * kDay), 1),
                   drawn("software", between(0.2 * kDay, 5 * kDay), 0)};
    const auto trials = run_trials(job, 60, 1);
    core::Moments found;
    for (const auto& trial : trials) {
      found.add(ettr_of(trial));
    }
    StepTimes times;
    const auto point = own_point(interval_curve(job, job.interval, trials, 1, times), job);
    ASSERT_TRUE(point.ettr.has_value());
    EXPECT_NEAR(*point.ettr, found.mean(), 4 * found.standard_error() + 0.002) << "job " << i;
    waited += anyone_waited(trials) ? 1 : 0;
    exact += point.exact ? 1 : 0;
  }
  EXPECT_GT(waited, 10);
  EXPECT_GT(exact, 5);
}

// The figure "down after one" is D + R: 5 + 6 + 7 s and 15 + 20 + 5 s, whether the job waited
// 1,000 s for the repair of its node or not.
TEST(Downtime, IsWithoutTheWaitForASpare) {
  JobModel job = small_job();
  job.hazards = {fault_at("node", 250)};
  const auto waiting = run_trials(job, 1, 1);
  EXPECT_GT(waiting.front()[Account::wait], 0);
  EXPECT_EQ(summarize(job, waiting).downtime.si(), 58);
  job.spare_nodes = 1;
  EXPECT_EQ(summarize(job, run_trials(job, 1, 1)).downtime.si(), 58);
}

}  // namespace
}  // namespace headway::campaign
