#include "sim/study/verdict/assert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/study/sample_report.h"

namespace headway::study {
namespace {

std::vector<std::string> failures(const std::string& condition, const RunReport& report) {
  return failed_assertions(parse_assertions({condition}), report);
}

std::string parse_error(const std::string& condition) {
  try {
    parse_assertions({condition});
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Assertion, HoldsOrFailsByTheNumberInTheResult) {
  const RunReport report = sample_report();  // mfu = 0.42
  EXPECT_TRUE(failures("step.mfu > 0.38", report).empty());
  EXPECT_TRUE(failures("step.mfu>=0.42", report).empty());
  EXPECT_TRUE(failures("step.mfu != 0.5", report).empty());
  EXPECT_THAT(failures("step.mfu > 0.42", report),
              testing::ElementsAre("assert 'step.mfu > 0.42' fails: step.mfu is 0.42"));
  EXPECT_EQ(failures("step.mfu < 0.42", report).size(), 1U);
  EXPECT_EQ(failures("step.mfu <= 0.41", report).size(), 1U);
  EXPECT_EQ(failures("step.mfu == 0.41", report).size(), 1U);
}

TEST(Assertion, ReachesBooleansAndArrays) {
  EXPECT_TRUE(failures("memory.fits == true", sample_report()).empty());
  EXPECT_EQ(failures("memory.fits == false", sample_report()).size(), 1U);
  EXPECT_TRUE(failures("step.time_interval_s[1] < 4.6", sample_report()).empty());
}

TEST(Assertion, FailsWhereTheRunHasNoSuchPart) {
  EXPECT_THAT(failures("campaign.ettr.p50 > 0.5", sample_report()),
              testing::ElementsAre(
                  "assert 'campaign.ettr.p50 > 0.5' fails: this run has no campaign.ettr.p50: the "
                  "scenario has no run.until"));
  EXPECT_TRUE(failures("campaign.ettr.p50 > 0.5", sample_report_with_campaign()).empty());
  const std::string days = "campaign.time_to_market.ready_days.p95";
  EXPECT_EQ(missing_part(days, sample_report().scenario), "run.until");
  training::Scenario scenario = sample_report().scenario;
  scenario.run.until.emplace();
  EXPECT_EQ(missing_part(days, scenario), "run.bring_up");
  scenario.run.bring_up.emplace();
  EXPECT_EQ(missing_part(days, scenario), "");
}

TEST(Assertion, AnUnknownPathIsTheUsersFaultWithAGuess) {
  EXPECT_EQ(parse_error("step.mfuu > 0.3"),
            "the result has no number 'step.mfuu'; did you mean 'step.mfu'?\n");
  EXPECT_EQ(parse_error("mfu > 0.3"), "the result has no number 'mfu'; did you mean 'step.mfu'?\n");
  EXPECT_EQ(parse_error("ettr > 0.3"),
            "the result has no number 'ettr'; did you mean 'campaign.ettr.p50'?\n");
  EXPECT_EQ(parse_error("step > 0.3"),
            "the result has no number 'step'; docs/definitions.md lists them, as 'step.mfu'\n");
}

TEST(Assertion, ATextOfAnyLengthIsReadAndQuotedInShort) {
  const std::string letters(50'000, 'a');  // std::regex ended its stack here
  EXPECT_EQ(parse_error(letters + " > 0"),
            "the result has no number '" + letters.substr(0, 80) +
                "...'; docs/definitions.md lists them, as 'step.mfu'\n");
  EXPECT_EQ(parse_error(letters), "condition '" + letters.substr(0, 80) +
                                      "...' is not 'path > number'; write, for example, "
                                      "'step.mfu > 0.38'\n");
}

TEST(Assertion, WhatIsNoConditionIsShownWithAnExample) {
  const std::string expected = "is not 'path > number'; write, for example, 'step.mfu > 0.38'\n";
  for (const char* text : {"", "step.mfu", "step.mfu > ", "step.mfu > fast", "step.mfu => 3",
                           "0.3 < step.mfu", "step.mfu > nan"}) {
    EXPECT_EQ(parse_error(text), "condition '" + std::string(text) + "' " + expected);
  }
}

TEST(Assertion, AllWrongConditionsAreReportedTogetherAtTheirPlaces) {
  const core::SourceMarks marks{{"assert[0]", {"s.yaml", 7, 4, 1, ""}},
                                {"assert[1]", {"s.yaml", 8, 4, 1, ""}}};
  try {
    parse_assertions({"a", "b"}, marks);
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 2U);
    EXPECT_THAT(error.what(), testing::HasSubstr("s.yaml:8:4: condition 'b'"));
  }
}

}  // namespace
}  // namespace headway::study
