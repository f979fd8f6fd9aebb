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
  Json plan = specimen_result("headway.plan/1");
  plan["plans"][0]["step"]["breakdown_s"]["compute"] = 1;
  plan["plans"][0]["memory"]["by_kind_bytes"]["weights"] = 1;
  EXPECT_THAT(ids_of(plan), testing::ElementsAre("plans", "front", "plan_memory"));
  Json drill = specimen_result("headway.drill/1");
  drill["lost"]["accounts_s"]["detect"] = 1;
  drill["remedies"][0]["saved_s"] = 60;
  EXPECT_THAT(ids_of(drill), testing::ElementsAre("cascade", "lost", "remedies"));
  // Where all happens at once the axis is ten seconds long, and ends with what happens last.
  const auto domain = [&drill] {
    return charts_of({drill, "d.json"}).front().specification["encoding"]["x"]["scale"]["domain"];
  };
  for (auto& moment : drill["timeline"]) {
    moment["at_s"] = 0;
  }
  EXPECT_EQ(domain(), Json({0, 10}));
  drill["timeline"][0]["at_s"] = 700;
  EXPECT_EQ(domain(), Json({0, 700}));
  drill["remedies"][0]["saved_s"] = -171;  // what costs time is no remedy
  EXPECT_THAT(ids_of(drill), testing::ElementsAre("cascade", "lost"));
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

// The bars of plans lie in parts that add up to the step and to the memory; each has its name once.
TEST(Charts, PlansAreBarsOfParts) {
  Json result = specimen_result("headway.plan/1");
  Json& plan = result["plans"][0];
  plan["name"] = "tensor 8";
  for (Json* parts : {&plan["step"]["breakdown_s"], &plan["memory"]["by_kind_bytes"]}) {
    for (Json& part : *parts) {
      part = 0;
    }
  }
  plan["step"]["breakdown_s"].update({{"compute", 3.0}, {"tensor", 1.5}});
  plan["memory"]["by_kind_bytes"].update({{"weights", 2147483648}, {"activations", 1073741824}});
  result["plans"] = {plan, plan};
  result["plans"][1]["name"] = "tensor 4";
  const auto charts = charts_of({result, "p.json"});
  const Json& steps = charts[0].specification;
  const Json& values = steps["data"]["values"];
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(values[0]["what"], "1. tensor 8");
  EXPECT_DOUBLE_EQ(values[0]["value"].get<double>() + values[1]["value"].get<double>(), 4.5);
  EXPECT_EQ(values[3]["what"], "2. tensor 4");
  EXPECT_EQ(steps["layer"][0]["encoding"]["color"]["field"], "part");
  EXPECT_EQ(values[0]["part"], "compute");  // the order of the causes, not of their names
  EXPECT_EQ(steps["layer"][1]["data"]["values"].size(), 2U);
  double gib = 0;
  for (const Json& row : charts[2].specification["data"]["values"]) {
    gib += row["what"] == "2. tensor 4" ? row["value"].get<double>() : 0;
  }
  EXPECT_DOUBLE_EQ(gib, 3);
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
