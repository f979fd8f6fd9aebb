#include "sim/report/verbs/run_table.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "tests/study/sample_report.h"

namespace headway::report {
namespace {

using testing::HasSubstr;

std::string committed(const std::string& name) {
  std::ifstream file(std::string(HEADWAY_SOURCE_DIR) + "/tests/report/golden/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RunTable, PrintsTheWholeDocumentAsCommitted) {
  const auto document = run_document(study::sample_report_with_campaign());
  EXPECT_EQ(to_text(document), committed("run.txt"));
  EXPECT_EQ(to_markdown(document), committed("run.md"));
}

TEST(RunTable, BreakdownAddsUpToTheStep) {
  const std::string text = to_text(run_document(study::sample_report()));
  EXPECT_THAT(text, HasSubstr("  the pipeline bubble                      0.750       18.8\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "  total                                     4.00      100.0               4.00\n"));
}

TEST(RunTable, MemoryIsListedByKindAgainstTheCapacity) {
  const std::string text = to_text(run_document(study::sample_report()));
  EXPECT_THAT(text, HasSubstr("share of 80.0 GiB [%]"));
  EXPECT_THAT(text, HasSubstr("  activations  30.0                   37.5\n"));
  EXPECT_THAT(text, HasSubstr("  total        60.0                   75.0\n"));
}

TEST(RunTable, TheLedgerHasATotal) {
  const std::string text = to_text(run_document(study::sample_report_with_campaign()));
  EXPECT_THAT(text, HasSubstr("  useful steps                 9.00       90.0\n"));
  EXPECT_THAT(text, HasSubstr("  total                        10.0      100.0\n"));
}

TEST(RunTable, EndsWithTheSentenceThatNamesTheLimit) {
  study::RunReport report = study::sample_report();
  report.status = study::Status::infeasible;
  report.reasons = {"it does not fit"};
  const std::string text = to_text(run_document(report));
  EXPECT_THAT(text, HasSubstr("Status: infeasible.\n\nit does not fit\n"));
  EXPECT_THAT(text, testing::EndsWith("\nThe step is limited by the pipeline bubble.\n"));
}

TEST(RunTable, PublishedFiguresStandBesideOurs) {
  study::RunReport report = study::sample_report();
  report.claim.comparisons = {{"MFU [%]", 40, 42}};
  EXPECT_THAT(to_text(run_document(report)),
              HasSubstr("  MFU [%]        40.0       42.0       +5.0\n"));
}

}  // namespace
}  // namespace headway::report
