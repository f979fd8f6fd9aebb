// Published wall clocks of runs with faults: what they imply, what is missing, what is then
// predicted.
#include "sim/validation/goodput/timed_run.h"

#include <cmath>
#include <gmock/gmock.h>

#include "sim/core/error.h"
#include "sim/validation/goodput/goodput_cases.h"

namespace headway::validation {
namespace {

using core::Seconds;

constexpr const char* kTimedHeader =
    "case_id,gpus,mttf_h,interval_s,stall_s,persist_s,downtime_s,reported_lo,reported_hi,source,"
    "kind,work_h,loses_work,wall_h,work_at_most_h,steps,save_steps\n";

std::string status_of_timed(const std::string& row) {
  return predict_goodput(import::CsvTable(std::string(kTimedHeader) + row, "cases.csv"), 1)[0]
      .status;
}

// 818 min with a failure an hour of the wall clock are 13.63 failures. If the same 3,000 steps take
// 405 min at most, a save each 100 of them is one each 13.5 min, and a failure throws away 6.75
// min: (818 - 405) / 13.63 - 6.75 = 23.54 min are left for everything between failure and running.
TEST(TimedRun, LeavesAtLeastSoMuchToEachFailure) {
  TimedRun run;
  run.wall = Seconds(818 * 60);
  run.work_at_most = Seconds(405 * 60);
  run.steps = 3000;
  run.save_steps = 100;
  const double left = (818 - 405) / (818 / 60.0) - 405 / 30.0 / 2;
  EXPECT_NEAR(*least_downtime(run, Seconds(3600)) / Seconds(60), left, 1e-9);
  // Less work leaves more to the failures: at 300 min (818 - 300) / 13.63 - 5 = 33.0 min.
  run.work_at_most = Seconds(300 * 60);
  EXPECT_NEAR(*least_downtime(run, Seconds(3600)) / Seconds(60), 518 / (818 / 60.0) - 5, 1e-9);
  // A run that bounds itself says nothing of its failures.
  run.work_at_most = run.wall;
  EXPECT_FALSE(least_downtime(run, Seconds(3600)));
  EXPECT_EQ(implied_by(run, Seconds(3600)), "");
}

TEST(TimedRun, IsRefusedWithWhatIsMissingAndWhatIsImplied) {
  EXPECT_EQ(status_of_timed("a,64,1,,,,,,,s,k,,,13.633333,6.75,3000,100\n"),
            "skipped:not reproducible: downtime_s, work_h (the same steps without faults) not "
            "stated; implied: 818 min are 13.6 failures; with at most 405 min of work each takes "
            "at least 23.5 min beside the 6.75 min of work that it throws away");
  // (930 - 405) / 15.5 = 33.9 min a failure, or 525 min / 3,000 = 10.5 s a step.
  EXPECT_THAT(status_of_timed("a,64,1,,,,,,,s,k,,no,15.5,6.75,3000,100\n"),
              testing::EndsWith("each takes at least 33.9 min, or each step 10.5 s if failures "
                                "cost nothing"));
  EXPECT_THAT(status_of_timed("a,64,1,,,,,,,s,k,,no,6.75,6.75,3000,100\n"),
              testing::EndsWith("(the same steps without faults) not stated"));
}

// With the time without faults and the downtime stated it is predicted. Failures each hour of the
// wall clock and 15 min down leave 45 min of running to each; a save each 13.5 min of work.
TEST(TimedRun, IsPredictedOnceItSaysEverything) {
  const auto row =
      predict_goodput(import::CsvTable(std::string(kTimedHeader) +
                                           "a,64,1,,0,0,900,,,s,k,6.75,,13.633333,,3000,100\n",
                                       "cases.csv"),
                      1)[0];
  EXPECT_EQ(row.status, "computed");
  EXPECT_NEAR(*row.given.reported_low, 405.0 / 818, 1e-6);
  // tau / ((mu + D) (e^(tau / mu) - 1)),  tau = 13.5, mu = 45, D = 15 min
  const double exact = 13.5 / (60 * std::expm1(13.5 / 45));
  EXPECT_NEAR(*row.closed_form, exact, 1e-6);
  EXPECT_NEAR(*row.predicted, exact, 0.01);
  EXPECT_EQ(row.verdict(), "above");
}

TEST(TimedRun, WhatContradictsItselfIsRefused) {
  EXPECT_THROW(status_of_timed("a,64,1,,,,,,,s,k,14,,13,,3000,100\n"), core::Error);
  EXPECT_THROW(status_of_timed("a,64,1,,,,,,,s,k,,,13,,,100\n"), core::Error);
  EXPECT_THROW(status_of_timed("a,64,1,,,,,,,s,k,,,13,,50,100\n"), core::Error);
  EXPECT_THROW(status_of_timed("a,64,1,,,,3600,,,s,k,6,,13,,3000,100\n"), core::Error);
}

// A word for the interval, and the source of the inputs apart from it.
TEST(GoodputCases, AMissIsNotCalledFine) {
  const auto row = predict_goodput(
      import::CsvTable(std::string(kTimedHeader) + "a,2048,14.42,3600,300,,300,0.9,,s,k,,,,,,\n",
                       "cases.csv"),
      1)[0];
  EXPECT_EQ(row.status, "computed");
  EXPECT_EQ(row.verdict(), "below");
  EXPECT_FALSE(*row.agrees());
}

}  // namespace
}  // namespace headway::validation
