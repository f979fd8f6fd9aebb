#include "sim/core/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::core {
namespace {

using ::testing::EndsWith;

SourceMark bandwidth_mark() {
  return {"configs/fabrics/rail.yaml", 14, 16, 3, "    bandwidth: 400"};
}

TEST(Error, ShowsTheLineWithACaret) {
  const Error error(bandwidth_mark(), "bandwidth '400' has no unit; write '400 Gbps' or '50 GB/s'");
  EXPECT_STREQ(error.what(),
               "configs/fabrics/rail.yaml:14:16: bandwidth '400' has no unit; write '400 Gbps' or "
               "'50 GB/s'\n"
               "   14 |     bandwidth: 400\n"
               "      |                ^^^\n");
}

TEST(Error, ShowsAllComplaintsInOrder) {
  Diagnostics diagnostics;
  EXPECT_NO_THROW(diagnostics.throw_if_any());
  diagnostics.add(SourceMark{"configs/cluster.yaml", 9, 5, 1, ""},
                  "unknown key 'oversubscripton'; did you mean 'oversubscription'?");
  diagnostics.add(SourceMark{"configs/cluster.yaml", 0, 0, 1, ""}, "the file is empty");
  diagnostics.add(std::nullopt, "no place at all");
  EXPECT_EQ(diagnostics.size(), 3U);
  try {
    diagnostics.throw_if_any();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 3U);
    EXPECT_STREQ(error.what(),
                 "configs/cluster.yaml:9:5: unknown key 'oversubscripton'; did you mean "
                 "'oversubscription'?\n"
                 "configs/cluster.yaml: the file is empty\n"
                 "no place at all\n");
  }
}

TEST(Error, ReadingStopsAtFiftyComplaints) {
  Diagnostics diagnostics;
  for (int i = 1; i < 50; ++i) {
    diagnostics.add(std::nullopt, "wrong");
  }
  try {
    diagnostics.add(std::nullopt, "the last that anybody reads");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 51U);
    EXPECT_THAT(error.what(), EndsWith("the last that anybody reads\n"
                                       "... reading stopped after 50 errors\n"));
  }
}

TEST(SourceMarks, FallBackToTheNearestParent) {
  const SourceMark file{"a.yaml", 0, 0, 1, ""};
  const SourceMark hazards{"a.yaml", 3, 1, 7, "hazards:"};
  const SourceMark third{"a.yaml", 8, 3, 1, "  - name: nic"};
  const SourceMarks marks{{"", file}, {"run.hazards", hazards}, {"run.hazards[2]", third}};
  EXPECT_EQ(find_mark(marks, "run.hazards[2].mtbf"), third);
  EXPECT_EQ(find_mark(marks, "run.hazards[1].mtbf"), hazards);
  EXPECT_EQ(find_mark(marks, "cluster.nodes"), file);
  EXPECT_EQ(find_mark({}, "cluster.nodes"), std::nullopt);
}

TEST(DidYouMean, FindsASlipOfTheFinger) {
  const std::vector<std::string> keys{"bandwidth", "latency", "oversubscription"};
  EXPECT_EQ(did_you_mean("oversubscripton", keys), "oversubscription");
  EXPECT_EQ(did_you_mean("bandwith", keys), "bandwidth");
  EXPECT_EQ(did_you_mean("latnecy", keys), "latency");
  EXPECT_EQ(did_you_mean("mtfb", {"trials", "mtbf"}), "mtbf") << "neighbours exchanged: one slip";
  EXPECT_EQ(did_you_mean("rnu", {"plan", "run"}), "run");
  EXPECT_EQ(did_you_mean("nrxu", {"run"}), std::nullopt);
}

TEST(DidYouMean, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(did_you_mean("colour", {"bandwidth", "latency"}), std::nullopt);
  EXPECT_EQ(did_you_mean("bandwidth", {}), std::nullopt);
}

TEST(Check, SaysWhatBrokeAndWithWhichValues) {
  try {
    const int rate = -3;
    HEADWAY_CHECK(rate > 0, "flow {} has rate {}", 7, rate);
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), EndsWith("check failed: rate > 0: flow 7 has rate -3"));
  }
}

}  // namespace
}  // namespace headway::core
