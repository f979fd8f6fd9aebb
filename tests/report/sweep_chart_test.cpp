// The chart of a sweep.
#include <gtest/gtest.h>

#include "sim/report/page/charts.h"

#include "tests/report/specimen_result.h"

namespace headway::report {
namespace {

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

}  // namespace
}  // namespace headway::report
