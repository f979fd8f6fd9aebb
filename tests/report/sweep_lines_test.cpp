#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"
#include "sim/report/points/sweep_report.h"

namespace headway::report {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    read_sweep_lines(text, "a.jsonl");
    return "none";
  } catch (const core::Error& error) {
    return error.diagnostics().front().message;
  }
}

TEST(SweepLines, AreReadAsTheyWereWritten) {
  study::SweepReport report;
  report.rows.push_back(
      {3, {{"cluster.nodes", "4"}}, "abc", study::PointStatus::ok, "", {}, "no room"});
  const auto rows = read_sweep_lines(sweep_lines(report), "a.jsonl");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].point, 3);
  EXPECT_EQ(rows[0].changes, report.rows[0].changes);
  EXPECT_EQ(rows[0].status, study::PointStatus::ok);
  EXPECT_EQ(rows[0].memory_warning, "no room");
}

TEST(SweepLines, ThatAreNoneAreNamed) {
  const std::string refused =
      "a.jsonl:1: this is no row of a sweep; remove the file, and its points are simulated again";
  EXPECT_EQ(refusal_of("x\n"), refused);
  EXPECT_EQ(refusal_of("{}\n"), refused);
  EXPECT_EQ(refusal_of(R"({"point": "one"})"), refused);
  EXPECT_EQ(refusal_of(R"({"point": 1, "changes": {}, "digest": "", "status": "no such",)"
                       R"( "reason": "", "figures": {}, "memory_warning": ""})"),
            refused);
}

}  // namespace
}  // namespace headway::report
