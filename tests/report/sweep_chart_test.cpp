// The chart of a sweep, and why points of it do not work.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/page/charts.h"
#include "sim/report/page/page.h"
#include "sim/report/points/alike_reasons.h"
#include "sim/report/points/sweep_report.h"

#include "tests/report/specimen_result.h"

namespace headway::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Json sweep_of(std::initializer_list<std::pair<const char*, const char*>> points) {
  Json result = specimen_result("headway.sweep/1");
  result["best"] = "step.mfu";
  const Json row = result["rows"][0];
  result["rows"] = Json::array();
  for (const auto& [nodes, tensor] : points) {
    Json point = row;
    point["changes"] = {{"cluster.nodes", nodes}, {"parallelism.tensor", tensor}};
    point["figures"] = {{"step.mfu", 0.4}};
    result["rows"].push_back(point);
  }
  return result;
}

Json chart_of(const Json& result) {
  const auto charts = charts_of({result, "r.json"});
  return charts.empty() ? Json() : charts[0].specification;
}

TEST(SweepChart, NumbersAreAnAxisInOrder) {
  const Json chart = chart_of(sweep_of({{"4", "1"}, {"16", "2"}}));
  EXPECT_EQ(chart["data"]["values"][1]["axis 1"], 16);
  EXPECT_EQ(chart["encoding"]["x"]["type"], "quantitative");
  EXPECT_EQ(chart["encoding"]["x"]["title"], "cluster.nodes");
  EXPECT_EQ(chart["encoding"]["y"]["title"], "MFU [%]");
  EXPECT_DOUBLE_EQ(chart["data"]["values"][0]["figure"], 100 * 0.4);
  EXPECT_EQ(chart["encoding"]["color"]["title"], "parallelism.tensor");
}

// The third axis has a legend of its own: lines that differ in it alone are told apart.
TEST(SweepChart, TheThirdAxisIsInDashesOrShapes) {
  Json result = sweep_of({{"4", "1"}, {"16", "1"}, {"4", "1"}, {"16", "1"}});
  for (std::size_t i = 0; i < 4; ++i) {
    result["rows"][i]["changes"]["parallelism.zlast"] = i < 2 ? "a" : "b";
  }
  Json encoding = chart_of(result)["encoding"];
  EXPECT_EQ(encoding["strokeDash"]["field"], "axis 3");
  EXPECT_EQ(encoding["strokeDash"]["title"], "parallelism.zlast");
  EXPECT_TRUE(encoding["detail"].empty());
  result["rows"][0]["changes"]["cluster.nodes"] = "dgx-h100";
  EXPECT_EQ(chart_of(result)["encoding"]["shape"]["field"], "axis 3");
}

TEST(SweepChart, TicksStandWherePointsAreUnlessThereAreMany) {
  const Json chart = chart_of(sweep_of({{"4", "1"}, {"16", "1"}, {"4", "2"}}));
  EXPECT_EQ(chart["encoding"]["x"]["axis"]["values"], Json({4, 16}));
  EXPECT_GT(chart["encoding"]["x"]["scale"]["padding"], 0) << "the outermost points are whole";
  const Json many = chart_of(sweep_of({{"1", "1"},
                                       {"2", "1"},
                                       {"3", "1"},
                                       {"4", "1"},
                                       {"5", "1"},
                                       {"6", "1"},
                                       {"7", "1"},
                                       {"8", "1"},
                                       {"9", "1"},
                                       {"10", "1"},
                                       {"11", "1"},
                                       {"12", "1"},
                                       {"13", "1"}}));
  EXPECT_FALSE(many["encoding"]["x"].contains("axis"));
}

TEST(SweepChart, WordsAreNames) {
  const Json chart = chart_of(sweep_of({{"dgx-h100", "1"}, {"16", "2"}}));
  EXPECT_EQ(chart["data"]["values"][0]["axis 1"], "dgx-h100");
  EXPECT_EQ(chart["encoding"]["x"]["type"], "nominal");
  EXPECT_EQ(chart["mark"]["type"], "point");
}

TEST(SweepChart, PointsWithoutTheFigureAreLeftOut) {
  Json result = sweep_of({{"4", "1"}, {"8", "1"}});
  result["rows"][0]["figures"]["step.mfu"] = nullptr;
  EXPECT_EQ(chart_of(result)["data"]["values"].size(), 1U);
  result["rows"][1]["figures"].erase("step.mfu");
  EXPECT_TRUE(chart_of(result).is_null());
}

std::string page_of(const Json& json) {
  return report_page({{{json, "r.json"}, "headway sweep s.yaml"}}, "window.library = 1;");
}

// Points that fail alike have one line, also where only the numbers in it differ.
TEST(SweepPage, ReasonsOfPointsAreFolded) {
  Json sweep = specimen_result("headway.sweep/1");
  Json row = sweep["rows"][0];
  sweep["rows"] = Json::array();
  for (int point = 0; point < 3; ++point) {
    row["point"] = point;
    row["reason"] = fmt::format("{} nodes x 8 GPUs = {}", 100 * point, 800 * point);
    sweep["rows"].push_back(row);
  }
  row["point"] = 3;
  row["reason"] = "tensor 3 does not divide 32 heads";
  sweep["rows"].push_back(row);
  const std::string page = page_of(sweep);
  EXPECT_THAT(page, HasSubstr("<li>points 0, 1, 2: 0 nodes x 8 GPUs = 0 (the numbers are those of "
                              "the first)</li>"));
  EXPECT_THAT(page, HasSubstr("<li>point 3: tensor 3 does not divide 32 heads</li>"));
  EXPECT_THAT(page, Not(HasSubstr("<li>points 0, 1, 2, 3")));
}

TEST(AlikeReasons, AreToldOnceWithTheirPoints) {
  AlikeReasons reasons;
  reasons.add(0, "refused", "the cluster has 8 nodes");
  reasons.add(1, "ok", "");
  reasons.add(2, "refused", "the cluster has 1,024 nodes");
  reasons.add(3, "failed", "the cluster has 8 nodes");
  reasons.add(4, "refused", "the group has 8 nodes");
  reasons.add(5, "refused", "the group has 8 nodes");
  ASSERT_EQ(reasons.all().size(), 3U);
  EXPECT_EQ(reasons.all()[0].points, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(reasons.all()[0].words(),
            "the cluster has 8 nodes (the numbers are those of the first)");
  EXPECT_EQ(reasons.all()[1].status, "failed");
  EXPECT_EQ(reasons.all()[2].words(), "the group has 8 nodes") << "the same numbers";
}

TEST(AlikeReasons, HaveOneRowInTheTable) {
  study::SweepReport report;
  for (int point = 0; point < 3; ++point) {
    study::SweepRow row;
    row.point = point;
    row.status = study::PointStatus::refused;
    row.reason = "tensor " + std::to_string(point) + " does not fit";
    report.rows.push_back(row);
  }
  const Document document = sweep_document(report);
  ASSERT_EQ(document.tables.size(), 2U);
  const Table& table = document.tables[1];
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"3", "refused",
                                                     "tensor 0 does not fit (the numbers are "
                                                     "those of the first)"}));
}

}  // namespace
}  // namespace headway::report
