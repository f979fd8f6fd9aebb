// The interval that `auto` takes, against hand algebra and against trials at other intervals.
#include "sim/campaign/job/optimum.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

#include "sim/campaign/job/rates.h"
#include "sim/campaign/trials.h"
#include "sim/core/statistics.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::Seconds;
using failures::Effect;

constexpr double kBetween = 10000, kSaveStall = 30;

failures::Hazard one_hazard(Effect effect, std::int64_t nodes_lost, double mean = kBetween) {
  failures::Hazard hazard;
  hazard.name = "hazard";
  hazard.effect = effect;
  hazard.rate = core::PerSecond(1 / mean);
  hazard.nodes_lost = nodes_lost;
  hazard.keeps = effect == Effect::slow_gpu ? 0.9 : 1;
  return hazard;
}

/// Eight nodes, a replica each; 12 days of work, a failure every 10,000 s, saves of 30 s.
JobModel weeks_with(failures::Hazard of) {
  JobModel job = small_job();
  job.gpus = 64;
  job.replicas = 8;
  job.step = Seconds(1);
  job.end.work = Seconds(1e6);
  job.stall = Seconds(kSaveStall);
  job.persist = Seconds(0);
  job.spare_nodes = 16;
  job.hazards = {std::move(of)};
  return job;
}

/// Young's interval of cost C and rate of rollbacks 1 / mu, which the exact one is near.
double first_order_of(double mu, double stall) { return std::sqrt(2 * mu * stall); }

TEST(BestInterval, OfOneLevelIsTheExactFormulas) {
  const JobModel job = weeks_with(one_hazard(Effect::stop, 1));
  EXPECT_EQ(best_interval(job), optimal_interval(Seconds(kSaveStall), Seconds(kBetween)));
  EXPECT_EQ(best_storage_interval(job), best_interval(job));
  JobModel without = job;
  without.hazards.clear();
  EXPECT_EQ(best_interval(without), Seconds(0));
}

// Every fourth save is made at all: an interval of a fourth, and the same work between saves.
TEST(BestInterval, OfSavesThatAreSkippedIsOfThoseMade) {
  JobModel job = weeks_with(one_hazard(Effect::stop, 1));
  job.storage_every = 4;
  EXPECT_DOUBLE_EQ(best_interval(job).si(),
                   optimal_interval(Seconds(kSaveStall), Seconds(kBetween)).si() / 4);
  EXPECT_DOUBLE_EQ(best_storage_interval(job).si(),
                   optimal_interval(Seconds(kSaveStall), Seconds(kBetween)).si());
}

// A share u unreadable: tau (1/2 + u / (1 - u)) is lost, so tau* is that of mu / (1 + 2u / (1 -
// u)).
TEST(BestInterval, OfUnreadableSavesIsShorter) {
  JobModel job = weeks_with(one_hazard(Effect::stop, 0));
  job.unreadable = 0.4;
  EXPECT_NEAR(best_interval(job).si(),
              optimal_interval(Seconds(kSaveStall), Seconds(kBetween / (1 + 2 * 0.4 / 0.6))).si(),
              1e-6);
}

/// Host memory for all software failures, the storage for those of nodes.
JobModel host_and_storage() {
  JobModel job = weeks_with(one_hazard(Effect::stop, 1, 4e4));
  job.hazards.push_back(one_hazard(Effect::stop, 0, 1e4));
  job.hazards.back().name = "software";
  job.stall = Seconds(120);
  job.storage_every = 8;
  job.near = {{"host", Reach::process, 1, Seconds(2), Seconds(0), Seconds(5)}};
  return job;
}

// tau* = sqrt(2 (C_near + C_store / 8) / (lambda_near + 8 lambda_store)), to the Lambert term:
// sqrt(2 x 17 / (1e-4 + 8 x 2.5e-5)) = 337 s.
TEST(BestInterval, OfTwoLevelsWeighsBoth) {
  // Lambert's term is - 2 C / 3 to first order.
  const double first_order = std::sqrt(2 * 17 / (1e-4 + 8 * 2.5e-5));
  EXPECT_NEAR(best_interval(host_and_storage()).si(), first_order - 2 * 17 / 3.0, 0.5);
  EXPECT_DOUBLE_EQ(best_storage_interval(host_and_storage()).si(),
                   8 * best_interval(host_and_storage()).si());
}

// A storage that takes an hour for a save is written as often as it can: the host alone decides,
// sqrt(2 x 2 / 1e-4) = 200 s. A host level that takes 300 s is the least.
TEST(BestInterval, LeavesOutALevelThatCannotBeWrittenSoOften) {
  JobModel job = host_and_storage();
  job.stall = Seconds(0);
  job.persist = Seconds(3600);
  EXPECT_NEAR(best_interval(job).si(), 200, 5);
  job.near[0].persist = Seconds(302);
  EXPECT_DOUBLE_EQ(best_interval(job).si(), 300);
}

TEST(BestInterval, OfStarvedStepsHoldsLessWork) {
  JobModel job = weeks_with(one_hazard(Effect::stop, 0));
  job.starved = 3;
  EXPECT_DOUBLE_EQ(best_interval(job).si(),
                   optimal_interval(Seconds(kSaveStall), Seconds(kBetween)).si() / 3);
}

// ETTR over 60 trials with equal draws at the optimum and beside it: no interval is better by more
// than the noise of the difference, and those far off are worse, so that the test can fail.
struct OptimumKind {
  const char* name;
  JobModel job;
  double expected;  ///< tau*, first order
};

core::Moments gain_over(const JobModel& job, Seconds best, Seconds other) {
  JobModel at_best = job, beside = job;
  at_best.interval = best;
  beside.interval = other;
  const auto x = run_trials(at_best, 60, 1);
  const auto y = run_trials(beside, 60, 1);
  core::Moments gain;
  for (std::size_t i = 0; i < x.size(); ++i) {
    gain.add(ettr_of(x[i]) - ettr_of(y[i]));
  }
  return gain;
}

std::vector<OptimumKind> optimum_kinds() {
  const double plain = first_order_of(kBetween, kSaveStall);
  std::vector<OptimumKind> kinds{{"stop", weeks_with(one_hazard(Effect::stop, 1)), plain}};
  const auto add = [&](const char* name, Effect effect, double expected,
                       const std::function<void(JobModel&)>& change) {
    kinds.push_back({name, weeks_with(one_hazard(effect, 1)), expected});
    change(kinds.back().job);
  };
  const auto at_once = [](JobModel& job) {
    job.recovery.slow_part = failures::SlowPart::stop_at_once;
  };
  add("slow part", Effect::slow_gpu, plain, at_once);
  add("false alarm", Effect::false_alarm, plain, at_once);
  add("preemption", Effect::preemption, plain, [](JobModel& job) {
    job.hazards[0].notice = Seconds(10);  // a save takes 30 s
  });
  add("unreadable", Effect::stop, first_order_of(kBetween / (1 + 2 * 0.4 / 0.6), kSaveStall),
      [](JobModel& job) { job.unreadable = 0.4; });
  add("silent", Effect::stop, plain, [](JobModel& job) { job.hazards[0].latent = Seconds(50); });
  add("wrong blame", Effect::stop, plain, [](JobModel& job) { job.recovery.wrong_blame = 0.3; });
  add("starved", Effect::stop, plain / 2, [](JobModel& job) { job.starved = 2; });
  kinds.push_back({"two levels", host_and_storage(), std::sqrt(2 * 17 / 3e-4)});
  return kinds;
}

TEST(BestInterval, IsBeatenByNoOther) {
  for (const OptimumKind& kind : optimum_kinds()) {
    const Seconds best = best_interval(kind.job);
    EXPECT_NEAR(best.si() / kind.expected, 1, 0.1) << kind.name;
    for (const double factor : {0.25, 0.5, 0.7, 1.4, 2.0, 4.0}) {
      const auto more = gain_over(kind.job, best, factor * best);
      EXPECT_GT(more.mean(), -4 * more.standard_error() - 2e-4) << kind.name << " x " << factor;
      if (factor == 0.25 || factor == 4) {
        EXPECT_GT(more.mean(), 0.01) << kind.name << " x " << factor;
      }
    }
  }
}

// Where peers hold the state, the others go on or a spare takes the place, no failure goes back to
// a save: one at the end is best. Also where a save is made before the job stops.
TEST(BestInterval, IsTheRunWhereNothingGoesBackToASave) {
  JobModel peers = weeks_with(one_hazard(Effect::stop, 1));
  peers.recovery.peer_load = Seconds(10);
  JobModel elastic = weeks_with(one_hazard(Effect::stop, 1));
  elastic.recovery.elastic = failures::ElasticSpec{};
  JobModel moves = weeks_with(one_hazard(Effect::stop, 1));
  moves.recovery.migration = failures::MigrationSpec{};
  JobModel saves_first = weeks_with(one_hazard(Effect::slow_gpu, 1));
  JobModel in_time = weeks_with(one_hazard(Effect::preemption, 1));
  in_time.hazards[0].notice = Seconds(300);
  for (const JobModel& job : {peers, elastic, moves, saves_first, in_time}) {
    const Seconds best = best_interval(job);
    EXPECT_GT(best.si(), 1e5);
    EXPECT_GT(gain_over(job, best, Seconds(775)).mean(), 0.02);
  }
}

// Failures every 300 s that a nearby save answers, whose load takes 5 s: an hour's load from
// storage is of no failure, and the job goes on.
TEST(Ceiling, OfANearLevelHasItsOwnLoad) {
  JobModel job = weeks_with(one_hazard(Effect::stop, 0, 300));
  job.recovery.container_start = job.recovery.communicators = job.recovery.warm_up = Seconds(0);
  job.recovery.load = Seconds(3600);
  job.near = {{"host", Reach::process, 1, Seconds(2), Seconds(0), Seconds(5)}};
  job.interval = Seconds(30);
  EXPECT_GT(ceiling_of(job).share, 0.4);
  job.near[0].load = Seconds(3600);  // e^-12 of the time
  EXPECT_LT(ceiling_of(job).share, 1e-3);
}

// Without spares a move is a restart, and with one replica to lose the second loss is one, too.
TEST(BestInterval, CountsTheFailuresThatCannotBeBorne) {
  JobModel moves = weeks_with(one_hazard(Effect::stop, 1));
  moves.recovery.migration = failures::MigrationSpec{};
  moves.spare_nodes = 0;
  EXPECT_EQ(best_interval(moves), optimal_interval(Seconds(kSaveStall), Seconds(kBetween)));
  JobModel elastic = weeks_with(one_hazard(Effect::stop, 1));
  elastic.recovery.elastic = failures::ElasticSpec{};
  elastic.recovery.elastic->fewest_replicas = 8;
  EXPECT_EQ(best_interval(elastic), optimal_interval(Seconds(kSaveStall), Seconds(kBetween)));
  elastic.recovery.elastic->fewest_replicas = 7;
  elastic.spare_nodes = 0;
  // Absent 1,000 s of repair and 53 s of preparation: P(another is) = 1 - e^(-0.1053 - ...) = 0.1.
  const double share = rollbacks_of(elastic).to_level[0].si() * kBetween;
  EXPECT_NEAR(share, -std::expm1(-0.1053), 0.002);
}

}  // namespace
}  // namespace headway::campaign
