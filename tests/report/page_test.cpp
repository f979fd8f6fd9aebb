#include "sim/report/page/page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

#include "sim/report/page/answer_tables.h"
#include "sim/report/page/charts.h"
#include "sim/report/page/html.h"
#include "sim/report/page/tiles.h"

#include "tests/report/full_result.h"
#include "tests/report/specimen_result.h"

namespace headway::report {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  const std::string page = report_page({{{Json::parse(run_json(report)), "r.json"}, evil}}, "");
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
  EXPECT_THAT(without, HasSubstr("<details open=\"\"><summary>The same as a table"));
  EXPECT_THAT(without, Not(HasSubstr("<details><summary>The same as a table")));
  EXPECT_THAT(with, Not(HasSubstr("<details open=\"\"><summary>The same as a table")));
}

// A column of numbers is 8 rem wide, and a name of 30 letters that does not break covers the next.
TEST(Page, LongHeadingsBreakBehindTheirParts) {
  EXPECT_THAT(page_of(specimen_result("headway.validate/1")),
              HasSubstr(">predicted_<wbr>tokens_<wbr>per_<wbr>s_<wbr>per_<wbr>gpu</th>"));
}

// A heading may be broken behind the parts of its name, not inside a number.
TEST(Page, NumbersInHeadingsStayWhole) {
  Table table{"", {{"step.time of 0.806", true}}, {{"1"}}};
  EXPECT_THAT(html_table(table), HasSubstr("step.<wbr>time of 0.806"));
}

TEST(Page, EveryChartIsVegaLiteWithItsData) {
  std::vector<std::string> ids;
  for (const auto& chart : charts_of({full_result(), "r.json"})) {
    ids.push_back(chart.id);
    EXPECT_THAT(chart.specification["$schema"].get<std::string>(), HasSubstr("vega-lite"));
    EXPECT_FALSE(chart.specification["data"]["values"].empty()) << chart.id;
  }
  EXPECT_THAT(
      ids, testing::ElementsAre("breakdown", "memory", "held", "kinds", "links", "cables", "loads",
                                "ledger", "badput", "goodput", "interruptions", "storage"));
}

Json values_of(const Json& result, const std::string& id) {
  for (const auto& chart : charts_of({result, "r.json"})) {
    if (chart.id == id) {
      return chart.specification["data"]["values"];
    }
  }
  return {};
}

// Of 10 h of GPU time 9 are useful: from 100 % the losses go down to 90, the larger first.
TEST(Page, BadputGoesFromAllTimeDownToTheGoodput) {
  Json result = full_result();
  result["campaign"]["ledger_gpu_s"]["lost"] = 2700.0;
  result["campaign"]["ledger_gpu_s"]["load"] = 900.0;
  const Json rows = values_of(result, "badput");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["what"], "all GPU time");
  EXPECT_EQ(rows[0]["end"], 100);
  EXPECT_EQ(rows[1]["what"], "wasted progress from disruption");
  EXPECT_DOUBLE_EQ(rows[1]["begin"].get<double>(), 92.5);
  EXPECT_DOUBLE_EQ(rows[1]["end"].get<double>(), 100);
  EXPECT_EQ(rows[2]["what"], "unproductive checkpoint restore time");
  EXPECT_DOUBLE_EQ(rows[2]["begin"].get<double>(), 90);
  EXPECT_DOUBLE_EQ(rows[2]["end"].get<double>(), 92.5);
  EXPECT_EQ(rows[3]["what"], "goodput");
  EXPECT_DOUBLE_EQ(rows[3]["end"].get<double>(), 90);
}

TEST(Page, TheTrialsAreCountedByTheirGoodput) {
  const Json bins = values_of(full_result(), "goodput");
  ASSERT_EQ(bins.size(), 3U);
  EXPECT_DOUBLE_EQ(bins[0]["from"].get<double>(), 80);
  EXPECT_DOUBLE_EQ(bins[2]["to"].get<double>(), 90);
  EXPECT_EQ(bins[1]["trials"], 0);
}

TEST(Page, CablesAreACellALeafAndASpine) {
  const Json cells = values_of(full_result(), "cables");
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[0], Json({{"leaf", "0"}, {"spine", "0"}, {"use", 50.0}}));
  EXPECT_EQ(cells[3], Json({{"leaf", "1 to 2"}, {"spine", "1"}, {"use", 10.0}}));
}

// One GiB of weights; activations of one, then of three: 2 and 4 GiB.
TEST(Page, MemoryOverTheStepIsALineAStage) {
  const Json rows = values_of(full_result(), "held");
  ASSERT_EQ(rows.size(), 3U) << "two passes, and the end of the step";
  EXPECT_EQ(rows[0]["stage"], 0);
  EXPECT_DOUBLE_EQ(rows[0]["GiB"].get<double>(), 2);
  EXPECT_DOUBLE_EQ(rows[1]["seconds"].get<double>(), 1e-5);
  EXPECT_DOUBLE_EQ(rows[1]["GiB"].get<double>(), 4);
  EXPECT_DOUBLE_EQ(rows[2]["seconds"].get<double>(), 3e-5);
  EXPECT_EQ(rows[2]["GiB"], rows[1]["GiB"]);
}

TEST(Page, MemoryOverTheStepByKindIsOfTheFullestStageFirst) {
  Json result = full_result();
  Json& stages = result["pictures"]["timeline"]["stages"];
  const Json rows = values_of(result, "kinds");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1]["weights"], 1.0);
  EXPECT_EQ(rows[1]["activations"], 3.0);
  EXPECT_EQ(rows[2]["activations"], 3.0) << "until the end";
  stages = Json(std::vector<Json>(9, stages[0]));
  for (int s = 0; s < 9; ++s) {
    stages[static_cast<std::size_t>(s)]["stage"] = s;
  }
  stages[4]["held"]["logits_bytes"][1] = 1 << 30;
  for (const auto& chart : charts_of({result, "r.json"})) {
    if (chart.id == "kinds") {
      const Json& bind = chart.specification["params"][0];
      EXPECT_EQ(bind["value"], 4);
      EXPECT_EQ(bind["bind"]["options"], Json({4, 0, 8}));
    }
  }
}

TEST(Page, AKindOfMemoryHasOneColourInAllCharts) {
  std::vector<Json> domains;
  for (const auto& chart : charts_of({full_result(), "r.json"})) {
    if (chart.id == "kinds" || chart.id == "memory") {
      const Json& own = chart.specification;
      const Json& marks = own.contains("layer") ? own["layer"][0] : own;
      domains.push_back(marks["encoding"]["color"]["scale"]["domain"]);
    }
  }
  ASSERT_EQ(domains.size(), 2U);
  EXPECT_EQ(domains[0], domains[1]);
  EXPECT_EQ(domains[0].size(), 7U);
}

// A step of 4 s, in each window of 40 ms a quarter at full load.
TEST(Page, OfManyLoadsTheMeanIsDrawn) {
  Json result = full_result();
  Json& link = result["pictures"]["loads"][0];
  link["from_ns"] = Json::array();
  link["load_bytes_per_s"] = Json::array();
  for (std::int64_t i = 0; i < 200; ++i) {
    link["from_ns"].push_back(i * 20'000'000);
    link["load_bytes_per_s"].push_back(i % 2 == 0 ? 50'000'000'000 / 2 : 0);
  }
  const Json rows = values_of(result, "loads");
  ASSERT_EQ(rows.size(), 100U);
  EXPECT_NEAR(rows[7]["load"].get<double>(), 25, 1e-9);
  EXPECT_NEAR(rows[99]["load"].get<double>(), 25, 1e-9);
}

TEST(Page, EttrAgainstTheStorageMarksTheJobs) {
  for (const auto& chart : charts_of({full_result(), "r.json"})) {
    if (chart.id == "storage") {
      const Json& values = chart.specification["data"]["values"];
      ASSERT_EQ(values.size(), 2U);
      EXPECT_DOUBLE_EQ(values[0]["x"].get<double>(), 1000) << "GB/s";
      EXPECT_DOUBLE_EQ(values[0]["ETTR"].get<double>(), 91);
      const Json& now = chart.specification["layer"][1]["data"]["values"][0];
      EXPECT_DOUBLE_EQ(now["x"].get<double>(), 2000);
    }
  }
}

// The step's parts are drawn end to end: 3 s of compute, 0.75 s of bubble, 0.25 s of data.
TEST(Page, TheWaterfallEndsAtTheStep) {
  const auto chart = charts_of({full_result(), "r.json"})[0];
  const auto& values = chart.specification["data"]["values"];
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[1]["begin"], 3.0);
  EXPECT_EQ(values[2]["end"], 4.0);
}

// Not by their keys: "pipeline p2p", "data", "lost".
TEST(Page, CausesAndAccountsAreCalledAsInTheTables) {
  Json result = full_result();
  result["step"]["breakdown_s"]["pipeline_p2p"] = 0.25;
  result["step"]["breakdown_s"]["data"] = 0.125;
  result["campaign"]["ledger_gpu_s"]["load"] = 3600.0;
  const auto words_of = [&](const char* id) {
    std::vector<std::string> words;
    for (const Json& row : values_of(result, id)) {
      words.push_back(row["what"]);
    }
    return words;
  };
  EXPECT_THAT(words_of("breakdown"), testing::IsSupersetOf({"transfers between pipeline stages",
                                                            "data-parallel communication"}));
  EXPECT_THAT(words_of("breakdown"), Not(testing::Contains("data")));
  EXPECT_THAT(words_of("ledger"), testing::Contains("loading checkpoints"));
  EXPECT_EQ(result["step"]["breakdown_s"]["pipeline_p2p"], 0.25) << "keys of results stay";
}

// Turned on their sides they are hard to read.
TEST(Page, StagesAreUprightAtTheirAxis) {
  const auto charts = charts_of({full_result(), "r.json"});
  const Json& x = charts[1].specification["layer"][0]["encoding"]["x"];
  EXPECT_EQ(x["axis"]["labelAngle"], 0);
  EXPECT_EQ(x["axis"]["labelOverlap"], true);
}

// Not by their keys: "gpus usd".
TEST(Page, PartsOfABillAreCalledAsInTheTable) {
  Json result = full_result();
  result["cost"] = specimen_result("headway.run/1")["cost"];
  result["cost"]["gpus_usd"] = 3.0;
  result["cost"]["storage_usd"] = 1.0;
  const Json rows = values_of(result, "cost");
  ASSERT_GE(rows.size(), 2U);
  EXPECT_EQ(rows[0]["what"], "GPUs");
  for (const Json& row : rows) {
    EXPECT_THAT(row["what"].get<std::string>(), Not(HasSubstr("usd")));
  }
}

// 0.004 s of 2 s are 0.2 %: its bar is 1/250 of the largest, its words are as large.
TEST(Page, PartsOfAComparisonSayTheirDifferenceAndShare) {
  Json compare = specimen_result("headway.compare/1");
  const auto part = [](const char* words, double a, double b, double share) {
    return Json{{"part", "x"}, {"words", words},      {"a", a},
                {"b", b},      {"difference", b - a}, {"share", share}};
  };
  compare["step_parts_s"] = {part("compute", 1, 2, 0.5),
                             part("the optimizer", 0.005, 0.001, -0.002), part("other", 1, 1, 0)};
  compare["a"]["figures"]["step_time_s"] = 2.0;
  compare["b"]["figures"]["step_time_s"] = 1.0;
  const auto charts = charts_of({compare, "c.json"});
  ASSERT_GE(charts.size(), 2U);
  const Json& sides = charts[0].specification;
  EXPECT_EQ(sides["data"]["values"][0]["label"], "step: -50.0 % (2.00 s to 1.00 s)");
  // Twice and half are as far from 1; where nothing is more on B its side is not left blank.
  const Json& x = sides["layer"][0]["encoding"]["x"]["scale"];
  EXPECT_EQ(x["type"], "log");
  EXPECT_DOUBLE_EQ(x["domain"][0].get<double>(), 0.5);
  EXPECT_DOUBLE_EQ(x["domain"][1].get<double>(), 1.01);
  EXPECT_EQ(change_text(1 - 1e-9), "0.0 %") << "nothing has a sign";
  EXPECT_EQ(charts[1].id, "step_parts");
  const Json& rows = charts[1].specification["data"]["values"];
  ASSERT_EQ(rows.size(), 2U) << "what is the same is no difference";
  EXPECT_EQ(rows[0]["label"], "compute: +1.00 s, +50.0 % of A's");
  EXPECT_EQ(rows[0]["side"], "more on B");
  EXPECT_EQ(rows[1]["label"], "the optimizer: -0.00400 s, -0.200 % of A's");
  EXPECT_EQ(rows[1]["side"], "less on B");
}

TEST(Page, LayersOfAComparisonSayWhoMakesTheDifference) {
  Json compare = specimen_result("headway.compare/1");
  Json layer = compare["layers"][0];
  Json& figures = layer["figures"];
  for (auto& [key, figure] : figures.items()) {
    figure["shapley"] = 0.0;
  }
  layer["layer"] = "fabric";
  Json other = layer;
  figures["step_time_s"] = figures.begin().value();
  figures["step_time_s"]["shapley"] = -0.25;
  other["layer"] = "storage";
  compare["layers"] = {layer, other};
  for (const auto& chart : charts_of({compare, "c.json"})) {
    EXPECT_NE(chart.id, "run_layers") << "no layer changes the days";
    if (chart.id == "step_layers") {
      const Json& rows = chart.specification["data"]["values"];
      ASSERT_EQ(rows.size(), 1U) << "storage makes no difference";
      EXPECT_EQ(rows[0]["label"], "fabric: -0.250 s");
      EXPECT_EQ(rows[0]["side"], "less on B");
      return;
    }
  }
  FAIL() << "no chart of layers";
}

// A result that was calibrated says by what.
TEST(Page, TheProvenanceNamesTheCalibration) {
  Json result = full_result();
  result["scenario"]["calibration"] = "catalogue";
  EXPECT_THAT(page_of(result), HasSubstr("seed 1, not calibrated"));
  result["scenario"]["calibration"] = "H100 <mine>";
  EXPECT_THAT(page_of(result), HasSubstr("seed 1, calibration: H100 &lt;mine&gt;"));
}

TEST(Page, RemediesOfADrillSayHow) {
  Json drill = specimen_result("headway.drill/1");
  drill["remedies"][0]["name"] = "saves twice as often";
  drill["remedies"][0]["how"] = "--set x";
  drill["remedies"][0]["saved_s"] = 450.0;
  EXPECT_THAT(page_of(drill), HasSubstr("450 s saved: saves twice as often (--set x)"));
}

// The page's script ties plans to rows by their numbers.
TEST(Page, PlansOfTheFrontHaveTheirNumbersAndABrush) {
  Json plan = specimen_result("headway.plan/1");
  plan["plans"].push_back(plan["plans"][0]);
  Json other = plan["simulated_plans"][0];
  plan["simulated_plans"][0]["plan"] = 2;
  other["plan"] = nullptr;  // was simulated, and is not among those that are listed
  other["pareto"] = false;
  plan["simulated_plans"].push_back(other);
  const auto chart = charts_of({plan, "p.json"}).front();
  const Json& points = chart.specification["data"]["values"];
  EXPECT_EQ(points[0]["plan"], 2);
  EXPECT_TRUE(points[1]["plan"].is_null());
  EXPECT_EQ(points[1]["point"], 2);
  EXPECT_EQ(points[1]["front"], "not in the table");
  EXPECT_EQ(chart.specification["params"][0]["select"], "interval");
  // What is on the front is drawn last, and has a colour of its own; others do not cover it.
  EXPECT_EQ(chart.specification["encoding"]["order"]["sort"], "ascending");
  const Json& words = chart.specification["encoding"]["color"]["scale"]["domain"];
  EXPECT_EQ(words, Json({"behind it", "not in the table"})) << "only what there is";
  EXPECT_LT(std::string("not in the table"), std::string("on it"));
  EXPECT_THAT(page_of(plan), HasSubstr("<div data-list=\"plans\">"));
  EXPECT_THAT(page_of(plan), testing::ContainsRegex("<th[^>]*>plan</th>"));
}

TEST(Page, OfAComparisonSaysWhatWasReadAndWithWhichSeeds) {
  Json both = specimen_result("headway.compare/1");
  both["a"]["digest"] = "0a1b";
  both["a"]["seed"] = 7;
  both["a"]["resolved"] = "name: One\n";
  both["b"]["resolved"] = "name: Other\n";
  const std::string page = page_of(both);
  EXPECT_THAT(page, HasSubstr("A 0a1b, seed 7"));
  EXPECT_THAT(page, HasSubstr("A: The scenario as it was read"));
  EXPECT_THAT(page, HasSubstr("<pre>name: Other"));
  EXPECT_THAT(page, HasSubstr("step [s]"));
  both["a"]["name"] = both["b"]["name"] = "Llama";
  EXPECT_THAT(page_of(both), HasSubstr("<title>Llama, A and B</title>"));
}

// A page of results alone says what to keep of them; one that a command made says that command.
TEST(Page, SaysHowToHaveItAgain) {
  Json drill = specimen_result("headway.drill/1");
  drill["scenario"]["name"] = "Llama";
  drill["fault"]["kind"] = "nic-down";
  const std::string page = report_page({{{drill, "r.json"}, "from r.json"}}, "");
  EXPECT_THAT(page, HasSubstr("<title>Fire drill of nic-down: Llama</title>"));
  EXPECT_THAT(page,
              HasSubstr("Again: save <code>resolved</code> as scenario.yaml of the result's JSON, "
                        "then <code>headway drill scenario.yaml</code> with the fault as "
                        "asked"));
  EXPECT_THAT(page_of(drill), testing::Not(HasSubstr("Again:")));
  Json run = full_result();
  run["pictures"]["scenario"] = "name: Llama\n";
  EXPECT_THAT(
      report_page({{{run, "r.json"}, "from r.json"}}, ""),
      HasSubstr("Again: save <code>pictures.scenario</code> as scenario.yaml of the result's "
                "JSON, then <code>headway run scenario.yaml</code>."));
}

TEST(Page, CommandIsThatOfTheResultAlone) {
  EXPECT_EQ(shown_command("headway run /a/b/s.yaml --set 'x=1 /c/d' --report /a/r.html --force"),
            "headway run /a/b/s.yaml --set 'x=1 /c/d'");
  EXPECT_EQ(shown_command("headway run s.yaml --out=r.json --trials 5"),
            "headway run s.yaml --trials 5");
  EXPECT_EQ(shown_command("headway plan s.yaml --show held"), "headway plan s.yaml");
}

TEST(Page, AMissingHeatMapSaysWhy) {
  Json run = full_result();
  run["pictures"]["cables"] = nullptr;
  run["pictures"]["cables_why"] = "no switch of this fabric is above the leaves";
  EXPECT_THAT(page_of(run),
              HasSubstr("There is no heat map of the cables between leaves and spines: "
                        "no switch of this fabric is above the leaves."));
}

// The legend names what the front is of.
TEST(Page, ThePlansOnTheFrontAreTold) {
  Json plan = specimen_result("headway.plan/1");
  plan["beside"] = Json::array();
  plan["plans"][0]["name"] = "tensor 2, pipeline 1, micro batch 4";
  plan["simulated_plans"][0]["plan"] = 1;
  const auto front = [&] { return charts_of({plan, "r.json"}).front().specification; };
  EXPECT_EQ(front()["encoding"]["color"]["title"], "front of time and money");
  EXPECT_THAT(front()["data"]["values"][0]["what"].get<std::string>(),
              testing::StartsWith("1. tensor 2, pipeline "));
  EXPECT_THAT(front()["data"]["values"][0]["what"].get<std::string>(),
              HasSubstr(", micro batch 4"));
  plan["objective"] = "dollars";
  plan["beside"] = {"energy"};
  EXPECT_EQ(front()["encoding"]["color"]["title"], "front of dollars, energy");
  // Of several clusters each has its mark, with a legend.
  EXPECT_FALSE(front()["encoding"].contains("shape"));
  Json other = plan["simulated_plans"][0];
  other["nodes"] = 64;
  other["machine"] = "b200";
  plan["simulated_plans"].push_back(other);
  EXPECT_EQ(front()["encoding"]["shape"]["title"], "cluster");
  EXPECT_EQ(front()["data"]["values"][1]["cluster"], "b200, 64 nodes");
}

TEST(Page, LongListsOfTheScenarioAreCut) {
  const std::string page = page_of(full_result());
  EXPECT_THAT(page, HasSubstr("  - 6\n  # and so on\nend: 1\n"));
}

// A table and the catalogue are told apart by their digests; a case of goodput has a seed as well.
TEST(Page, ComparisonsSayWhatTheyWereMadeFrom) {
  for (const char* kind : {"", "-anchor", "-goodput", "-collectives", "-flow-model"}) {
    Json result = specimen_result(fmt::format("headway.validate{}/1", kind));
    result["inputs"] = {{{"name", "runs.csv"}, {"digest", "0123456789abcdef"}},
                        {{"name", "catalogue"}, {"digest", "fedcba9876543210"}}};
    result["seed"] = nullptr;
    const std::string made_from = fmt::format(
        ", headway {}, runs.csv 0123456789abcdef, catalogue fedcba9876543210", HEADWAY_VERSION);
    result["version"] = HEADWAY_VERSION;
    EXPECT_THAT(page_of(result), HasSubstr(made_from + ", nothing is drawn<br>")) << kind;
    result["seed"] = 7;
    EXPECT_THAT(page_of(result), HasSubstr(made_from + ", seed 7<br>")) << kind;
  }
}

TEST(Page, WhatTheResultLacksIsNamed) {
  const std::string page = page_of(Json::parse(run_json(study::sample_report())));
  EXPECT_THAT(page, HasSubstr("headway run --pictures"));
  EXPECT_THAT(page, HasSubstr("<table>"));
}

TEST(Page, SeveralResultsAreSections) {
  const Json one = full_result();
  const std::string page = report_page({{{one, "r.json"}, "a"}, {{one, "r.json"}, "b"}}, "");
  EXPECT_THAT(page, HasSubstr("id=\"result-0\""));
  EXPECT_THAT(page, HasSubstr("id=\"result-1\""));
  EXPECT_THAT(page, HasSubstr("<title>Sample; Sample</title>"));
}

}  // namespace
}  // namespace headway::report
