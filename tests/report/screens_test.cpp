// One screen of a drill and of a plan: whatever there is, no more lines and columns than a screen.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/report/screen/drill_screen.h"
#include "sim/report/screen/plan_screen.h"
#include "sim/report/screen/screen.h"

#include "tests/report/widest_line.h"

namespace headway::report {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

study::DrillReport long_drill() {
  study::DrillReport report;
  report.scenario.name = std::string(100, 'n');
  auto& result = report.result;
  result.setup.horizon = core::Seconds(86400);
  result.setup.step = core::Seconds(1);
  result.slowdown = 2;
  result.lost = core::Seconds(600);
  result.tried_remedies = true;
  for (int i = 0; i < 40; ++i) {
    result.trace.timeline.push_back({i,
                                     drill::Moment::recovery,
                                     {},
                                     {},
                                     {},
                                     "something of many words happens to the job again"});
    result.remedies.push_back({"a change with a long name of many words",
                               "--set run.checkpoint.interval='450 s' and more", core::Seconds(540),
                               core::Seconds(60)});
    result.warnings.emplace_back("something of many words is not as it should be in this scenario");
  }
  return report;
}

TEST(DrillScreen, IsNeverMoreThanAScreen) {
  for (const std::size_t width : {20UL, 30UL, 40UL, 50UL, 80UL, 200UL}) {
    const std::string text = drill_screen(long_drill(), {width});
    EXPECT_LE(widest_line(text), std::min<std::size_t>(width, kScreenWidth)) << text;
    if (width >= kScreenWidth) {
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kScreenLines) << text;
    }
  }
  const std::string text = drill_screen(long_drill());
  EXPECT_THAT(text, HasSubstr("\nThe fault costs 10 min 00 s of the whole job; what would"));
  EXPECT_THAT(text, HasSubstr(" more, the last +"));
  EXPECT_THAT(text, HasSubstr("0 assumptions; 39 more warnings. More: --full\n"));
}

// Members of the Pareto front are marked, and are what a short table has.
TEST(Screen, LeavesRowsThatStayOutLast) {
  Table table{"Plans", {{"plan", false}}, {}, false, {}};
  for (const char* row : {"a*", "b", "c", "d", "e*", "f"}) {
    table.rows.push_back({row});
    table.stays.push_back(row[1] == '*');
  }
  const auto shown = [&](std::size_t lines) {
    Screen screen({});
    screen.table(table, lines, "--all");
    return screen.text();
  };
  const auto all = shown(100);
  const auto heading = static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n')) - 6;
  EXPECT_THAT(shown(heading + 4), HasSubstr("a*"));
  EXPECT_THAT(shown(heading + 4), HasSubstr("\n  b\n"));
  EXPECT_THAT(shown(heading + 4), HasSubstr("e*"));
  EXPECT_THAT(shown(heading + 4), testing::Not(HasSubstr("\n  c\n")));
  EXPECT_THAT(shown(heading + 2), testing::Not(HasSubstr("e*")));
}

// A list that is cut says by how much, and where the rest is; also where nothing of it is shown.
TEST(Screen, ATableSaysWhatItLeavesOut) {
  const Page page{40};
  const auto shown = [&](std::size_t lines) {
    Screen screen(page);
    screen.table({"The 3 best plans", {{"plan"}}, {{"1"}, {"2"}, {"3"}}, false}, lines,
                 "--show plans");
    return screen.text();
  };
  EXPECT_THAT(shown(20), Not(HasSubstr("--show")));
  EXPECT_THAT(shown(5), EndsWith("   1\n  2 more: --show plans\n"));
  EXPECT_EQ(shown(2), "  all 3: --show plans\n");
}

TEST(PlanScreen, SaysWhyThereIsNoPlan) {
  study::PlanReport report;
  report.scenario.name = "None";
  report.result.rejected = {{"memory", "needs more than there is", 7, "1 GiB more"},
                            {"batch", "is no multiple", 900, {}}};
  report.result.enumerated = 907;
  const std::string text = plan_screen(report);
  EXPECT_THAT(text, StartsWith("None\nStatus: infeasible.\nNo layout of this cluster fits"));
  EXPECT_THAT(text, HasSubstr("\n  left out 900 by batch: is no multiple\n"
                              "           7 by memory: needs more than there is; nearest: 1 GiB "
                              "more\n"));
  EXPECT_THAT(text, HasSubstr("\n907 layouts: 0 timed by the analytic tier, 0 simulated. More: "
                              "--full\n"));
}

}  // namespace
}  // namespace headway::report
