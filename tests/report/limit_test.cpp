#include "sim/report/limit.h"

#include <gtest/gtest.h>

#include "tests/report/sample_report.h"

namespace headway::report {
namespace {

using core::Activity;
using core::Seconds;

TEST(LimitSentence, NamesTheLargestPartOfTheStepThatIsNotCompute) {
  // 0.75 s of bubble and 0.25 s of data-parallel communication in 4 s.
  EXPECT_EQ(
      limit_sentence(sample_report().step, std::nullopt),
      "The step is limited by the pipeline bubble: 18.8 % of 4.00 s, beside 75.0 % of compute.");
}

TEST(LimitSentence, NamesComputeWhereNothingElseMatters) {
  auto step = sample_report().step;
  step.breakdown = {};
  step.breakdown[Activity::compute] = Seconds(3.9);
  step.breakdown[Activity::tensor] = Seconds(0.1);
  EXPECT_EQ(limit_sentence(step, std::nullopt),
            "The step is limited by compute: 97.5 % of 4.00 s; the next part is tensor-parallel "
            "communication (2.50 %).");
}

// 75.0 % of the step is compute; of that the CPU adds 40 %, 30.0 % of the step and more than the
// bubble's 18.8 %. At 20 % it adds 15.0 %, less than the bubble.
TEST(LimitSentence, NamesTheCpuWhereItsLaunchesCostMost) {
  const auto step = sample_report().step;
  EXPECT_EQ(
      limit_sentence(step, std::nullopt, 0.4),
      "The step is limited by the CPU's launches of kernels: they add 30.0 % of 4.00 s, beside "
      "45.0 % of compute on the GPU; the next part is the pipeline bubble (18.8 %).");
  EXPECT_EQ(limit_sentence(step, std::nullopt, 0.2), limit_sentence(step, std::nullopt));
}

TEST(LimitSentence, DoesNotSpeakOfOffloadWhereTheRestIsFixedWork) {
  auto step = sample_report().step;
  step.breakdown = {};
  step.breakdown[Activity::compute] = Seconds(3.9);
  step.breakdown[Activity::other] = Seconds(0.1);
  EXPECT_EQ(limit_sentence(step, std::nullopt),
            "The step is limited by compute: 97.5 % of 4.00 s; the next part is fixed work and "
            "waits (2.50 %).");
}

TEST(LimitSentence, NamesMemoryFirstIfThePlanDoesNotFit) {
  auto step = sample_report().step;
  step.memory.fits = false;
  step.memory.peak = core::Bytes(100 * 1073741824.0);
  EXPECT_EQ(limit_sentence(step, std::nullopt),
            "Memory forbids the plan: stage 0 needs 100 GiB of a GPU's 80.0 GiB, 30.0 GiB of them "
            "for activations.");
}

TEST(LimitSentence, NamesFailuresWhereTheyCostMoreThanTheStepLoses) {
  const auto report = sample_report_with_campaign();
  auto campaign = *report.campaign;
  // ETTR 0.9 loses 10 % of the wall clock, less than the bubble's 18.8 %.
  EXPECT_EQ(limit_sentence(report.step, campaign), limit_sentence(report.step, std::nullopt));
  campaign.ettr.mean = 0.7;
  campaign.ledger = {};
  campaign.ledger[campaign::Account::useful] = 70;
  campaign.ledger[campaign::Account::lost] = 10;
  campaign.ledger[campaign::Account::restart] = 20;
  campaign.ledger[campaign::Account::spare_idle] =
      50;  // paid for, but outside the job's wall clock
  EXPECT_EQ(limit_sentence(report.step, campaign),
            "The run is limited by interruptions: 30.0 % of the wall clock is not useful, most of "
            "it restarts (20.0 %).");
}

}  // namespace
}  // namespace headway::report
