#include "sim/report/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

#include "sim/report/page/charts.h"
#include "sim/report/page/html.h"
#include "sim/report/run_json.h"

#include "tests/study/sample_report.h"

namespace headway::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Json full_result() {
  auto report = study::sample_report_with_campaign();
  report.remedies = {{"change this", "2 days less", 0.1, false}};
  report.warnings = {"mind the memory"};
  study::Pictures pictures;
  pictures.timeline.names = {"forward", "backward"};
  pictures.timeline.stages = {{0, {0, 10}, {10, 20}, {0, 2}, {0, 1}, {0, 0}, {0, 0}}};
  pictures.stage_memory = {report.step.memory.by_kind};
  pictures.scenario = "name: Sample\nlist:\n" + std::string("  - 1\n  - 2\n  - 3\n  - 4\n") +
                      "  - 5\n  - 6\n  - 7\n  - 8\nend: 1\n";
  report.pictures = pictures;
  return Json::parse(run_json(report));
}

std::string page_of(const Json& json, const std::string& charts = "window.library = 1;") {
  return report_page({{json, "headway run s.yaml"}}, charts);
}

TEST(Page, SaysWhatDecides) {
  const std::string page = page_of(full_result());
  EXPECT_THAT(page, HasSubstr("<h1>Sample</h1>"));
  EXPECT_THAT(page, HasSubstr("<b>4.00 s</b>\n<span>step; 90 %: 3.50 to 4.50</span>"));
  EXPECT_THAT(page, HasSubstr("<b>25.0 %</b>")) << "of the memory is free";
  EXPECT_THAT(page, HasSubstr("The step is limited by the pipeline bubble."));
  EXPECT_THAT(page, HasSubstr("<li>2 days less: change this</li>"));
  EXPECT_THAT(page, HasSubstr("Warning: mind the memory"));
  EXPECT_THAT(page, HasSubstr("<code>headway run s.yaml</code>"));
  EXPECT_THAT(page, HasSubstr("scenario 00000000000000aa, seed 1"));
}

// Every figure stands in a table with what the field lists say of it.
TEST(Page, FiguresHaveTheirMeanings) {
  const std::string page = page_of(full_result());
  EXPECT_THAT(page, HasSubstr("step.tokens_per_s_per_gpu"));
  EXPECT_THAT(page, HasSubstr("the same / GPUs of the job, spares not counted"));
  EXPECT_THAT(page, HasSubstr("run.recovery.detection")) << "an assumption";
}

TEST(Page, NamesOfOthersAreTextWhereverTheyStand) {
  auto report = study::sample_report_with_campaign();
  const std::string evil = "</script><script>alert(1)</script><b onclick='x' \"y\">&";
  report.scenario.name = evil;
  report.asked = {evil, evil, evil};
  report.limit = evil;
  report.warnings = {evil};
  report.campaign->by_hazard = {{evil, 2}};
  report.assumptions = {{evil, evil, evil}};
  const std::string page = report_page({{Json::parse(run_json(report)), evil}}, "");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("</script><script>")));
  EXPECT_THAT(page, Not(HasSubstr("<b onclick")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
}

TEST(Page, AsksNobodyForAnything) {
  const std::string page = page_of(full_result());
  EXPECT_THAT(page, HasSubstr("default-src 'none'")) << "the browser holds it to that";
  const std::regex outside("(src|href|action)=|url\\(|@import|fetch\\(|XMLHttpRequest");
  EXPECT_FALSE(std::regex_search(page, outside));
}

TEST(Page, WithoutTheLibraryTablesStandForChartsAndThePageSaysSo) {
  const std::string with = page_of(full_result());
  const std::string without = page_of(full_result(), "");
  EXPECT_THAT(with, HasSubstr("window.library = 1;"));
  EXPECT_THAT(with, Not(HasSubstr("has no chart library")));
  EXPECT_THAT(without, HasSubstr("has no chart library"));
  EXPECT_THAT(without, HasSubstr("The same as a table"));
}

TEST(Page, EveryChartIsVegaLiteWithItsData) {
  std::vector<std::string> ids;
  for (const auto& chart : charts_of(full_result())) {
    ids.push_back(chart.id);
    EXPECT_THAT(chart.specification["$schema"].get<std::string>(), HasSubstr("vega-lite"));
    EXPECT_FALSE(chart.specification["data"]["values"].empty()) << chart.id;
  }
  EXPECT_THAT(ids, testing::ElementsAre("breakdown", "memory", "links", "ledger", "interruptions"));
}

// The step's parts are drawn end to end: 3 s of compute, 0.75 s of bubble, 0.25 s of data.
TEST(Page, TheWaterfallEndsAtTheStep) {
  const auto chart = charts_of(full_result())[0];
  const auto& values = chart.specification["data"]["values"];
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[1]["begin"], 3.0);
  EXPECT_EQ(values[2]["end"], 4.0);
}

// Of each verb the charts that its results have, from results of their shape.
TEST(Page, OtherVerbsHaveChartsToo) {
  const auto ids = [](const char* text) {
    std::vector<std::string> all;
    for (const auto& chart : charts_of(Json::parse(text))) {
      all.push_back(chart.id);
    }
    return all;
  };
  EXPECT_THAT(ids(R"({"schema": "headway.plan/1", "plans": [{"layout": {"tensor": 2, "data": 1,
      "micro_batch": 4}, "step": {"time_s": 1}, "pareto": true, "campaign": {"wall_days": {"p50": 3}},
      "cost": {"total_usd": {"p50": 9}}}]})"),
              testing::ElementsAre("plans", "front"));
  EXPECT_THAT(ids(R"({"schema": "headway.drill/1", "timeline": [{"at_s": 0, "moment": "fault",
      "layer": null, "text": "x"}], "lost": {"accounts_s": {"useful": 5, "detect": 1}},
      "remedies": [{"name": "n", "how": "h", "saved_s": 4}]})"),
              testing::ElementsAre("cascade", "lost", "remedies"));
  EXPECT_THAT(ids(R"({"schema": "headway.compare/1", "a": {"figures": {"mfu": 0.4}},
      "b": {"figures": {"mfu": 0.5}}})"),
              testing::ElementsAre("sides"));
  EXPECT_THAT(ids(R"({"schema": "headway.validate/1", "rows": [{"id": "r",
      "measured_tokens_per_s_per_gpu": 1, "predicted_tokens_per_s_per_gpu": 2,
      "interval": [1, 3]}]})"),
              testing::ElementsAre("validation"));
  EXPECT_THAT(ids(R"({"schema": "headway.topo/1"})"), testing::IsEmpty());
  const std::string drill = page_of(Json::parse(R"({"schema": "headway.drill/1", "version": "1",
      "remedies": [{"name": "saves twice as often", "how": "--set x", "saved_s": 450.0}]})"));
  EXPECT_THAT(drill, HasSubstr("450 s saved: saves twice as often (--set x)"));
}

TEST(Page, LongListsOfTheScenarioAreCut) {
  const std::string page = page_of(full_result());
  EXPECT_THAT(page, HasSubstr("  - 6\n  # and so on\nend: 1\n"));
}

TEST(Page, WhatTheResultLacksIsNamed) {
  const std::string page = page_of(Json::parse(run_json(study::sample_report())));
  EXPECT_THAT(page, HasSubstr("headway run --pictures"));
  EXPECT_THAT(page, HasSubstr("<table>"));
}

TEST(Page, SeveralResultsAreSections) {
  const Json one = full_result();
  const std::string page = report_page({{one, "a"}, {one, "b"}}, "");
  EXPECT_THAT(page, HasSubstr("id=\"result-0\""));
  EXPECT_THAT(page, HasSubstr("id=\"result-1\""));
  EXPECT_THAT(page, HasSubstr("<title>Sample; Sample</title>"));
}

}  // namespace
}  // namespace headway::report
