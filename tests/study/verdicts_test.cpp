// The sentence that matters of results, which the table, the JSON and the page share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/study/compare.h"
#include "sim/study/drill.h"
#include "sim/study/plan.h"
#include "sim/study/points/sweep.h"
#include "sim/study/validate.h"

namespace headway::study {
namespace {

using testing::EndsWith;
using testing::StartsWith;

plan::Plan planned(double step, int nodes) {
  plan::Plan one;
  one.setting = {nodes, 8, 1000, core::Precision::bf16, 0};
  one.gpus = std::int64_t{8} * nodes;
  one.step.time = core::Seconds(step);
  one.step.interval_low = core::Seconds(0.9 * step);
  one.step.interval_high = core::Seconds(1.1 * step);
  one.layout.tensor = 2;
  one.layout.data = 4 * nodes;
  return one;
}

// What published runs say of the software widens each plan's interval, and tells none apart.
TEST(Verdicts, WhatPlansShareDoesNotJoinThem) {
  PlanReport report;
  report.result.plans = {planned(1, 2), planned(1.5, 2)};
  report.steps = {report.result.plans[0].step, report.result.plans[1].step};
  for (auto& step : report.steps) {
    step.interval_low = 0.5 * step.time;
    step.interval_high = 2.0 * step.time;
  }
  EXPECT_TRUE(report.apart().value());
  EXPECT_THAT(report.verdict().value(),
              testing::HasSubstr("0.900 to 1.10 s and 1.35 to 1.65 s, do not overlap"));
  EXPECT_EQ(report.plans()[1].step.interval_high.si(), 3);
}

// What the search varied beside the layout is told where plans differ in it.
TEST(Verdicts, OfPlansNameTheBestAndHowSureItIs) {
  PlanReport report;
  EXPECT_FALSE(report.verdict()) << "the reasons say why";
  report.result.plans = {planned(1, 2)};
  EXPECT_EQ(report.verdict(),
            "Plan 1 is the best by step: tensor 2, pipeline 1, data 8. No other plan was found.");
  report.result.plans.push_back(planned(1.05, 4));
  EXPECT_THAT(report.verdict().value(),
              StartsWith("Plan 1 is the best by step: 2 nodes, tensor 2, pipeline 1, data 8. Plan "
                         "2 takes 5.0 % longer a token. The 90 % intervals of their steps by "
                         "the error of the simulation alone, 0.900 to 1.10 s and 0.945 to 1.16 s, "
                         "overlap"));
  EXPECT_EQ(report.plans()[1].name, "4 nodes, tensor 2, pipeline 1, data 16");
}

// Two plans of the same degrees have two names; what says nothing of a plan is not in its name.
TEST(Verdicts, PlansThatDifferInAWordHaveDifferentNames) {
  PlanReport report;
  report.result.plans = {planned(1, 2), planned(1, 2), planned(1, 2)};
  auto& first = report.result.plans[0].layout;
  auto& second = report.result.plans[1].layout;
  first.sharding = workload::Sharding::zero1;
  second.sharding = workload::Sharding::zero3;
  second.schedule = workload::ScheduleKind::gpipe;  // with one stage
  second.rank_order = workload::RankOrder::pipeline_first;
  const auto plans = report.plans();
  EXPECT_THAT(plans[0].name.value(), testing::HasSubstr(", zero1"));
  EXPECT_THAT(plans[1].name.value(), testing::HasSubstr(", zero3"));
  EXPECT_THAT(plans[1].name.value(), testing::Not(testing::HasSubstr("gpipe")));
  EXPECT_THAT(plans[1].name.value(), testing::EndsWith("zero3"));
}

// More than a tenth apart published pairs are mostly in the right order: nobody has to try both.
TEST(Verdicts, OfPlansFarApartDoNotCallThemClose) {
  const auto said = [](double second) {
    PlanReport report;
    report.result.plans = {planned(1, 2), planned(second, 2)};
    return report.verdict().value();
  };
  EXPECT_THAT(said(1.08), testing::HasSubstr("layouts this close, so try both"));
  EXPECT_THAT(said(1.15), testing::AllOf(testing::HasSubstr("nine in ten are in the right order"),
                                         testing::Not(testing::HasSubstr("this close"))));
}

TEST(Verdicts, SidesThatAreCalledAlikeAreToldApartByWhatDiffers) {
  CompareReport report;
  report.label_a.name = report.label_b.name = "Llama";
  report.differences = {{"parallelism.tensor", "1", "2"}};
  name_apart(report);
  EXPECT_EQ(report.label_a.name, "Llama, with parallelism.tensor=1");
  EXPECT_EQ(report.label_b.name, "Llama, with parallelism.tensor=2");
  report.label_a.name = report.label_b.name = "Llama";
  report.differences.resize(4, {"run.until", std::nullopt, "{steps}"});
  name_apart(report);
  EXPECT_EQ(report.label_a.name, "Llama, with parallelism.tensor=1, run.until=null, 2 more");
  report.label_b.name = "Other";
  name_apart(report);
  EXPECT_EQ(report.label_b.name, "Other");
}

TEST(Verdicts, OfAComparisonSayWhoIsSlower) {
  CompareReport report;
  report.label_a.name = "Old";
  report.label_b.name = "New";
  report.a.step_time = 4;
  EXPECT_EQ(report.verdict(), "A and B are the same architecture.");
  report.differing = {Layer::storage, Layer::rest};
  const auto with = [&](double step) {
    report.b.step_time = step;
    return report.verdict();
  };
  EXPECT_EQ(with(3), "A step takes 25.0 % less on B (New) than on A (Old).");
  EXPECT_EQ(with(5), "A step takes 25.0 % longer on B (New) than on A (Old).");
  EXPECT_EQ(with(10), "A step takes 2.50 times as long on B (New) as on A (Old).");
  EXPECT_EQ(with(4), "A step takes as long on A (Old) as on B (New).");
  report.step_parts = {{"data", "data-parallel communication", 0.5, 2, 0.375}};
  EXPECT_THAT(with(5),
              EndsWith(" The largest part of that is data-parallel communication: +1.50 s, "
                       "all others -0.500 s: together +1.00 s."))
      << "a part larger than the whole says what the others take back";
  EXPECT_THAT(with(6), EndsWith("communication: +1.50 of +2.00 s."));
  EXPECT_EQ(with(4), "A step takes as long on A (Old) as on B (New).");
  report.step_parts.clear();
  // A step of a quarter of the tokens that takes 2 / 4 of the time is half as fast.
  report.a.tokens_per_s = 250;
  report.b.tokens_per_s = 125;
  report.step_parts = {{"data", "data-parallel communication", 3, 1, -0.5}};
  EXPECT_EQ(with(2),
            "A token takes 2.00 times as long on B (New) as on A (Old). Steps are of 250 tokens on "
            "B, of 1,000 on A.");
  report.a.tokens = 1000;
  report.b.tokens = 250;
  report.a.usd = 4;
  report.b.usd = 2;
  EXPECT_THAT(with(2), EndsWith(" The run of B trains 75.0 % fewer tokens and costs 50.0 % less."));
  report.a.tokens = report.b.tokens = report.a.usd = report.b.usd = std::nullopt;
  report.a.tokens_per_s = report.b.tokens_per_s = 0;
  report.step_parts.clear();
  // Fewer GPUs that are as fast: the step alone would say that nothing is won. 30 / 40 and 2.5 M /
  // 1 M.
  report.a.wall_days = 40;
  report.b.wall_days = 30;
  report.a.usd = 1e6;
  report.b.usd = 2.5e6;
  EXPECT_EQ(
      with(4),
      "A step takes as long on A (Old) as on B (New). The run of B takes 25.0 % less time and "
      "costs 2.50 times as much.");
  report.a.wall_days = report.b.wall_days = report.a.usd = report.b.usd = std::nullopt;
  report.mixtures.resize(4);
  EXPECT_THAT(with(4), EndsWith(" They differ in nothing that moves a figure."));
  report.attributions = {{"wall_days", {LayerContribution{}, LayerContribution{}}}};
  report.attributions[0].contributions[0].shapley = 0.5;
  report.attributions[0].contributions[1].shapley = -2;
  EXPECT_THAT(with(4), EndsWith(" The largest part of the difference in wall clock comes from rest "
                                "(" +
                                std::string(contents_of(Layer::rest)) +
                                "): -2.00 days, all others +0.500 days: together -1.50 days."));
  report.attributions[0].contributions[0].shapley = -0.5;
  EXPECT_THAT(with(4), EndsWith("): -2.00 of -2.50 days."));
}

TEST(Verdicts, OfASweepNameTheBestPoint) {
  SweepReport report;
  report.best = "step.time_s";
  report.rows = {{0, {{"cluster.nodes", "2"}}, "", PointStatus::listed, "", {}}};
  EXPECT_FALSE(report.verdict());
  report.rows[0].status = PointStatus::refused;
  EXPECT_EQ(report.verdict(), "No point works.");
  report.rows.push_back({1,
                         {{"cluster.nodes", "4"}, {"training.global_batch", "8"}},
                         "",
                         PointStatus::ok,
                         "",
                         {{"step.time_s", 1.5}}});
  EXPECT_EQ(report.verdict(),
            "Best is point 1: cluster.nodes=4, training.global_batch=8, with the lowest "
            "step.time_s, 1.50.");
}

TEST(Verdicts, OfADrillSayWhatWouldHaveHelped) {
  DrillReport report;
  report.result.lost = core::Seconds(1800);
  EXPECT_EQ(report.verdict(), "The fault costs 30 min 00 s of the whole job.");
  report.result.cost = core::Dollars(250);
  report.result.tried_remedies = true;
  EXPECT_EQ(report.verdict(),
            "The fault costs 30 min 00 s of the whole job and 250 USD; none of the changes tried "
            "would have helped.");
  report.result.remedies = {{"a watchdog", "--monitor watchdog=on", {}, core::Seconds(600)}};
  EXPECT_THAT(report.verdict(), EndsWith("; what would have helped most: a watchdog, which saves "
                                         "10 min 00 s (--monitor watchdog=on)."));
}

TEST(Verdicts, OfPublishedRunsAreOfThoseThatNothingHasSeen) {
  validation::RunPrediction row;
  row.measured = 100;
  row.predicted = 110;
  row.error = 0.1;
  row.low = 95;
  row.high = 127;
  row.part = "AMD";
  EXPECT_EQ(runs_verdict({row}, {}),
            "AMD: 1 of 1 runs were predicted: median error 10.0 %, mean 10.0 %, 90th "
            "percentile 10.0 %; 100.0 % of them lie in their 90 % interval.");
  LeavingOut out;
  out.parts = {{"dense NVIDIA", {}}, {"AMD", {}}};
  out.parts[0].second.median_abs_error = 0.044;
  out.parts[0].second.p90_abs_error = 0.147;
  EXPECT_THAT(runs_verdict({row}, out),
              StartsWith("Errors with each source left out: dense NVIDIA 4.4 % in the median, 14.7 "
                         "% at the 90th percentile; AMD "));
}

}  // namespace
}  // namespace headway::study
