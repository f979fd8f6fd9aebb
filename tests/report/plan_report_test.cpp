// What `headway plan` says about the order of its plans.
#include "sim/report/verbs/plan_report.h"

#include <gmock/gmock.h>

namespace headway::report {
namespace {

using plan::Objective;
using testing::HasSubstr;
using testing::Not;

plan::Plan timed(double step, double low, double high, int nodes = 1, int batch = 8) {
  plan::Plan one;
  one.setting = {nodes, batch, 1000, core::Precision::bf16, 0};
  one.gpus = std::int64_t{8} * nodes;
  one.step.time = core::Seconds(step);
  one.step.interval_low = core::Seconds(low);
  one.step.interval_high = core::Seconds(high);
  one.layout.data = 8 * nodes;
  return one;
}

std::string text_of(std::vector<plan::Plan> plans,
                    Objective objective = Objective::step,
                    std::vector<Objective> beside = {}) {
  study::PlanReport report;
  report.objective = objective;
  report.beside = std::move(beside);
  report.result.plans = std::move(plans);
  for (plan::Plan& one : report.result.plans) {  // days as steps, dollars as GPU-seconds
    one.campaign.emplace();
    one.campaign->result.wall_days.p50 = one.step.time.si();
    one.campaign->total_usd.emplace().p50 = one.step.time.si() * one.setting.nodes;
  }
  return to_text(plan_document(report), {200, false});
}

// As few layers as need be recompute: none of them, or so many of each stage.
TEST(PlanReport, SaysNoneWhereNoLayerRecomputes) {
  const auto of_layers = [](std::vector<int> again) {
    plan::Plan one = timed(1, 1, 1);
    one.layout.pipeline = 2;
    one.layout.data = 4;
    one.layout.recompute = workload::Recompute::full;
    one.layout.chunk_recompute = std::move(again);
    return text_of({one});
  };
  EXPECT_THAT(of_layers({0, 0}), Not(HasSubstr("full")));
  EXPECT_THAT(of_layers({0, 3}), HasSubstr("full of 0, 3 layers"));
}

TEST(PlanReport, NamesTheObjectivesOfTheFront) {
  EXPECT_THAT(text_of({timed(1, 1, 1)}), HasSubstr("Pareto front of time and money"));
  EXPECT_THAT(text_of({timed(1, 1, 1)}, Objective::days, {Objective::goodput}),
              HasSubstr("The best plan by days; * is on the Pareto front of days, goodput"));
  EXPECT_THAT(text_of({timed(1, 1, 1), timed(2, 2, 2)}), HasSubstr("The 2 best plans by "));
}

TEST(PlanReport, SaysWhetherIntervalsSeparateTheFirstTwo) {
  const auto text = text_of({timed(1, 0.9, 1.1), timed(1.5, 1.4, 1.6)});  // folded at 200 columns
  EXPECT_THAT(text,
              HasSubstr("Plan 2 takes 50.0 % longer a token. The 90 % intervals of their steps "
                        "by the error of the simulation alone, 0.900 to 1.10 s and 1.40 to"));
  EXPECT_THAT(text, HasSubstr("1.60\ns, do not overlap"));
  EXPECT_THAT(text_of({timed(1, 0.9, 1.1), timed(1.05, 1, 1.2)}), HasSubstr("overlap: what"));
  // The second is the faster one, and better by nothing that was asked for.
  EXPECT_THAT(text_of({timed(1, 0.9, 1.1), timed(0.5, 0.4, 0.6)}, Objective::dollars),
              HasSubstr("do not overlap"));
}

// Twice the tokens in 1.6 times the time: less a token.
TEST(PlanReport, ComparesStepsOfDifferentBatchesByTheToken) {
  const auto text = text_of({timed(1.6, 1.5, 1.7, 1, 16), timed(1, 0.92, 1.1)});
  EXPECT_THAT(text,
              HasSubstr("takes 25.0 % longer a token. The 90 % intervals of their time for a "
                        "million tokens by the error of the simulation alone, 93.8 to 106 s"));
  EXPECT_THAT(text, HasSubstr("and 115 to 138 s, do not overlap"));
}

// Dollars are of GPUs too: what fewer of them take longer says nothing about that.
TEST(PlanReport, ComparesOtherObjectivesByTheirOwnValue) {
  const auto text = text_of({timed(1, 0.9, 1.1), timed(0.8, 0.7, 0.9, 2)}, Objective::dollars);
  EXPECT_THAT(text, HasSubstr("Plan 2 is 60.0 % worse by dollars."));
  EXPECT_THAT(text, Not(HasSubstr("90 % intervals")));
}

TEST(PlanReport, SaysWhatDrawsFound) {
  study::PlanReport report;
  report.result.plans = {timed(1, 1, 1)};
  report.result.verification.asked = report.result.verification.simulated = 7;
  const auto text = [&] { return to_text(plan_document(report), {200, false}); };
  EXPECT_THAT(text(), HasSubstr("7 were drawn and simulated: none is faster than plan 1."));
  report.result.verification.better = {timed(0.5, 0.5, 0.5)};
  EXPECT_THAT(text(), HasSubstr("1 better than plan 1, the best with a step of 0.500 "
                                "s: tensor 1 x context 1 x pipeline 1 x data 8, micro-batch 1"));
  report.result.plans.clear();
  EXPECT_THAT(text(), HasSubstr("1 within the limits"));
  report.result.verification.better.clear();
  EXPECT_THAT(text(), HasSubstr("drawn and simulated: none keeps the limits."));
}

}  // namespace
}  // namespace headway::report
