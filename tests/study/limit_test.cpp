#include "sim/study/verdict/limit.h"

#include <gtest/gtest.h>

#include "sim/study/words.h"

#include "tests/study/sample_report.h"

namespace headway::study {
namespace {

using core::Activity;
using core::Seconds;

/// A step of 4 s: compute, tensor-parallel communication, bubble.
training::StepResult step_of(double compute, double tensor, double bubble) {
  auto step = sample_report().step;
  step.breakdown = {};
  step.breakdown[Activity::compute] = Seconds(compute);
  step.breakdown[Activity::tensor] = Seconds(tensor);
  step.breakdown[Activity::pipeline_bubble] = Seconds(bubble);
  return step;
}

TEST(LimitSentence, NamesComputeFromHalfOfTheStepOnAndTheLargestLossBesideIt) {
  EXPECT_EQ(limit_sentence(step_of(3.132, 0.444, 0.424), std::nullopt),
            "The step is limited by compute: 78.3 % of 4.00 s; the largest loss is tensor-parallel "
            "communication (11.1 %).");
  EXPECT_EQ(limit_sentence(step_of(2, 0.8, 1.2), std::nullopt),
            "The step is limited by compute: 50.0 % of 4.00 s; the largest loss is the pipeline "
            "bubble (30.0 %).");
}

TEST(LimitSentence, NamesTheLargestLossBelowHalf) {
  EXPECT_EQ(limit_sentence(step_of(1.96, 0.8, 1.24), std::nullopt),
            "The step is limited by the pipeline bubble: 31.0 % of 4.00 s; compute has 49.0 %.");
}

TEST(LimitSentence, TellsTheCpuAndUnequalStagesFromComputeAndBubble) {
  auto step = step_of(1.6, 0, 0.4);
  step.breakdown[Activity::launch] = Seconds(1.2);
  step.breakdown[Activity::stage_imbalance] = Seconds(0.8);
  EXPECT_EQ(limit_sentence(step, std::nullopt),
            "The step is limited by the CPU's launches of kernels: 30.0 % of 4.00 s; compute has "
            "40.0 %.");
  step.breakdown[Activity::stage_imbalance] = Seconds(1.2);
  step.breakdown[Activity::launch] = Seconds(0.8);
  EXPECT_EQ(limit_sentence(step, std::nullopt),
            "The step is limited by unequal stages: 30.0 % of 4.00 s; compute has 40.0 %.");
}

TEST(LimitSentence, NamesMemoryFirstIfThePlanDoesNotFit) {
  auto step = sample_report().step;
  step.memory.fits = false;
  step.memory.peak = core::Bytes(100 * 1073741824.0);
  EXPECT_EQ(limit_sentence(step, std::nullopt),
            "Memory forbids the plan: stage 0 needs 100 GiB of a GPU's 80.0 GiB, 30.0 GiB of them "
            "for activations.");
}

// The bubble is 18.8 % of the step, so at ETTR 0.9 it is 16.9 % of the wall clock, more than the
// 10 % that interruptions have. At 0.7 it is 13.1 %, less than 30 %; compute is 75 % x 0.7. At 0.6
// compute has 45 %, less than half.
TEST(LimitSentence, NamesInterruptionsWhereTheyCostMoreThanAnyPartOfTheStep) {
  const auto report = sample_report_with_campaign();
  auto campaign = *report.campaign;
  EXPECT_EQ(limit_sentence(report.step, campaign), limit_sentence(report.step, std::nullopt));
  campaign.ettr.mean = 0.7;
  campaign.ledger = {};
  campaign.ledger[campaign::Account::useful] = 70;
  campaign.ledger[campaign::Account::lost] = 10;
  campaign.ledger[campaign::Account::restart] = 20;
  campaign.ledger[campaign::Account::spare_idle] =
      50;  // paid for, but outside the job's wall clock
  EXPECT_EQ(limit_sentence(report.step, campaign),
            "The run is limited by compute: 52.5 % of the wall clock; the largest loss is "
            "interruptions (30.0 %, 66.7 % of that restarts).");
  campaign.ettr.mean = 0.6;
  EXPECT_EQ(
      limit_sentence(report.step, campaign),
      "The run is limited by interruptions: 40.0 % of the wall clock, 66.7 % of that restarts; "
      "compute has 45.0 %.");
}

// Of the 90 % that are not useful 80 GPU s wait for input and 10 are lost at failures: 80 % of the
// clock is input's, and where failures have 50 of 90, half of it is theirs.
TEST(LimitSentence, NamesTheInputThatStepsWaitFor) {
  const auto report = sample_report_with_campaign();
  auto campaign = *report.campaign;
  campaign.ettr.mean = 0.1;
  campaign.ledger = {};
  campaign.ledger[campaign::Account::useful] = 10;
  campaign.ledger[campaign::Account::input] = 80;
  campaign.ledger[campaign::Account::lost] = 10;
  EXPECT_EQ(limit_sentence(report.step, campaign),
            "The run is limited by waiting for input: 80.0 % of the wall clock; compute has 7.50 "
            "%.");
  campaign.ledger[campaign::Account::input] = 40;
  campaign.ledger[campaign::Account::lost] = 50;
  EXPECT_EQ(limit_sentence(report.step, campaign),
            "The run is limited by interruptions: 50.0 % of the wall clock, 100 % of that steps "
            "lost at failures; compute has 7.50 %.");
}

TEST(PercentFigures, LessThanAllNeverReadsHundred) {
  EXPECT_EQ(percent_figures(0.0869), "8.69");
  EXPECT_EQ(percent_figures(0.9996), "99.96");
  EXPECT_EQ(percent_figures(1), "100");
}

}  // namespace
}  // namespace headway::study
