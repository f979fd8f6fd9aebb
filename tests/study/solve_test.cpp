// What the points that were looked at say: which value is the answer, and what is said of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/study/points/solve_answer.h"

namespace headway::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SolvePoint looked_at(double number, double figure, const Assertion& condition) {
  SolvePoint point;
  point.number = number;
  point.value = fmt::format("{}", number);
  point.figure = figure;
  point.met = holds(figure, condition);
  return point;
}

SolvePoint refused(double number) {
  SolvePoint point;
  point.number = number;
  point.value = fmt::format("{}", number);
  point.status = PointStatus::refused;
  point.reason = "a rule";
  return point;
}

const Assertion kAtMostThree{"step.time_s <= 3", "step.time_s", "<=", 3};

SolveReport answered(const std::vector<std::pair<double, double>>& figures,
                     const std::vector<double>& broken = {}) {
  SolveReport report;
  report.key = "cluster.nodes";
  report.condition = "step.time_s <= 3";
  report.path = "step.time_s";
  for (const auto& [number, figure] : figures) {
    report.points.push_back(looked_at(number, figure, kAtMostThree));
  }
  for (const double number : broken) {
    report.points.push_back(refused(number));
  }
  std::sort(report.points.begin(), report.points.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  give_answer(kAtMostThree, report);
  return report;
}

TEST(SolveAnswer, IsTheSmallestValueWhereLargerOnesMeetTheCondition) {
  const auto report = answered({{1, 8}, {2, 4}, {3, 2.7}, {4, 2}});
  EXPECT_EQ(report.edge, SolveEdge::smallest);
  EXPECT_EQ(report.answer()->value, "3");
  EXPECT_EQ(report.beside()->value, "2");
  EXPECT_TRUE(report.monotone);
  EXPECT_THAT(report.sentences,
              ElementsAre("The smallest cluster.nodes that meets step.time_s <= 3 is 3: "
                          "step.time_s is 2.70. At 2 it is 4.00. This is known up to 4; nothing "
                          "above was looked at."));
}

TEST(SolveAnswer, IsTheLargestValueWhereSmallerOnesMeetTheCondition) {
  const auto report = answered({{1, 1}, {2, 2}, {3, 3}, {4, 4}});
  EXPECT_EQ(report.edge, SolveEdge::largest);
  EXPECT_EQ(report.answer()->value, "3");  // equal is at most
  EXPECT_EQ(report.beside()->value, "4");
  EXPECT_THAT(report.sentences.back(),
              HasSubstr("This is known down to 1; nothing below was looked at."));
  EXPECT_TRUE(report.monotone);
}

TEST(SolveAnswer, SaysWhereTheFigureTurns) {
  const auto report = answered({{1, 8}, {2, 2.5}, {3, 2}, {4, 2.9}, {5, 9}});
  EXPECT_FALSE(report.monotone);
  EXPECT_EQ(report.edge, SolveEdge::smallest);
  EXPECT_EQ(report.answer()->value, "2");
  ASSERT_EQ(report.sentences.size(), 3U);
  EXPECT_THAT(report.sentences[0], HasSubstr("it falls up to 3 and rises from there to 4"));
  EXPECT_EQ(report.sentences[1],
            "The condition is met from 2 to 4; of all values looked at 3 is best: 2.00.");
}

TEST(SolveAnswer, NamesAllPartsThatMeetTheCondition) {
  const auto report = answered({{1, 2}, {2, 4}, {3, 2.5}, {4, 1}});
  EXPECT_FALSE(report.monotone);
  EXPECT_EQ(report.edge, SolveEdge::largest);
  EXPECT_EQ(report.answer()->value, "1");
  EXPECT_THAT(report.sentences[1],
              HasSubstr("met at 1, and from 3 to 4; of all values looked at 4 is best"));
}

// A turn of 0.05 % is none: two trials that end in one step more.
TEST(SolveAnswer, TakesATurnOfTheLastDigitForNone) {
  EXPECT_TRUE(answered({{1, 8}, {2, 4}, {3, 4.002}, {4, 2}}).monotone);
  EXPECT_FALSE(answered({{1, 8}, {2, 4}, {3, 4.02}, {4, 2}}).monotone);
}

TEST(SolveAnswer, PassesOverWhatBreaksARuleAndSaysHowManyDo) {
  const auto report = answered({{1, 8}, {4, 2}}, {2, 3});
  EXPECT_EQ(report.answer()->value, "4");
  EXPECT_EQ(report.beside()->value, "1");
  EXPECT_THAT(report.sentences.front(), "2 of the values looked at break a rule, as 2: a rule.");
}

TEST(SolveAnswer, IsNoneOrAny) {
  const auto none = answered({{1, 8}, {2, 4}});
  EXPECT_EQ(none.edge, SolveEdge::none);
  EXPECT_EQ(none.status(), Status::infeasible);
  EXPECT_FALSE(none.answer().has_value());
  EXPECT_THAT(none.sentences.back(), HasSubstr("Nearest is 2: step.time_s is 4.00."));
  const auto any = answered({{1, 3}, {2, 2}});
  EXPECT_EQ(any.edge, SolveEdge::any);
  EXPECT_EQ(any.answer()->value, "1");  // nearer to 3
  EXPECT_THAT(any.sentences.back(), HasSubstr("from 1 to 2, meets step.time_s <= 3: at 1 it is "
                                              "3.00, at 2 it is 2.00. The smallest, 1, is nearest "
                                              "to missing it."));
  const auto rises = answered({{1, 1}, {2, 2}});
  EXPECT_EQ(rises.edge, SolveEdge::any);
  EXPECT_EQ(rises.answer()->value, "2");
  EXPECT_THAT(rises.sentences.back(), HasSubstr("The largest, 2, is nearest to missing it."));
  EXPECT_FALSE(any.beside().has_value());
  EXPECT_EQ(answered({}, {1}).edge, SolveEdge::none);
}

// All meet it, from the lower end of the field on: that is the smallest, if larger values come no
// nearer to missing it.
TEST(SolveAnswer, IsTheLowerEndWhereThatMeetsTheCondition) {
  const auto from = [](double least, const std::vector<double>& figures) {
    SolveReport report;
    report.key = "cluster.spares";
    report.condition = "step.time_s <= 3";
    report.path = "step.time_s";
    report.least = least;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      report.points.push_back(looked_at(least + static_cast<double>(i), figures[i], kAtMostThree));
    }
    give_answer(kAtMostThree, report);
    return report;
  };
  const auto better = from(0, {2, 1});
  EXPECT_EQ(better.edge, SolveEdge::smallest);
  EXPECT_EQ(better.answer()->value, "0");
  EXPECT_FALSE(better.beside().has_value());
  EXPECT_EQ(better.sentences.back(),
            "The smallest cluster.spares that meets step.time_s <= 3 is 0, the least that it can "
            "be: step.time_s is 2.00. At 1 it is 1.00.");
  EXPECT_EQ(from(0, {2, 2}).edge, SolveEdge::smallest);
  // No oversubscription is less than 1, and that is not the cheapest one.
  const auto flat = from(1, {2, 2});
  EXPECT_EQ(flat.edge, SolveEdge::any);
  EXPECT_EQ(flat.answer()->value, "1");
  EXPECT_THAT(flat.sentences.back(),
              HasSubstr("The figure does not tell them apart; 1 is the smallest."));
  const auto worse = from(0, {2, 2.5});
  EXPECT_EQ(worse.edge, SolveEdge::any);
  EXPECT_EQ(worse.answer()->value, "1");
}

// The end of the interval that speaks against the condition decides whether it is sure.
TEST(SolveAnswer, SaysWhetherTheWholeIntervalMeetsTheCondition) {
  SolveReport report;
  report.key = "cluster.nodes";
  report.path = "step.time_s";
  report.condition = "step.time_s <= 3";
  report.points = {looked_at(1, 8, kAtMostThree), looked_at(2, 2, kAtMostThree)};
  report.points[1].interval = {{1.5, 2.9}};
  SolveReport wide = report;
  wide.points[1].interval = {{1.5, 3.1}};
  give_answer(kAtMostThree, report);
  give_answer(kAtMostThree, wide);
  EXPECT_THAT(report.sentences.back(),
              HasSubstr("2.00 (1.50 to 2.90); the whole interval meets it."));
  EXPECT_THAT(wide.sentences.back(), HasSubstr("the end of the interval, 3.10, does not meet it"));
}

// 0.56996 misses 0.57, so it is not written as 0.570.
TEST(Solve, FiguresAreWrittenSoThatTheyMeetTheConditionOrMissIt) {
  const auto condition = parse_assertions({"step.mfu >= 0.57"}).front();
  EXPECT_EQ(judged_number(0.56996, condition), "0.56996");
  EXPECT_EQ(judged_number(0.5704, condition), "0.570");
  EXPECT_EQ(judged_number(0.56, condition), "0.560");
}

}  // namespace
}  // namespace headway::study
