// Charts of characters.
#include "sim/report/text_chart.h"

#include <gmock/gmock.h>

#include "sim/report/table.h"
#include "sim/report/wrap.h"

namespace headway::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TextChart corners() {
  return {"Two corners and the middle",
          "days",
          "USD",
          false,
          {{1, 10, '1', true}, {3, 30, '.', false}, {2, 20, '2', true}}};
}

// 20 columns: 2 of indent, 4 of labels, a blank, the axis and 12 of the plane. 9 lines: the middle
// is the fifth, and the sixth or seventh of 12 columns.
TEST(TextChart, PutsEveryPointWhereItBelongs) {
  EXPECT_EQ(to_text(corners(), {20, false}),
            "Two corners and the\n"
            "middle\n"
            "  USD\n"
            "  30.0 |           .\n"
            "       |\n"
            "       |\n"
            "       |\n"
            "       |      2\n"
            "       |\n"
            "       |\n"
            "       |\n"
            "  10.0 |1\n"
            "       +------------\n"
            "        1.00    3.00\n");
}

TEST(TextChart, SaysWhatTheAxisIsWhereItHasRoomAndIsNoWiderThanThePage) {
  for (const std::size_t width : {0U, 30U, 80U, 200U}) {
    const std::string text = to_text(corners(), {width, false});
    EXPECT_THAT(text, HasSubstr("days"));
    std::size_t longest = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      longest = std::max(longest, end - at);
      at = end + 1;
    }
    EXPECT_EQ(longest, width == 0 || width > 80 ? 80U : width);
  }
}

// A factor of ten is as wide as another.
TEST(TextChart, SpreadsALogarithm) {
  TextChart chart{"t", "x", "y", true, {{1, 0, 'a'}, {10, 1, 'b'}, {100, 2, 'c'}}};
  const std::string text = to_text(chart, {8 + 21, false});
  EXPECT_THAT(text, HasSubstr("|" + std::string(10, ' ') + "b\n"));
  EXPECT_THAT(text, HasSubstr("|" + std::string(20, ' ') + "c\n"));
}

TEST(TextChart, WhatStandsOutIsDrawnOverTheOthersAndTheFirstOverTheNext) {
  const TextChart chart{
      "t", "x", "y", false, {{0, 0, '.'}, {0, 0, '7', true}, {0, 0, '8', true}, {1, 1, '.'}}};
  const std::string text = to_text(chart, {40, false});
  EXPECT_THAT(text, HasSubstr("|7"));
  EXPECT_THAT(text, Not(HasSubstr("8")));
}

TEST(TextChart, HasColourOnlyWhereThePageHas) {
  EXPECT_THAT(to_text(corners(), {40, true}), HasSubstr("\x1b[32m1\x1b[0m"));
  EXPECT_THAT(to_text(corners(), {40, false}), Not(HasSubstr("\x1b")));
}

TEST(TextChart, OfOnePointOrALineIsNothing) {
  EXPECT_EQ(to_text(TextChart{}, {}), "");
  EXPECT_EQ(to_text({"t", "x", "y", false, {{1, 1}}}, {}), "");
  EXPECT_EQ(to_text({"t", "x", "y", false, {{1, 1}, {2, 1}}}, {}), "");
  EXPECT_EQ(to_text({"t", "x", "y", false, {{1, 1}, {1, 2}}}, {}), "");
  EXPECT_EQ(to_text(corners(), {12, false}), "") << "no room";
}

TEST(TextChart, StandsInADocumentBehindItsTables) {
  Document document{"d", {}, {}, {"end"}, {corners()}};
  EXPECT_THAT(to_text(document, {40, false}), HasSubstr("d\n\nTwo corners"));
  EXPECT_THAT(to_markdown(document), HasSubstr("```\nTwo corners"));
  document.charts = {TextChart{}};
  EXPECT_EQ(to_text(document, {40, false}), "d\n\nend\n");
  EXPECT_THAT(to_markdown(document), Not(HasSubstr("```")));
}

}  // namespace
}  // namespace headway::report
