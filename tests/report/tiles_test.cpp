// The figures and the sentence that a page shows first, of every verb that has a page; what a page
// of plans says of each.
#include "sim/report/page/tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/page/charts.h"
#include "sim/report/page/page.h"

#include "tests/report/specimen_result.h"

namespace headway::report {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

Json parsed_result(const char* text) { return Json::parse(text); }

TEST(Tiles, OfAPlanAreThoseOfItsBestLayout) {
  Json plan =
      parsed_result(R"({"schema": "headway.plan/1", "objective": "step", "enumerated": 1234567,
    "simulated": 50, "apart": false, "plans": [
      {"layout": {"tensor": 8, "pipeline": 1, "virtual": 1, "data": 16, "schedule": "1f1b"},
       "step": {"time_s": 2.0, "time_interval_s": [1.8, 2.2], "mfu": 0.5,
                "model_tflops_per_gpu": 300, "tokens_per_s": 1000},
       "memory": {"peak_bytes": 60, "capacity_bytes": 80}, "behind": 0},
      {"layout": {"tensor": 4, "pipeline": 2}, "behind": 0.034}]})");
  const Tiles tiles = tiles_of(plan);
  EXPECT_THAT(tiles, Contains(Pair("2.00 s", "step; 90 %: 1.80 to 2.20")));
  EXPECT_THAT(tiles, Contains(Pair("25.0 %", "of the GPU's memory is free at the peak")));
  EXPECT_THAT(tiles, Contains(Pair("1,234,567", "layouts looked at, 50 of them simulated")));
  plan["plans"].clear();
  EXPECT_EQ(tiles_of(plan).size(), 1U);
}

TEST(Tiles, WhatDoesNotFitSaysHowMuchOfHowMuch) {
  Json run = specimen_result("headway.run/1");
  run["status"] = "infeasible";
  run["memory"]["peak_bytes"] = 182.0 * 1073741824;
  run["memory"]["capacity_bytes"] = 80.0 * 1073741824;
  EXPECT_THAT(tiles_of(run),
              Contains(Pair("182 of 80.0 GiB", "are needed on the fullest GPU: it does not fit")));
  const std::string page = report_summary({run, "r.json"});
  EXPECT_LT(page.find("Status: infeasible"), page.find("182 of 80.0 GiB")) << "before any figure";
}

// Less than all of a run is not shown as all of it, on any view.
TEST(Tiles, AShareBelowAllIsNotAll) {
  Json sweep = specimen_result("headway.sweep/1");
  sweep["best_point"] = sweep["rows"][0]["point"];
  sweep["rows"][0]["figures"] = {{"campaign.ettr.p50", 0.9996}};
  EXPECT_THAT(tiles_of(sweep), Contains(Pair("99.96 %", "ETTR, median of the best point")));
}

TEST(Tiles, ARangeWithoutWidthIsOneFigure) {
  Json run = parsed_result(R"({"schema": "headway.run/1", "campaign": {
    "wall_days": {"p5": 0.19789, "p50": 0.19789, "p95": 0.19791},
    "ettr": {"p5": 0.9, "p50": 0.95, "p95": 0.97}},
    "step": {"time_s": 2.0, "time_interval_s": [2.0, 2.0]}})");
  EXPECT_THAT(tiles_of(run), Contains(Pair("0.198 days", "wall clock; 5 to 95 %: the same")));
  EXPECT_THAT(tiles_of(run), Contains(Pair("95.0 %", "ETTR, median; 5 to 95 %: 90.0 to 97.0")));
  EXPECT_THAT(tiles_of(run), Contains(Pair("2.00 s", "step; 90 %: 2.00")));
}

TEST(Tiles, OfAnAnswerAreTheValueAndItsFigure) {
  const Json solved = parsed_result(R"({"schema": "headway.solve/1", "key": "cluster.nodes",
    "condition": "step.mfu >= 0.3", "answer": {"value": "16", "figure": 0.31},
    "sentences": ["The smallest is 16.", "At 8 it is 0.2."]})");
  EXPECT_THAT(tiles_of(solved), testing::ElementsAre(Pair("16", "cluster.nodes"),
                                                     Pair("0.310", "where step.mfu >= 0.3")));
  EXPECT_EQ(verdict_of(solved), "The smallest is 16. At 8 it is 0.2.");
}

TEST(Tiles, OfAComparisonAreWhatBMakesOfA) {
  Json both = parsed_result(R"({"schema": "headway.compare/1",
    "a": {"name": "Old", "figures": {"step_time_s": 4.0, "mfu": 0.4, "total_usd": null}},
    "b": {"name": "New", "figures": {"step_time_s": 3.0, "mfu": 0.5, "total_usd": 12}}})");
  EXPECT_THAT(tiles_of(both),
              testing::ElementsAre(Pair("-25.0 %", "step of B: 3.00 s, of A 4.00 s"),
                                   Pair("+10.0 points", "MFU of B: 50.0 %, of A 40.0 %")))
      << "of shares the difference, as the page of serve has it";
  both["b"]["figures"]["step_time_s"] = 10.0;
  EXPECT_THAT(tiles_of(both), Contains(Pair("2.50 x", "step of B: 10.0 s, of A 4.00 s")));
}

TEST(Tiles, OfASweepAreThoseOfTheBestPoint) {
  Json sweep = parsed_result(R"({"schema": "headway.sweep/1", "points": 3, "best": "step.time_s",
    "best_is": "lowest", "best_point": 2, "rows": [
      {"point": 0, "changes": {"cluster.nodes": "1"}, "status": "refused", "figures": {}},
      {"point": 1, "changes": {"cluster.nodes": "2"}, "status": "ok", "figures": {"step.time_s": 3.0}},
      {"point": 2, "changes": {"cluster.nodes": "4"}, "status": "ok", "figures":
         {"step.time_s": 1.5, "memory.peak_bytes": 42949672960}}]})");
  EXPECT_THAT(tiles_of(sweep),
              testing::ElementsAre(Pair("1.50 s", "step of the best point"),
                                   Pair("40.0 GiB", "memory at the peak of the best point"),
                                   Pair("2", "of 3 points are ok")));
}

TEST(Tiles, OfADrillAreWhatIsLost) {
  Json drill =
      parsed_result(R"({"schema": "headway.drill/1", "lost": {"time_s": 1800, "usd": 250.0},
    "running_again_at_s": null, "step": {"healthy_s": 2, "slowdown": 1.25},
    "remedies": [{"name": "a watchdog", "how": "--monitor watchdog=on", "saved_s": 600}]})");
  EXPECT_THAT(tiles_of(drill), Contains(Pair("30.0 min", "of useful time are lost")));
  EXPECT_THAT(tiles_of(drill), Contains(Pair("250 USD", "it costs")));
  EXPECT_THAT(tiles_of(drill), Not(Contains(Pair(testing::_, "until steps are as before"))));
  const char* kStep = "step while it lasts / healthy step";
  EXPECT_THAT(tiles_of(drill), Contains(Pair("1.25", kStep)));
  drill["step"]["slowdown"] = 1;  // a fault that stops the job, or that no step feels
  EXPECT_THAT(tiles_of(drill), Not(Contains(Pair(testing::_, kStep))));
}

TEST(Tiles, OfAProfileAreMeasuredOverPredicted) {
  Json profile = specimen_result("headway.compare-profile/1");
  Json row = profile["rows"][0];
  row["figure"] = "matrix_products";
  row["unit"] = "s";
  row["measured"] = 1.1;
  row["predicted"] = 1.0;
  row["ratio"] = 1.1;
  Json share = row;
  share["unit"] = "1";  // an overlap is no time
  profile["rows"] = {row, share};
  EXPECT_EQ(tiles_of(profile),
            (Tiles{{"+10.0 %", "matrix products: 1.10 s measured, 1.00 s predicted"}}));
}

TEST(Tiles, OfPublishedRowsAreErrorsAndCoverage) {
  const Json rows = parsed_result(R"({"schema": "headway.validate/1",
    "summary": {"n": 400, "n_skipped": 3, "median_abs_error": 0.034, "coverage_90": 0.95},
    "left_out": {"parts": {"dense NVIDIA": {"n": 321, "median_abs_error": 0.044, "p90_abs_error": 0.147}}}})");
  EXPECT_THAT(
      tiles_of(rows),
      Contains(Pair("4.4 %",
                    "median error of 321 rows of dense NVIDIA, each source predicted without it")));
  EXPECT_THAT(tiles_of(rows),
              Contains(Pair("3.4 %",
                            "median error of tokens a second of 400 rows of every part, with the "
                            "constants as they are")));
  EXPECT_THAT(tiles_of(rows), Contains(Pair("400", "published rows predicted, 3 not")));
}

TEST(Tiles, OfWhatHasNoneAreEmpty) {
  EXPECT_THAT(tiles_of(parsed_result(R"({"schema": "headway.topo/1"})")), IsEmpty());
  EXPECT_EQ(verdict_of(parsed_result(R"({"schema": "headway.topo/1"})")), "");
  EXPECT_EQ(verdict_of(parsed_result(R"({"schema": "headway.run/1", "limit": "It is slow."})")),
            "It is slow.");
}

TEST(Tiles, StandBesideTheVerdictThatTheResultHas) {
  EXPECT_EQ(
      verdict_of(parsed_result(R"({"schema": "headway.plan/1", "verdict": "Plan 1 it is."})")),
      "Plan 1 it is.");
  EXPECT_EQ(verdict_of(parsed_result(R"({"schema": "headway.plan/1"})")), "")
      << "of an older version";
}

// A name is never cut: it stands over its bar, in lines that a phone has room for.
TEST(PlansPage, PlansAreCalledByTheirWholeNames) {
  Json plan = specimen_result("headway.plan/1");
  plan["plans"][0]["name"] =
      "16 nodes, tensor 1, pipeline 2, virtual 6, context 2, data 32, micro batches 4, last stage "
      "layers 15";
  plan["plans"][0]["step"]["breakdown_s"]["compute"] = 1;
  const Json chart = charts_of({plan, "p.json"})[0].specification;
  EXPECT_EQ(chart["data"]["values"][0]["what"],
            "1. 16 nodes, tensor 1, pipeline 2, virtual 6, context 2, data 32,\n"
            "micro batches 4, last stage layers 15");
  EXPECT_TRUE(chart["layer"][0]["encoding"]["y"]["axis"].is_null());
  EXPECT_EQ(chart["layer"][1]["encoding"]["text"]["field"], "what");
  EXPECT_EQ(chart["height"], 2 * 14 + 12 + 12) << "two lines, a bar and what is between rows";
}

TEST(PlansPage, OfPlansShowsTheWarningsOfPrices) {
  Json plan = specimen_result("headway.plan/1");
  plan["warnings"] = {"run.prices bills B200 at a price of H100"};
  EXPECT_THAT(report_page({{{plan, "r.json"}, "headway plan s.yaml"}}, ""),
              testing::HasSubstr("Warning: run.prices bills B200 at a price of H100</p>"));
}

}  // namespace
}  // namespace headway::report
