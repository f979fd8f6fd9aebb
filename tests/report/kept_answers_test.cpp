#include "sim/report/points/kept_answers.h"

#include <gtest/gtest.h>
#include <limits>

#include "sim/core/error.h"

namespace headway::report {
namespace {

/// Numbers that a careless text would change.
campaign::KnownTrials trials() {
  campaign::KnownTrials known;
  auto& first = known.trials.emplace_back();
  first.wall = std::numeric_limits<core::Tick>::max();
  first[campaign::Account::useful] = (std::int64_t{1} << 53) + 1;
  first.interruptions = {3, 0};
  first.saves = 7;
  first.event_digest = std::numeric_limits<std::uint64_t>::max();
  known.trials.emplace_back().loads = 2;
  known.answers = {{{{{campaign::SlowState::Kind::link, 0.1, 3, 9}}, 1.0 / 3}, 1 + 1e-15}};
  return known;
}

TEST(KeptAnswers, TrialsComeBackToTheLastBit) {
  const auto before = trials();
  campaign::KnownTrials after;
  read_trial_lines(trial_lines(before), "a.jsonl", after);
  ASSERT_EQ(after.trials.size(), 2U);
  EXPECT_EQ(after.trials[0].wall, before.trials[0].wall);
  EXPECT_EQ(after.trials[0].accounts, before.trials[0].accounts);
  EXPECT_EQ(after.trials[0].interruptions, before.trials[0].interruptions);
  EXPECT_EQ(after.trials[0].saves, 7);
  EXPECT_EQ(after.trials[0].event_digest, before.trials[0].event_digest);
  EXPECT_EQ(after.trials[1].loads, 2);
  ASSERT_EQ(after.answers.size(), 1U);
  EXPECT_EQ(after.answers[0].state, before.answers[0].state);
  EXPECT_EQ(after.answers[0].slowness, before.answers[0].slowness);
  // Of a state that two shards met, one answer; their trials follow one another.
  read_trial_lines(trial_lines(before), "b.jsonl", after);
  EXPECT_EQ(after.trials.size(), 4U);
  EXPECT_EQ(after.answers.size(), 1U);
}

TEST(KeptAnswers, MachinesComeBackToTheLastBit) {
  study::MachineAnswer before;
  before.refused = "three words \xC3\xA9";
  before.infeasible = true;
  auto& plan = before.result.plans.emplace_back();
  plan.layout.tensor = 4;
  plan.layout.schedule = workload::ScheduleKind::zero_bubble_v;
  plan.layout.chunk_layers = {3, 4};
  plan.layout.data = 8;
  plan.step.time = core::Seconds(0.1 + 0.2);
  plan.step.breakdown[core::Activity::expert] = core::Seconds(1e-300);
  plan.step.result_digest = 0xfedcba9876543210U;
  auto& run = plan.campaign.emplace();
  run.result.mean_within = std::numeric_limits<double>::infinity();
  run.result.by_hazard = {{"a", 0.7}};
  run.total_usd.emplace().p95 = 5;
  before.result.rejected = {{"memory", "why", 3, "nearest", 0.25},
                            {"rule", "", 1, "", std::numeric_limits<double>::infinity()}};
  const std::string line = machine_line(before);
  const auto read = read_machine_lines(line, "a.jsonl");
  ASSERT_EQ(read.size(), 1U);
  const auto& after = read.front();
  EXPECT_EQ(after.refused, before.refused);
  EXPECT_TRUE(after.infeasible);
  ASSERT_EQ(after.result.plans.size(), 1U);
  EXPECT_EQ(after.result.plans[0].layout, plan.layout);
  EXPECT_EQ(after.result.plans[0].step.time, plan.step.time);
  EXPECT_EQ(after.result.plans[0].step.breakdown, plan.step.breakdown);
  EXPECT_EQ(after.result.plans[0].step.result_digest, plan.step.result_digest);
  EXPECT_EQ(after.result.plans[0].campaign->result.mean_within, run.result.mean_within);
  EXPECT_EQ(after.result.rejected, before.result.rejected);
  EXPECT_EQ(machine_line(after), line);
}

TEST(KeptAnswers, WhatIsNoneIsNamedWithItsLine) {
  campaign::KnownTrials known;
  try {
    read_trial_lines(trial_lines(trials()) + "{\"w\": 1}\n", "a.jsonl", known);
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.diagnostics().front().message,
              "a.jsonl:4: this is no part of an answer of this program; remove the file, and it is "
              "worked out again");
  }
  EXPECT_THROW(read_machine_lines("[]\n", "b.jsonl"), core::Error);
}

}  // namespace
}  // namespace headway::report
