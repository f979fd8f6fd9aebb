// How often a job is interrupted, by its hazards' rates, against what trials count.
#include "sim/campaign/job/rates.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

#include "sim/campaign/trials.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using failures::Effect;

JobModel job_struck_by(Effect effect, const std::function<void(JobModel&)>& change) {
  JobModel job = small_job();
  job.gpus = 64;
  job.replicas = 8;
  job.step = Seconds(1);
  job.interval = Seconds(800);
  job.persist = Seconds(0);
  job.end.work = Seconds(2e6);
  job.spare_nodes = 16;
  job.recovery.replacement = Seconds(0);
  failures::Hazard hazard;
  hazard.name = "hazard";
  hazard.effect = effect;
  hazard.rate = core::PerSecond(1e-4);
  hazard.keeps = failures::is_slow(effect) ? 0.9 : 1;
  job.hazards = {hazard};
  change(job);
  return job;
}

/// Interruptions of 20 trials, and as many as the rate says for the time the job was up.
void expect_counted(const char* name, const JobModel& job, double rate) {
  EXPECT_NEAR(1 / mean_time_between_interruptions(job).si(), rate, 1e-6 * rate) << name;
  double counted = 0, up = 0;
  for (const auto& trial : run_trials(job, 20, 1)) {
    counted += static_cast<double>(trial.interruptions[0]);
    up += static_cast<double>(trial.wall - trial[Account::detect] - trial[Account::diagnose] -
                              trial[Account::wait] - trial[Account::cut_off]) /
          kSecond;
  }
  EXPECT_NEAR(counted, up * rate, 4 * std::sqrt(counted) + 0.01 * counted) << name;
}

// Each line has the rate of what stops the job, r = 1e-4 a second.
TEST(Interruptions, AreAsManyAsTheirRateSays) {
  const auto nothing = [](JobModel&) {};
  expect_counted("stop", job_struck_by(Effect::stop, nothing), 1e-4);
  // Blamed wrongly with w = 0.3, a fault stops the job 1 / (1 - w) times.
  expect_counted("wrong blame",
                 job_struck_by(Effect::stop, [](JobModel& job) { job.recovery.wrong_blame = 0.3; }),
                 1e-4 / 0.7);
  expect_counted("slow part", job_struck_by(Effect::slow_gpu, nothing), 1e-4);
  // Well again after L = 10 s in the mean, found after 5 + 6 s: e^(-11 / 10) of them.
  expect_counted(
      "slow for a while",
      job_struck_by(Effect::slow_gpu, [](JobModel& job) { job.hazards[0].lasts = Seconds(10); }),
      1e-4 * std::exp(-1.1));
  expect_counted("false alarm", job_struck_by(Effect::false_alarm, nothing), 1e-4);
  expect_counted(
      "preemption",
      job_struck_by(Effect::preemption, [](JobModel& job) { job.hazards[0].notice = Seconds(60); }),
      1e-4);
  // Those that strike while one is pending for 2,000 s are noticed with it.
  expect_counted("silent",
                 job_struck_by(Effect::stop,
                               [](JobModel& job) {
                                 job.hazards[0].latent = Seconds(2000);
                                 job.keep = 100;
                               }),
                 1e-4 / 1.2);
  // Every cut is felt at once, whether the watchdog ends the job or the way is back before.
  expect_counted("cut",
                 job_struck_by(Effect::cut_site,
                               [](JobModel& job) {
                                 job.sites = 2;
                                 job.hazards[0].nodes_lost = 0;
                                 job.hazards[0].lasts = Seconds(10);
                               }),
                 1e-4);
}

TEST(Interruptions, OfPartsThatNobodyTakesOutAreNone) {
  EXPECT_EQ(mean_time_between_interruptions(job_struck_by(
                Effect::slow_gpu,
                [](JobModel& job) { job.recovery.slow_part = failures::SlowPart::keep; })),
            Seconds(0));
}

// A slow drive that nobody looks for hangs the next save: it is one stop, and a whole interval is
// lost, twice the half.
// An alarm that was foreseen in vain moves a node where there is one to move to.
TEST(Interruptions, NobodyMovesInVainWithoutSpares) {
  JobModel job = job_struck_by(Effect::false_alarm, [](JobModel& changed) {
    changed.recovery.migration = failures::MigrationSpec{};
    changed.hazards[0].foreseen = 1;
    changed.spare_nodes = 0;
  });
  EXPECT_EQ(mean_time_between_interruptions(job), Seconds(0));
  EXPECT_EQ(run_trials(job, 1, 1)[0].interruptions[0], 0);
  job.spare_nodes = 16;
  EXPECT_GT(run_trials(job, 1, 1)[0].interruptions[0], 0);
  EXPECT_NEAR(mean_time_between_interruptions(job).si(), 1e4, 1);
}

TEST(Rollbacks, OfADriveThatHangsASaveCountTwice) {
  const JobModel job = job_struck_by(Effect::slow_drive, [](JobModel& model) {
    model.recovery.slow_part = failures::SlowPart::keep;
    model.recovery.detectors = failures::DetectorsSpec{};
    model.recovery.detectors->watchdog = Seconds(60);
    model.slow_drives = {{0, Seconds(100), Seconds(0), {}, {}}};
  });
  EXPECT_DOUBLE_EQ(mean_time_between_interruptions(job).si(), 1e4);
  EXPECT_DOUBLE_EQ(rollbacks_of(job).to_level[0].si(), 2e-4);
}

// Of three levels a failure reads the one that is written most often of those that survive it.
TEST(Rollbacks, GoToTheNewestLevelThatIsLeft) {
  JobModel job = job_struck_by(Effect::stop, [](JobModel& model) {
    model.near = {{"host", Reach::process, 1, Seconds(1), Seconds(0), Seconds(1)},
                  {"peer", Reach::node, 4, Seconds(1), Seconds(0), Seconds(1)}};
    model.storage_every = 16;
  });
  const auto levels = [](const JobModel& model) {
    std::vector<double> rates;
    for (const auto rate : rollbacks_of(model).to_level) {
      rates.push_back(rate.si());
    }
    return rates;
  };
  EXPECT_EQ(levels(job), (std::vector<double>{0, 1e-4, 0}));
  job.hazards[0].nodes_lost = 0;
  EXPECT_EQ(levels(job), (std::vector<double>{1e-4, 0, 0}));
  job.hazards[0].nodes_lost = 2;  // a node and its peer, but for the last of eight
  EXPECT_EQ(levels(job), (std::vector<double>{0, 1e-4 / 8, 1e-4 * 7 / 8}));
  job.hazards[0].latent = Seconds(10);
  EXPECT_NEAR(levels(job)[2], 1e-4 / 1.001, 1e-12);
}

// Offered load: rate x repair of the broken, rate x w / (1 - w) x retest of those blamed wrongly;
// false alarms test, and do not repair; parts that stay in the job are not away.
TEST(NodesOut, AreInRepairOrTested) {
  const auto of = [](Effect effect, double wrong) {
    return nodes_out(job_struck_by(effect, [&](JobModel& job) {
      job.recovery.repair = Seconds(20000);
      job.recovery.retest = Seconds(50000);
      job.recovery.wrong_blame = wrong;
    }));
  };
  EXPECT_DOUBLE_EQ(of(Effect::stop, 0).mean, 2);
  EXPECT_TRUE(of(Effect::stop, 0).erlang);
  EXPECT_NEAR(of(Effect::stop, 0.3).mean, 2 + 5 * 0.3 / 0.7, 1e-12);
  EXPECT_FALSE(of(Effect::stop, 0.3).erlang);
  EXPECT_DOUBLE_EQ(of(Effect::false_alarm, 0.3).mean, 5);
  EXPECT_FALSE(of(Effect::false_alarm, 0).erlang);
  EXPECT_FALSE(nodes_out(job_struck_by(Effect::slow_gpu, [](JobModel& job) {
                 job.recovery.slow_part = failures::SlowPart::keep;
               })).any);
}

}  // namespace
}  // namespace headway::campaign
