// Charts of the verbs beside `run`: which there are, their rows and how many points.
#include "sim/report/page/charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/specimen_result.h"

namespace headway::report {
namespace {

using testing::HasSubstr;

std::vector<std::string> ids_of(const Json& json) {
  std::vector<std::string> all;
  for (const auto& chart : charts_of({json, "r.json"})) {
    all.push_back(chart.id);
  }
  return all;
}

TEST(Charts, OtherVerbsHaveChartsToo) {
  EXPECT_THAT(ids_of(specimen_result("headway.plan/1")), testing::ElementsAre("plans", "front"));
  Json drill = specimen_result("headway.drill/1");
  drill["lost"]["accounts_s"]["detect"] = 1;
  EXPECT_THAT(ids_of(drill), testing::ElementsAre("cascade", "lost", "remedies"));
  Json compare = specimen_result("headway.compare/1");
  compare["a"]["figures"]["mfu"] = 0.4;
  compare["b"]["figures"]["mfu"] = 0.5;
  EXPECT_THAT(ids_of(compare), testing::ElementsAre("sides"));
  EXPECT_THAT(ids_of(specimen_result("headway.validate/1")), testing::ElementsAre("validation"));
  Json rows = specimen_result("headway.validate/1");
  rows["rows"][0]["part"] = "mixtures";
  const Json scatter = charts_of({rows, "r.json"}).front().specification;
  EXPECT_EQ(scatter["layer"][2]["encoding"]["color"]["field"], "part");
  EXPECT_EQ(scatter["data"]["values"][0]["part"], "mixtures");
  EXPECT_THAT(ids_of(specimen_result("headway.topo/1")), testing::IsEmpty());
  Json profile = specimen_result("headway.compare-profile/1");
  profile["rows"][0]["unit"] = "s";
  profile["rows"][0]["measured"] = 2;
  profile["rows"][0]["predicted"] = 1.5;
  EXPECT_THAT(ids_of(profile), testing::ElementsAre("profile"));
  const Json chart = charts_of({profile, "r.json"}).front().specification;
  EXPECT_EQ(chart["data"]["values"][0]["value"], 2);
  EXPECT_EQ(chart["data"]["values"][1]["value"], 1.5);
}

// Every layer has its row, whether something is seen there or not; who acts has one of his own.
TEST(Charts, ACascadeHasARowForEachLayerAndForThoseWhoAct) {
  Json drill = specimen_result("headway.drill/1");
  const Json moment = drill["timeline"][0];
  drill["timeline"] = Json::array();
  for (const auto& [layer, what] : {std::pair{Json(nullptr), "fault"},
                                    {Json("network"), "symptom"},
                                    {Json(nullptr), "alarm"},
                                    {Json(nullptr), "blame"},
                                    {Json(nullptr), "running"}}) {
    Json one = moment;
    one["layer"] = layer;
    one["moment"] = what;
    drill["timeline"].push_back(one);
  }
  const Json chart = charts_of({drill, "r.json"}).front().specification;
  std::vector<std::string> rows;
  for (const Json& value : chart["data"]["values"]) {
    rows.push_back(value["layer"]);
  }
  EXPECT_THAT(rows, testing::ElementsAre("fault", "network", "alarm", "blame", "recovery"));
  EXPECT_EQ(chart["encoding"]["y"]["scale"]["domain"],
            Json({"fault", "hardware", "network", "storage", "collective", "job", "loss", "alarm",
                  "blame", "recovery"}));
}

// A page is small enough to send: of 1,000 layouts beside a plan 799 are drawn, and it says so.
TEST(Charts, OfManyLayoutsEverySoManyIsDrawn) {
  Json plan = specimen_result("headway.plan/1");
  Json one = plan["simulated_plans"][0];
  one["days"] = 1.23456789;
  one["usd"] = 1234567.89;
  one["plan"] = 1;
  plan["simulated_plans"] = Json::array({one});
  one["plan"] = nullptr;
  one["pareto"] = false;
  for (int i = 0; i < 1000; ++i) {
    one["usd"] = i;
    plan["simulated_plans"].push_back(one);
  }
  const auto charts = charts_of({plan, "r.json"});
  const Json& values = charts.back().specification["data"]["values"];
  EXPECT_EQ(values.size(), 800U);
  EXPECT_EQ(values[0]["plan"], 1);
  EXPECT_EQ(values[0]["days"], 1.23457);
  EXPECT_GT(values[799]["dollars"], 990) << "of all of them, not of the first";
  EXPECT_THAT(charts.back().title, HasSubstr("800 of 1001 layouts that were simulated"));
}

}  // namespace
}  // namespace headway::report
