// The figures and the sentence that a page shows first, of every verb that has a page.
#include "sim/report/page/tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::report {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

Json json(const char* text) { return Json::parse(text); }

TEST(Tiles, OfAPlanAreThoseOfItsBestLayout) {
  Json plan = json(R"({"schema": "headway.plan/1", "objective": "step", "enumerated": 1234567,
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
  EXPECT_EQ(verdict_of(plan),
            "Plan 1 is the best by step: tensor 8, pipeline 1, data 16. Plan 2 is 3.4 % behind. "
            "The 90 % intervals of the two overlap: try both.");
  plan["apart"] = true;
  EXPECT_THAT(verdict_of(plan), testing::EndsWith("The 90 % intervals of the two lie apart."));
  plan["plans"].erase(1);
  EXPECT_EQ(verdict_of(plan),
            "Plan 1 is the best by step: tensor 8, pipeline 1, data 16. No other plan was found.");
  // What the search varied beside the layout is told where plans differ in it.
  plan["plans"][0].update(json(R"({"machine": "GB200", "nodes": 180, "board_w": 819.7})"));
  plan["plans"].push_back(plan["plans"][0]);
  plan["plans"][1].update(json(R"({"nodes": 1440, "board_w": 1200.0, "behind": 0.1})"));
  EXPECT_THAT(verdict_of(plan),
              testing::StartsWith("Plan 1 is the best by step: 180 nodes, boards of 819 W, tensor "
                                  "8, pipeline 1, data 16."));
  EXPECT_EQ(plan_words(plan["plans"][1], plan["plans"]),
            "1,440 nodes, boards of 1,200 W, tensor 8, pipeline 1, data 16");
  plan["plans"].clear();
  EXPECT_EQ(verdict_of(plan), "") << "the page prints the reasons";
  EXPECT_EQ(tiles_of(plan).size(), 1U);
}

TEST(Tiles, OfAComparisonAreWhatBMakesOfA) {
  Json both = json(R"({"schema": "headway.compare/1",
    "a": {"name": "Old", "figures": {"step_time_s": 4.0, "mfu": 0.4, "total_usd": null}},
    "b": {"name": "New", "figures": {"step_time_s": 3.0, "mfu": 0.5, "total_usd": 12}}})");
  EXPECT_THAT(tiles_of(both), testing::ElementsAre(Pair("-25.0 %", "step time of B: 3.00 for 4.00"),
                                                   Pair("+25.0 %", "MFU of B: 0.500 for 0.400")));
  EXPECT_EQ(verdict_of(both), "A step takes 25.0 % less on B (New) than on A (Old).");
  both["b"]["figures"]["step_time_s"] = 5.0;
  EXPECT_EQ(verdict_of(both), "A step takes 25.0 % longer on B (New) than on A (Old).");
  both["b"]["figures"]["step_time_s"] = 10.0;
  EXPECT_EQ(verdict_of(both), "A step takes 2.50 times as long on B (New) as on A (Old).");
  EXPECT_THAT(tiles_of(both), Contains(Pair("2.50 x", "step time of B: 10.0 for 4.00")));
  both["b"]["figures"]["step_time_s"] = 4.0;
  EXPECT_EQ(verdict_of(both), "A step takes as long on A (Old) as on B (New).");
  both["b"]["figures"]["step_time_s"] = nullptr;
  EXPECT_EQ(verdict_of(both), "");
}

TEST(Tiles, OfASweepAreThoseOfTheBestPoint) {
  Json sweep = json(R"({"schema": "headway.sweep/1", "points": 3, "best": "step.time_s",
    "best_is": "lowest", "best_point": 2, "rows": [
      {"point": 0, "changes": {"cluster.nodes": "1"}, "status": "refused", "figures": {}},
      {"point": 1, "changes": {"cluster.nodes": "2"}, "status": "ok", "figures": {"step.time_s": 3.0}},
      {"point": 2, "changes": {"cluster.nodes": "4"}, "status": "ok", "figures":
         {"step.time_s": 1.5, "memory.peak_bytes": 42949672960}}]})");
  EXPECT_THAT(tiles_of(sweep),
              testing::ElementsAre(Pair("1.50", "step.time_s of the best point"),
                                   Pair("40.0 GiB", "memory.peak_bytes of the best point"),
                                   Pair("2", "of 3 points are ok")));
  EXPECT_EQ(verdict_of(sweep), "Best is point 2: cluster.nodes 4, with the lowest step.time_s.");
  sweep["best_point"] = nullptr;
  EXPECT_EQ(verdict_of(sweep), "No point works.");
}

TEST(Tiles, OfADrillAreWhatIsLost) {
  Json drill = json(R"({"schema": "headway.drill/1", "lost": {"time_s": 1800, "usd": 250.0},
    "running_again_at_s": null, "step": {"healthy_s": 2, "slowdown": 1.25},
    "remedies": [{"name": "a watchdog", "how": "--monitor watchdog=on", "saved_s": 600}]})");
  EXPECT_THAT(tiles_of(drill), Contains(Pair("30.0 min", "of useful time are lost")));
  EXPECT_THAT(tiles_of(drill), Contains(Pair("250 USD", "it costs")));
  EXPECT_THAT(tiles_of(drill), Not(Contains(Pair(testing::_, "until steps are as before"))));
  EXPECT_EQ(verdict_of(drill), "Most would be saved by: a watchdog (--monitor watchdog=on).");
  drill["remedies"][0]["saved_s"] = -5;
  EXPECT_EQ(verdict_of(drill), "");
}

TEST(Tiles, OfPublishedRowsAreErrorsAndCoverage) {
  const Json rows = json(R"({"schema": "headway.validate/1",
    "summary": {"n": 400, "n_skipped": 3, "median_abs_error": 0.034, "coverage_90": 0.95},
    "left_out": {"parts": {"dense NVIDIA": {"median_abs_error": 0.044, "p90_abs_error": 0.147}}}})");
  EXPECT_THAT(tiles_of(rows), Contains(Pair("3.4 %", "median error of tokens a second")));
  EXPECT_THAT(tiles_of(rows), Contains(Pair("400", "published rows predicted, 3 not")));
  EXPECT_EQ(verdict_of(rows),
            "With each source left out: dense NVIDIA 4.4 % in the median, 14.7 % at the 90th "
            "percentile.");
}

TEST(Tiles, OfWhatHasNoneAreEmpty) {
  EXPECT_THAT(tiles_of(json(R"({"schema": "headway.topo/1"})")), IsEmpty());
  EXPECT_EQ(verdict_of(json(R"({"schema": "headway.topo/1"})")), "");
  EXPECT_EQ(verdict_of(json(R"({"schema": "headway.run/1", "limit": "It is slow."})")),
            "It is slow.");
}

}  // namespace
}  // namespace headway::report
