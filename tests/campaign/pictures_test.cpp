// What is drawn of a campaign.
#include "sim/campaign/pictures.h"

#include <gtest/gtest.h>
#include <numeric>

#include "sim/campaign/trials.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

TEST(Histogram, HasAsManyBinsAsTheRootOfTheValuesAndCountsEachOnce) {
  std::vector<double> values(16);
  std::iota(values.begin(), values.end(), 0.0);
  const auto histogram = histogram_of(values);
  EXPECT_EQ(histogram.low, 0);
  EXPECT_EQ(histogram.high, 15);
  // Bins of 3.75: 0 to 3, 4 to 7, 8 to 11, 12 to 15.
  EXPECT_EQ(histogram.counts, (std::vector<std::int64_t>{4, 4, 4, 4}));
}

TEST(Histogram, OfEqualValuesHasOneBin) {
  EXPECT_EQ(histogram_of({0.5, 0.5, 0.5}).counts, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(histogram_of({0.5}).counts, (std::vector<std::int64_t>{1}));
}

TEST(Histogram, HasNoMoreThanThirtyBins) {
  std::vector<double> values(5000);
  std::iota(values.begin(), values.end(), 0.0);
  const auto counts = histogram_of(values).counts;
  EXPECT_EQ(counts.size(), 30U);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 5000);
}

// A crash at 250 s: 5 s until it is noticed, 6 of diagnosis, 7 of replacement, 15 of start, 20 of
// load, 5 of warm-up, one after the other.
TEST(Pictures, ShowTheTrialWithEveryStageOfItsFailures) {
  JobModel job = small_job();
  job.spare_nodes = 1;
  job.hazards = {fault_at("crash", 250)};
  const auto trials = run_trials(job, 3, 1);
  StepTimes times;
  const CampaignPictures pictures = draw(job, trials, times);
  const TrialPicture& trial = pictures.trial;
  EXPECT_EQ(trial.trial, 1) << "all are alike: the middle one";
  EXPECT_EQ(trial.goodput, goodput_of(job, trials[0]));
  EXPECT_EQ(trial.wall, kClock.to_seconds(trials[0].wall));
  EXPECT_EQ(trial.spans_left_out, 0);
  ASSERT_EQ(trial.hazards.size(), 1U);
  const HazardTimeline& crash = trial.hazards[0];
  EXPECT_EQ(crash.hazard, "crash");
  EXPECT_EQ(crash.begin, (std::vector<double>{250, 255, 261, 268, 283, 303}));
  EXPECT_EQ(crash.length, (std::vector<double>{5, 6, 7, 15, 20, 5}));
  EXPECT_EQ(crash.struck, (std::vector<double>{250}));
  EXPECT_EQ(trial.failures_left_out, 0);
  std::vector<std::string> words;
  for (const int stage : crash.stage) {
    words.push_back(trial.stages[static_cast<std::size_t>(stage)]);
  }
  EXPECT_EQ(words, (std::vector<std::string>{"detect", "diagnose", "replace", "start", "load",
                                             "warm_up"}));
}

// 1,000 s of work: a save after each 100 s and 10 s of stall, the last at the end. The crash at
// 250 s takes the work after 200 s (210 s on the clock with one stall); it runs again at 308 s.
TEST(Pictures, ShowEverySaveOfTheTrial) {
  JobModel job = small_job();
  job.spare_nodes = 1;
  job.hazards = {fault_at("crash", 250)};
  StepTimes times;
  const auto trials = run_trials(job, 1, 1);
  const TrialPicture trial = draw(job, trials, times).trial;
  EXPECT_EQ(trial.levels, std::vector<std::string>{"storage"});
  ASSERT_EQ(trial.saves.begin.size(), 10U);
  EXPECT_EQ(static_cast<std::int64_t>(trial.saves.begin.size()), trials[0].saves);
  EXPECT_EQ(trial.saves.begin[0], 100);
  EXPECT_EQ(trial.saves.begin[1], 210);
  EXPECT_EQ(trial.saves.together, 1);
  EXPECT_EQ(trial.saves.length, std::vector<double>(10, 10));
  EXPECT_EQ(trial.saves.still, trial.saves.length);
  // 220 s is the end of the second save, durable 30 s later: at the crash. The rest is regular.
  const double again = trial.saves.begin[2];
  for (std::size_t i = 3; i < 10; ++i) {
    EXPECT_EQ(trial.saves.begin[i], again + 110.0 * static_cast<double>(i - 2));
  }
  EXPECT_EQ(core::Seconds(trial.saves.begin.back() + 10 + 30), trial.wall);
}

// 10,000 s of work with a save after each second: 10,000 saves, three an entry, to the end of the
// run. Each stalls for 10 s: an entry lasts 3 x 11 s less the second before its first save.
TEST(Pictures, CoverTheWholeRunHoweverManySavesItHas) {
  JobModel job = small_job();
  job.end.work = core::Seconds(10000);
  job.interval = core::Seconds(1);
  job.persist = core::Seconds(0.5);
  StepTimes times;
  const auto trials = run_trials(job, 1, 1);
  const TrialPicture trial = draw(job, trials, times).trial;
  EXPECT_EQ(trials[0].saves, 10000);
  EXPECT_EQ(trial.saves.together, 3);
  ASSERT_EQ(trial.saves.begin.size(), 3334U);
  EXPECT_EQ(trial.saves.begin[0], 1);
  EXPECT_EQ(trial.saves.begin[1], 34);
  EXPECT_EQ(trial.saves.length[0], 32);
  EXPECT_EQ(trial.saves.still[0], 30);
  EXPECT_EQ(trial.saves.still.back(), 10) << "10,000 = 3 x 3,333 + 1";
  EXPECT_NEAR(trial.saves.begin.back() + 10, trial.wall.si(), 1);
}

// Each second save goes to storage, the others to the host; without a stall they are moments.
TEST(Pictures, TellWhereASaveGoesTo) {
  JobModel job = small_job();
  job.storage_every = 2;
  job.near = {{"host", Reach::process, 1, core::Seconds(1), core::Seconds(0), core::Seconds(1)}};
  StepTimes times;
  const TrialPicture trial = draw(job, run_trials(job, 1, 1), times).trial;
  EXPECT_EQ(trial.levels, (std::vector<std::string>{"host", "storage"}));
  EXPECT_EQ(trial.saves.level, (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(trial.saves.length[0], 1);
  EXPECT_EQ(trial.saves.length[1], 11);
}

// Of trials that differ it is the median one.
TEST(Pictures, AreOfTheMedianTrial) {
  JobModel job = small_job();
  failures::Hazard hazard = fault_at("crash", 0);
  hazard.recorded.clear();
  job.hazards = {hazard};
  const auto trials = run_trials(job, 9, 1);
  StepTimes times;
  const TrialPicture trial = draw(job, trials, times).trial;
  int less = 0;
  int more = 0;
  for (const auto& other : trials) {
    less += goodput_of(job, other) < trial.goodput ? 1 : 0;
    more += goodput_of(job, other) > trial.goodput ? 1 : 0;
  }
  EXPECT_LE(less, 4);
  EXPECT_LE(more, 4);
  EXPECT_GT(less + more, 0);
}

}  // namespace
}  // namespace headway::campaign
