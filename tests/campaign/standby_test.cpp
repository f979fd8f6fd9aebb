// Warm standbys and their takeover time; nodes that are retired by a score that forgets.
#include <cmath>
#include <gmock/gmock.h>

#include "sim/campaign/job/spare_pool.h"
#include "sim/failures/closed_form.h"
#include "sim/failures/retire_score.h"

#include "tests/campaign/fixture.h"

namespace headway::campaign {
namespace {

using core::PerSecond;
using core::Seconds;
using core::Tick;
using failures::RetireScoreSpec;

TrialResult standby_trial(const JobModel& model, std::uint32_t trial = 0) {
  return run_trial(model, JobTicks(model), trial);
}

JobModel with_standbys(int nodes) {
  JobModel model = small_job();
  model.spare_nodes = 4;
  model.recovery.in_process_start = Seconds(2);
  model.recovery.standby = failures::StandbySpec{nodes, Seconds(3), Seconds(400)};
  return model;
}

// D = 5 + 6 s and R = 15 + 20 + 5 s of the small job, 7 s for the node. A warm standby takes over
// in 3 s instead of 7, and processes start in place in 2 s instead of 15: 17 s less of restart.
TEST(Standby, TakesOverInItsOwnTime) {
  JobModel cold = with_standbys(1);
  cold.recovery.standby.reset();
  cold.hazards = {fault_at("one", 150)};
  JobModel warm = with_standbys(1);
  warm.hazards = cold.hazards;
  const TrialResult without = standby_trial(cold);
  const TrialResult with = standby_trial(warm);
  EXPECT_EQ(without[Account::restart] - with[Account::restart], ticks((7 - 3) + (15 - 2)));
  EXPECT_EQ(without[Account::lost], with[Account::lost]);
  EXPECT_EQ(without[Account::load], with[Account::load]);
}

// A second failure 150 s after the first finds the next spare still warming (400 s); one after
// 600 s finds it warm. Two nodes lost at once have one standby: all start cold.
TEST(Standby, AColdSpareTakesItsTimeToWarmUp) {
  const auto restart = [](std::vector<failures::Hazard> faults) {
    JobModel model = with_standbys(1);
    model.hazards = std::move(faults);
    return standby_trial(model)[Account::restart];
  };
  const Tick warm = ticks(3 + 2 + 5), cold = ticks(7 + 15 + 5);
  EXPECT_EQ(restart({fault_at("one", 150)}), warm);
  EXPECT_EQ(restart({fault_at("one", 150), fault_at("two", 300)}), warm + cold);
  EXPECT_EQ(restart({fault_at("one", 150), fault_at("two", 750)}), warm + warm);
  EXPECT_EQ(restart({fault_at("both", 150, 2)}), cold);
}

// Failures of a Poisson process of rate r find k standbys, each followed by one that is warm after
// w: Erlang's loss system with r w = 0.05 x 40 = 2 offered, so B(2, 3) = (8/6) / (1 + 2 + 2 + 8/6)
// = 4/19 of them find none.
TEST(Standby, RunsOutAsErlangSays) {
  SparePool pool(failures::SpareChoice::first_ready, {3, 40 * kSecond});
  core::RandomStream stream(1, "standby", 0);
  constexpr int kFailures = 200'000;
  for (int i = 0; i < 20; ++i) {
    pool.add({});  // cold spares never lack
  }
  Tick now = 0;
  int cold = 0;
  for (int i = 0; i < kFailures; ++i) {
    now += 1 + ticks(-std::log1p(-stream.uniform(static_cast<std::uint64_t>(i))) / 0.05);
    cold += pool.warm(now) == 0 ? 1 : 0;
    pool.add(pool.take(now), now);
  }
  const double expected = failures::erlang_b(2, 3);
  EXPECT_NEAR(expected, 4.0 / 19, 1e-12);
  // Standard error of a share among 200,000, doubled for failures that are not independent.
  EXPECT_NEAR(static_cast<double>(cold) / kFailures, expected,
              4 * 2 * std::sqrt(expected * (1 - expected) / kFailures));
}

TEST(RetireScore, ForgetsByAWindowOrByHalves) {
  const core::Clock clock = core::Clock::campaign();
  const failures::RetireScore window(RetireScoreSpec{2, Seconds(100), {}}, clock);
  std::vector<Tick> failures;
  window.note(failures, ticks(10));
  EXPECT_FALSE(window.reached(failures, ticks(10)));
  window.note(failures, ticks(111));  // 101 s later: the first is forgotten
  EXPECT_EQ(window.of(failures, ticks(111)), 1);
  window.note(failures, ticks(211));  // 100 s later: not yet
  EXPECT_TRUE(window.reached(failures, ticks(211)));

  const failures::RetireScore half(RetireScoreSpec{1.4, {}, Seconds(100)}, clock);
  failures = {ticks(0), ticks(100)};
  // 2^-2 + 2^-1 after 200 s.
  EXPECT_NEAR(half.of(failures, ticks(200)), 0.75, 1e-12);
  half.note(failures, ticks(200));
  EXPECT_TRUE(half.reached(failures, ticks(200)));
}

// Failures every 1 / rate in the mean of a node that nobody retires: its score after one is
// 1 + rate h / ln 2 with a half-life, 1 + rate w with a window.
TEST(RetireScore, HasTheMeanOfShotNoise) {
  const core::Clock clock = core::Clock::campaign();
  for (const RetireScoreSpec& spec :
       {RetireScoreSpec{1e6, {}, Seconds(300)}, RetireScoreSpec{1e6, Seconds(300), {}}}) {
    const failures::RetireScore score(spec, clock);
    core::RandomStream stream(2, "score", 0);
    std::vector<Tick> failures;
    Tick now = 0;
    double sum = 0;
    constexpr int kFailures = 40'000;
    for (int i = 0; i < kFailures; ++i) {
      now += ticks(-100 * std::log1p(-stream.uniform(static_cast<std::uint64_t>(i))));
      score.note(failures, now);
      sum += score.of(failures, now);
    }
    // Variance of shot noise rate h / (2 ln 2) ~ 2.2, of a count rate w = 3; correlated over a few.
    EXPECT_NEAR(sum / kFailures, failures::mean_score(PerSecond(0.01), spec),
                4 * std::sqrt(3.0 * 8 / kFailures));
  }
}

/// One node of a job of two fails every 1,000 s (a lemon that no repair cures), out for 100 s, and
/// is retired by two failures within 500 s.
TEST(Retirement, ByAWindowTakesAsLongAsTheFormulaSays) {
  JobModel model = small_job();
  model.end = {.work = {}, .wall = Seconds(4e6)};
  model.spare_nodes = 0;
  model.interval = Seconds(50);
  model.stall = model.persist = Seconds(0);
  model.recovery = JobRecovery::at_once();
  model.recovery.repair = Seconds(100);
  model.recovery.repair_sigma = 1e-9;
  model.recovery.retire_score = RetireScoreSpec{2, Seconds(500), {}};
  model.recovery.retired_back = Seconds(100);
  failures::Hazard hazard;
  hazard.name = "node";
  hazard.rate = PerSecond(1e-3);
  model.gpus = 8;
  model.hazards = {hazard};
  const TrialResult result = standby_trial(model);
  // p = 1 - e^(-(500 - 100) / 1000) = 0.330: 1,000 (1 + 1 / 0.330) = 4,033 s of running.
  const Seconds each =
      failures::mean_time_to_second_in_window(PerSecond(1e-3), Seconds(500), Seconds(100));
  EXPECT_NEAR(each.si(), 1000 * (1 + 1 / -std::expm1(-0.4)), 1e-9);
  double running = 0;
  for (const Account account : {Account::useful, Account::lost}) {
    running += static_cast<double>(result[account]) / kSecond;
  }
  // Some 990 retirements; a geometric number of gaps each: spread about as large as the mean.
  EXPECT_NEAR(running / static_cast<double>(result.retired), each.si(), 4 * each.si() / 31);
}

}  // namespace
}  // namespace headway::campaign
