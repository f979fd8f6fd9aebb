#include "sim/report/screen/run_screen.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "sim/report/screen/screen.h"
#include "sim/report/wrap.h"

#include "tests/report/widest_line.h"
#include "tests/study/sample_report.h"

namespace headway::report {
namespace {

using testing::HasSubstr;

study::RunReport full_report() {
  auto report = study::sample_report_with_campaign();
  report.campaign->tokens = 3e12;
  report.remedies = {{"a checkpoint every 149 s of work, not 900 s", "2.08 days less", 0.02, false},
                     {"the pipeline bubble: more micro-batches", "at most 18.8 % of the step", 0.17,
                      true, "more micro-batches"}};
  report.compared = {"predictions of this missed by 3 % in 40 runs"};
  return report;
}

TEST(RunScreen, ARangeWithoutWidthIsNotRepeated) {
  auto report = full_report();
  report.campaign->wall_days.p5 = report.campaign->wall_days.p95 = report.campaign->wall_days.p50;
  EXPECT_THAT(run_screen(report),
              HasSubstr("3.00 T tokens in 10.0 days, ETTR 90.0 % (85.0 to 95.0)"));
}

// The verdict and what advice says are of the mean; where few trials pull it away it stands beside.
TEST(RunScreen, AMeanFarFromTheMedianIsSaid) {
  auto report = full_report();
  report.campaign->ettr.mean = 0.82;
  const std::string text = run_screen(report);
  EXPECT_THAT(text, HasSubstr("ETTR 90.0 % (85.0 to\n           95.0), mean 82.0\n"));
  report.campaign->ettr.mean = 0.897;
  EXPECT_THAT(run_screen(report), Not(HasSubstr("mean")));
}

// 79 columns are one less than the line has: its last figure goes, not the figure's unit.
TEST(RunScreen, AFigureThatDoesNotFitIsLeftOutWhole) {
  EXPECT_THAT(run_screen(full_report(), {79}),
              HasSubstr("  step     4.00 s (3.50 to 4.50), MFU 42.0 %, 415 TFLOP/s a GPU\n"));
}

TEST(RunScreen, SaysWhatWasAskedTheVerdictAndTheFigures) {
  EXPECT_EQ(run_screen(full_report()),
            "Sample\n"
            "The step is limited by the pipeline bubble.\n"
            "  model    toy, 2.00 B parameters; 64 x 2,048 tokens a step, bf16\n"
            "  cluster  16 GPUs: 2 nodes of box, rails, disk\n"
            "  layout   tensor 1 x context 1 x pipeline 1 (virtual 1) x data 2, zero1, 1f1b,\n"
            "           8 micro-batches of 1, recompute none\n"
            "  step     4.00 s (3.50 to 4.50), MFU 42.0 %, 415 TFLOP/s a GPU, 32.8 k tokens/s\n"
            "  memory   60.0 of 80.0 GiB on the fullest GPU (stage 0): 25.0 % free\n"
            "  run      3.00 T tokens in 10.0 days (9.00 to 11.0), ETTR 90.0 % (85.0 to 95.0)\n"
            "Where the step goes\n"
            "  compute                            75.0 % ###########################\n"
            "  the pipeline bubble                18.8 % #######\n"
            "  data-parallel communication         6.2 % ##\n"
            "What would help\n"
            "  1. 2.08 days less: a checkpoint every 149 s of work, not 900 s\n"
            "  2. at most 18.8 % of the step: more micro-batches\n"
            "Compared before: predictions of this missed by 3 % in 40 runs\n"
            "1 assumption: run 1. More: --full\n");
}

// What most are about first; where there is no room for all kinds, the rest is one.
TEST(RunScreen, SaysWhatWasAssumed) {
  auto report = full_report();
  report.assumptions.clear();
  for (const char* key : {"jitter", "collective a", "collective b", "gpu.kernels", "run.recovery",
                          "campaign.exposure", "run.checkpoint.load"}) {
    report.assumptions.push_back({key, "", ""});
  }
  EXPECT_THAT(run_screen(report),
              HasSubstr("7 assumptions: run 3, collectives 2, GPU 1, step 1. More: --full\n"));
  EXPECT_THAT(run_screen(report, {50}), HasSubstr("7 assumptions: run 3, other 4. More: --full\n"));
  report.warnings = {"one", "two"};
  EXPECT_THAT(run_screen(report), HasSubstr("step 1; 1 more warning. More: --full\n"));
}

// Long names, many warnings, many remedies: the screen stays a screen.
TEST(RunScreen, IsNeverMoreThanAScreen) {
  auto report = full_report();
  report.scenario.name = std::string(300, 'n');
  report.limit = "The step is limited by something that is said in a sentence of two lines: 30 %.";
  report.asked[1] = std::string(200, 'c') + " and " + std::string(200, 'd');
  report.remedies.resize(9, {std::string(100, 'x'), "brings", 0.1, false});
  report.warnings.assign(7, "a warning " + std::string(200, 'w'));
  for (const std::size_t width : {20U, 40U, 60U, 80U, 200U}) {
    const std::string text = run_screen(report, {width});
    EXPECT_LE(widest_line(text), std::min<std::size_t>(width, kScreenWidth)) << text;
    if (width >= kScreenWidth) {
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'),
                static_cast<std::ptrdiff_t>(kScreenLines))
          << text;
    }
  }
  EXPECT_THAT(run_screen(report), HasSubstr("6 more warnings"));
}

// However much is said of other things, three remedies are: bars make room, of which the two
// largest stay, since of one nobody learns what is lost.
TEST(RunScreen, ThreeRemediesStayBesideAWarning) {
  auto report = full_report();
  report.limit = "The step is limited by something that is said in a sentence of two lines: 30 %.";
  report.asked[1] = std::string(70, 'c') + " and more";
  report.cost.emplace();
  report.cost->total_usd.p50 = 90'000;
  report.remedies.resize(3, {"a change", "brings", 0.1, false});
  report.warnings = {"a warning of " + std::string(60, 'w') + " and more"};
  const std::string text = run_screen(report);
  EXPECT_THAT(text, HasSubstr("\n  3. brings: a change\n"));
  EXPECT_THAT(text, HasSubstr("\nWhere the step goes\n  compute  "));
  EXPECT_THAT(text, HasSubstr("\n  the pipeline bubble                18.8 % ######"));
  EXPECT_THAT(text, Not(HasSubstr("data-parallel communication")));
  EXPECT_THAT(text, HasSubstr("Compared before"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(kScreenLines));
}

// A million tokens cost what the screen's own figures say: 90 k USD over 3 T tokens, whatever the
// bill of the mean usage is.
TEST(RunScreen, ATokenCostsWhatTheFiguresBesideItSay) {
  auto report = full_report();
  report.cost.emplace();
  report.cost->total_usd.p5 = report.cost->total_usd.p50 = report.cost->total_usd.p95 = 90'000;
  report.cost->bill.usd_per_million_tokens = 0.04;
  EXPECT_THAT(run_screen(report),
              HasSubstr("  cost     90.0 k USD, 0.0300 USD a million tokens\n"));
}

// A remedy has a line, in which the loss that the bars name has no place.
TEST(RunScreen, RemediesSayWhatToDoBeforeTheyAreCut) {
  auto report = full_report();
  report.remedies[1].way = "more micro-batches, " + std::string(200, 'x');
  for (const std::size_t width : {0U, 80U}) {
    EXPECT_THAT(run_screen(report, {width}),
                HasSubstr("  2. at most 18.8 % of the step: more micro-batches"));
  }
}

TEST(RunScreen, ReasonsAreNeverCut) {
  auto report = full_report();
  report.status = study::Status::infeasible;
  const std::string reason = "stage 0 needs " + std::string(30, '9') + " GiB of memory";
  report.reasons.assign(3, reason);
  const std::string text = run_screen(report);
  EXPECT_THAT(text, HasSubstr("\nStatus: infeasible.\n" + reason + "\n" + reason + "\n"));
  EXPECT_THAT(text, HasSubstr("\nThe step is limited by the pipeline bubble.\n"));
}

TEST(RunScreen, ColourIsOursAlone) {
  auto report = full_report();
  report.scenario.name = "\x1b[31mred";
  const std::string text = run_screen(report, {80, true});
  EXPECT_THAT(text, testing::StartsWith("\x1b[1m\\x1b[31mred\x1b[0m\n"));
}

// What a warning asks for is at its end: a second line is its, where the screen would be full.
TEST(RunScreen, AWarningOfTwoLinesIsShownWhole) {
  auto report = full_report();
  report.warnings = {
      "1.14 % of the wall clock is spent waiting for a node to come back from repair; "
      "two spare nodes would do"};
  EXPECT_THAT(run_screen(report),
              HasSubstr("Warning: 1.14 % of the wall clock is spent waiting for a "
                        "node to come back from\n         repair; two spare "
                        "nodes would do\n"));
  report.remedies.resize(9, report.remedies.front());
  report.asked.assign(9, "asked");
  EXPECT_THAT(run_screen(report), HasSubstr("two spare nodes would do\n"));
  // Longer ones too: remedies make room, and where that is not enough the screen is longer.
  report.warnings = {
      "the peak is 96.4 % of the GPU's memory: an allocator that finds no room frees and allocates "
      "again, and steps of such runs took 3 to 8 times as long; leave 5 % free"};
  for (const std::size_t width : {40U, 80U}) {
    const std::string text = run_screen(report, {width});
    EXPECT_THAT(text, HasSubstr("leave 5 %"));
    EXPECT_THAT(text, HasSubstr(" free\n"));
    EXPECT_LE(widest_line(text), width);
  }
}

}  // namespace
}  // namespace headway::report
