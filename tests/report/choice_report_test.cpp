// How firm a choice is, as a table.
#include "sim/report/points/choice_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::report {
namespace {

using study::ChangeWay;
using study::Choice;
using study::ChoiceChange;
using testing::ElementsAre;

ChoiceChange change(const char* input, ChangeWay way) {
  ChoiceChange one;
  one.input = input;
  one.way = way;
  return one;
}

// Of NVLink another plan wins above 1.31 times and none below; of memory no plan is left below;
// of nothing else does the winner change, by 2 % at the nearest of both ways.
TEST(ChoiceTable, HasARowForEachFlipAndOneForWhatHolds) {
  Choice choice;
  choice.changes = {change("NVLink", ChangeWay::less),     change("NVLink", ChangeWay::more),
                    change("GPU memory", ChangeWay::less), change("GPU memory", ChangeWay::more),
                    change("latency", ChangeWay::less),    change("latency", ChangeWay::more)};
  choice.changes[0].lead = 0.05;
  choice.changes[1].factor = 1.31;
  choice.changes[1].winner = 2;
  choice.changes[2].factor = 0.85;
  choice.changes[2].reason = "does not fit";
  choice.changes[3].reason = "more layouts fit: search again with it";
  choice.changes[4].lead = 0.04;
  choice.changes[5].lead = 0.02;
  EXPECT_THAT(
      choice_table(choice).rows,
      ElementsAre(ElementsAre("NVLink", "above 1.31 times", "2"),
                  ElementsAre("NVLink", "not down to half", "plan 1 by 5.0 % at least"),
                  ElementsAre("GPU memory", "below 0.85 times", "none left; plan 1 does not fit"),
                  ElementsAre("GPU memory", "more: not looked at",
                              "more layouts fit: search again with it"),
                  ElementsAre("latency", "not from half to twice", "plan 1 by 2.0 % at least")));
}

TEST(ChoiceTable, SaysWhereNoOtherPlanIsLeft) {
  Choice choice;
  choice.changes = {change("latency", ChangeWay::more)};
  EXPECT_THAT(choice_table(choice).rows,
              ElementsAre(ElementsAre("latency", "not up to twice", "no other is left")));
}

}  // namespace
}  // namespace headway::report
