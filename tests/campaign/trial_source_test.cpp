#include "sim/campaign/trial_source.h"

#include <gtest/gtest.h>

#include "sim/campaign/campaign.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::campaign {
namespace {

/// Two days of eight nodes that often fail and are often slow.
training::CheckedScenario failing(int trials) {
  auto s = training::eight_nodes();
  s.run.until.emplace().wall = core::Seconds(2 * 86400.0);
  s.run.trials = trials;
  auto& list = s.run.failures.emplace();
  list.name = "made up";
  auto& hard = list.hazards.emplace_back();
  hard.name = "hard";
  hard.per = failures::Population::job;
  hard.mtbf = core::Seconds(40000);
  auto& slow = list.hazards.emplace_back();
  slow.name = "slow GPU";
  slow.per = failures::Population::job;
  slow.mtbf = core::Seconds(30000);
  slow.effect = failures::Effect::slow_gpu;
  slow.keeps = 0.8;
  slow.lasts = core::Seconds(20000);
  return training::check(std::move(s));
}

void add(KnownTrials part, KnownTrials& all) {
  all.trials.insert(all.trials.end(), part.trials.begin(), part.trials.end());
  all.answers.insert(all.answers.end(), part.answers.begin(), part.answers.end());
}

// A trial depends on nothing but its number: parts of any size, from one source or from several,
// give the campaign of one process.
TEST(TrialSource, PartsGiveTheCampaignOfOneProcess) {
  const auto checked = failing(12);
  const auto step = training::simulate_step(checked);
  const auto whole = simulate_campaign(checked, step, {.threads = 2});
  ASSERT_GT(whole.result.interruptions.mean, 1);
  ASSERT_GT(whole.result.step_simulations, 0);
  KnownTrials known;
  {
    TrialSource one(checked, step);
    add(one.run(0, 5, 1), known);
    add(one.run(5, 1, 2), known);
  }
  TrialSource other(checked, step);
  add(other.run(6, 6, 1), known);
  const auto parts = simulate_campaign(checked, step, {.threads = 1, .known = &known});
  EXPECT_EQ(parts.result.event_digest, whole.result.event_digest);
  EXPECT_EQ(parts.result.wall_days.mean, whole.result.wall_days.mean);
  EXPECT_EQ(parts.result.ettr.p95, whole.result.ettr.p95);
  EXPECT_EQ(parts.result.ledger, whole.result.ledger);
  EXPECT_EQ(parts.result.step_simulations, whole.result.step_simulations);
  EXPECT_EQ(parts.result.advice.interval_curve.size(), whole.result.advice.interval_curve.size());
}

// What a source says of some trials does not depend on those that it ran before.
TEST(TrialSource, SaysTheSameWhateverItRanBefore) {
  const auto checked = failing(8);
  const auto step = training::simulate_step(checked);
  TrialSource used(checked, step);
  used.run(0, 6, 2);
  const auto late = used.run(6, 2, 2);
  TrialSource fresh(checked, step);
  const auto alone = fresh.run(6, 2, 1);
  ASSERT_EQ(late.answers.size(), alone.answers.size());
  for (std::size_t i = 0; i < late.answers.size(); ++i) {
    EXPECT_EQ(late.answers[i].state, alone.answers[i].state);
    EXPECT_EQ(late.answers[i].slowness, alone.answers[i].slowness);
  }
  EXPECT_EQ(late.trials[1].event_digest, alone.trials[1].event_digest);
}

}  // namespace
}  // namespace headway::campaign
