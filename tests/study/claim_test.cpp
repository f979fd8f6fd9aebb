#include "sim/study/verdict/claim.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "sim/workload/closed_form.h"

#include "tests/study/sample_report.h"

namespace headway::study {
namespace {

using core::Seconds;
using testing::HasSubstr;

/// A model of about 405 billion parameters on 4,096 GPUs with 989.4 TFLOP/s.
training::Scenario large_scenario() {
  training::Scenario s;
  auto& m = s.model;
  m.layers = 126;
  m.hidden = 16384;
  m.heads = 128;
  m.key_value_heads = 8;
  m.head_dim = 128;
  m.ffn = 53248;
  m.vocabulary = 128256;
  s.training.sequence_length = 8192;
  s.cluster.node.gpu.peak.bf16 = core::FlopsPerSecond(989.4e12);
  return s;
}

TEST(Claim, RequiredRateIsSixNDOverTimeAndGpus) {
  const auto s = large_scenario();
  const double parameters = workload::count_parameters(s.model).total();
  const auto rate = required_rate(s, 10e12, Seconds(50 * 86400.0), 4096);
  EXPECT_NEAR(rate.parameters_only.si(), 6 * parameters * 10e12 / (50 * 86400.0 * 4096), 1);
  // 6 x 405.9e9 x 10e12 / (4.32e6 s x 4096) = 1.376e15 FLOP/s a GPU = 139 % of 989.4e12.
  EXPECT_NEAR(rate.parameters_only.si() / 989.4e12, 1.391, 0.001);
  // Attention in full adds 12 x layers x hidden x s = 12 x 126 x 16384 x 8192 = 2.03e11 FLOP a
  // token to 6 N = 2.44e12 without the embedding's rows, which are looked up and not multiplied: 6
  // x 2.1e9 less.
  const double token = 6 * (parameters - 128256.0 * 16384) + 12.0 * 126 * 16384 * 8192;
  EXPECT_NEAR(rate.with_attention / rate.parameters_only, token / (6 * parameters), 1e-3);
  EXPECT_GT(rate.with_attention, rate.causal);
}

TEST(Claim, AWallClockBeyondThePeakIsImpossible) {
  auto s = large_scenario();
  s.claim.wall = Seconds(50 * 86400.0);
  s.claim.tokens = 10e12;
  auto step = sample_report().step;
  step.tokens_per_s = 1e6;
  step.mfu = 0.4;
  const auto claim = check_claim(s, step, std::nullopt, 4096);
  ASSERT_EQ(claim.impossible.size(), 1U);
  EXPECT_THAT(claim.impossible[0], HasSubstr("139 % of the peak of 989 TFLOP/s"));
  // 10e12 tokens at 1e6 a second: 115.74 days; 50 days ask for 4096 x 115.74 / 50 = 9481.4, so 1186
  // nodes of 8.
  ASSERT_EQ(claim.remarks.size(), 1U);
  EXPECT_THAT(claim.remarks[0], HasSubstr("Possible instead: 116 days on these 4,096 GPUs"));
  EXPECT_THAT(claim.remarks[0], HasSubstr("ask for 9,488 GPUs"));
}

TEST(Claim, AMissedClaimIsARemarkOnly) {
  auto s = large_scenario();
  s.claim.wall = Seconds(100 * 86400.0);  // about 70 % of peak: physics allows it
  s.claim.tokens = 10e12;
  auto step = sample_report().step;
  step.tokens_per_s = 1e6;
  const auto claim = check_claim(s, step, std::nullopt, 4096);
  EXPECT_TRUE(claim.impossible.empty());
  ASSERT_EQ(claim.remarks.size(), 2U);
  EXPECT_THAT(claim.remarks[0], testing::StartsWith("The claim is missed: "));
}

TEST(Claim, AClaimThatIsMetHasNoRemark) {
  auto s = large_scenario();
  s.claim.wall = Seconds(200 * 86400.0);
  s.claim.tokens = 10e12;
  auto step = sample_report().step;
  step.tokens_per_s = 1e6;
  const auto claim = check_claim(s, step, std::nullopt, 4096);
  EXPECT_TRUE(claim.impossible.empty());
  EXPECT_TRUE(claim.remarks.empty());
  ASSERT_EQ(claim.comparisons.size(), 1U);
  EXPECT_NEAR(claim.comparisons[0].predicted, 115.74, 0.01);
}

TEST(Claim, InterruptionsLengthenThePredictedWallClock) {
  auto s = large_scenario();
  s.claim.wall = Seconds(200 * 86400.0);
  s.claim.tokens = 10e12;
  auto report = sample_report_with_campaign();  // ETTR 0.9
  report.step.tokens_per_s = 1e6;
  const auto claim = check_claim(s, report.step, report.campaign, 4096);
  EXPECT_NEAR(claim.comparisons[0].predicted, 115.74 / 0.9, 0.01);
}

TEST(Claim, PublishedFiguresAreComparedWithTheSameConvention) {
  auto s = large_scenario();
  s.claim.mfu = 0.4;
  s.claim.hfu = 0.5;
  s.claim.tflops_per_gpu = 400;
  s.claim.ettr = 0.95;
  const auto report = sample_report_with_campaign();
  const auto claim = check_claim(s, report.step, report.campaign, 16);
  ASSERT_EQ(claim.comparisons.size(), 4U);
  EXPECT_EQ(claim.comparisons[0].predicted, 415);
  EXPECT_DOUBLE_EQ(claim.comparisons[1].predicted, 42);
  EXPECT_DOUBLE_EQ(claim.comparisons[2].predicted, 44);
  EXPECT_NEAR(claim.comparisons[3].error(), 0.9 / 0.95 - 1, 1e-12);
}

TEST(Claim, TheHeadlineHalvesAttentionWhereItIsOverAThird) {
  auto s = large_scenario();
  const auto step = sample_report().step;
  EXPECT_EQ(headline_mfu(s, step), step.mfu);
  s.training.sequence_length = 131072;  // 12 x 126 x 16384 x 131072 = 3.2e12, more than 6 N
  EXPECT_EQ(headline_mfu(s, step), step.mfu_causal);
}

// The medians that are printed beside published figures are the committed ones.
TEST(Claims, SayHowPredictionsLieInGeneral) {
  std::ifstream file(HEADWAY_SOURCE_DIR "/tests/golden/validation/summary.txt");
  std::map<std::string, PublishedMedian> committed;
  std::string name;
  PublishedMedian line;
  for (double mean = 0; file >> name >> line.rows >> line.error >> mean;) {
    committed[name] = line;
  }
  for (const auto& [part, printed] : std::map<std::string, PublishedMedian>{
           {"dense_NVIDIA", kDenseRuns},
           {"mixtures_of_experts", kMixtureRuns},
           {"dense_NVIDIA,_not_fitted", kOtherDenseRuns},
           {"mixtures_of_experts,_not_fitted", kOtherMixtureRuns}}) {
    EXPECT_EQ(printed.rows, committed[part].rows) << part;
    EXPECT_NEAR(printed.error, committed[part].error, 0.00056) << part;
  }
  EXPECT_THAT(published_in_general(), HasSubstr("within 3.1 % of 419 published ones of dense"));
}

}  // namespace
}  // namespace headway::study
