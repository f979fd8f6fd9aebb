// The page of definitions is what the program says, and it leaves no figure out.
#include "sim/report/definitions.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "sim/campaign/result.h"
#include "sim/report/collective_rows_report.h"
#include "sim/report/compare_report.h"
#include "sim/report/goodput_report.h"
#include "sim/report/json_parts.h"
#include "sim/report/plan_report.h"
#include "sim/report/run_table.h"
#include "sim/report/validate_report.h"

#include "tests/report/sample_report.h"

namespace headway::report {
namespace {

constexpr const char* kPage = "docs/definitions.md";

TEST(Definitions, AreThePageInTheDocumentation) {
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage) << definitions_page();
  }
  std::ifstream file(kPage);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), definitions_page())
      << "run with HEADWAY_UPDATE_GOLDEN=1 and look at the diff";
}

std::set<std::string> defined_figures() {
  std::set<std::string> defined;
  for (const auto& section : definitions()) {
    for (const auto& definition : section.definitions) {
      defined.insert(definition.figure);
    }
  }
  return defined;
}

void expect_defined(const std::string& path, const Json& object) {
  const auto defined = defined_figures();
  EXPECT_FALSE(object.empty()) << path;
  for (const auto& entry : object.items()) {
    EXPECT_TRUE(defined.contains(path + entry.key())) << path << entry.key();
  }
}

TEST(Definitions, CoverEveryRowOfTheTablesOfARun) {
  RunReport report = sample_report_with_campaign();
  auto& c = *report.campaign;
  for (auto* time :
       {&c.checkpoint_interval, &c.optimal_interval, &c.checkpoint_stall, &c.checkpoint_persist,
        &c.checkpoint_load, &c.mean_time_between_interruptions, &c.downtime}) {
    *time = core::Seconds(1);
  }
  report.cost = CostReport{};
  c.replicas_hit = 1;
  c.closed_form_ettr = 0.9;
  const std::set<std::string> in_json{"wall clock [days]", "ETTR [%]", "goodput [%]",
                                      "interruptions", "total"};
  const auto defined = defined_figures();
  int rows = 0;
  for (const auto& table : run_document(report).tables) {
    if (table.title.starts_with("The run") || table.title == "Checkpoints and failures" ||
        table.title == "Cost of the mean run") {
      for (const auto& row : table.rows) {
        EXPECT_TRUE(in_json.contains(row[0]) || defined.contains(row[0])) << row[0];
        ++rows;
      }
    }
  }
  EXPECT_EQ(rows, 7 + 8 + 5);
}

TEST(Definitions, CoverEveryFigureOfTheOtherVerbs) {
  const Json compared = Json::parse(compare_json({}));
  expect_defined("figures.", compared["a"]["figures"]);
  plan::Plan plan;
  PlanReport planned;
  planned.result.plans = {plan};
  Json of_plan = Json::parse(plan_json(planned))["plans"][0];
  for (const char* part : {"step", "memory", "campaign", "cost"}) {
    of_plan.erase(part);  // those of a run
  }
  expect_defined("plans[].", of_plan);
  const Json runs = Json::parse(validate_json({validation::RunPrediction{}}));
  expect_defined("rows[].", runs["rows"][0]);
  expect_defined("summary.", runs["summary"]);
  Json goodput = Json::parse(goodput_json({validation::GoodputPrediction{}}));
  goodput["rows"][0].erase("case_id");  // `rows[].id`
  expect_defined("rows[].", goodput["rows"][0]);
  expect_defined("summary.", goodput["summary"]);
  const Json collectives = Json::parse(collective_rows_json({}, Calibration::none));
  expect_defined("summary.", collectives["summary"]);
}

TEST(Definitions, CoverEveryFigureOfTheResult) {
  std::set<std::string> defined;
  for (const auto& section : definitions()) {
    for (const auto& definition : section.definitions) {
      EXPECT_TRUE(defined.insert(definition.figure).second) << definition.figure;
    }
  }
  CostReport cost;
  const auto expect_all = [&](const std::string& part, const Json& json) {
    for (const auto& [key, value] : json.items()) {
      EXPECT_TRUE(defined.contains(part + key)) << part << key;
    }
  };
  expect_all("step.", step_json({}));
  expect_all("memory.", memory_json({}));
  expect_all("campaign.", campaign_json(campaign::CampaignResult{}));
  expect_all("", campaign_json(campaign::CampaignResult{})["ledger_gpu_s"]);
  expect_all("cost.", cost_json(cost));
}

}  // namespace
}  // namespace headway::report
