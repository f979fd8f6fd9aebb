#include "sim/report/wrap.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

#include "sim/report/table.h"

#include "tests/report/widest_line.h"

namespace headway::report {
namespace {

using testing::ElementsAre;

TEST(Wrap, BreaksAtSpacesThenBehindMarksThenAnywhere) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("run.checkpoint.interval", 16), ElementsAre("run.checkpoint.", "interval"));
  EXPECT_THAT(wrapped("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrapped("fits as  it is", 14), ElementsAre("fits as  it is"));
  EXPECT_THAT(wrapped("", 5), ElementsAre(""));
  EXPECT_THAT(wrapped("it is 37.6 %.", 10), ElementsAre("it is", "37.6 %.")) << "with its sign";
}

TEST(Wrap, CountsCharactersNotBytes) {
  EXPECT_THAT(wrapped("\xc3\xa9\xc3\xa9\xc3\xa9 x", 3),
              ElementsAre("\xc3\xa9\xc3\xa9\xc3\xa9", "x"));
}

TEST(Wrap, AParagraphWithoutAWidthIsOneLine) {
  const std::string text(500, 'x');
  EXPECT_EQ(paragraph(text, 0, "  "), "  " + text + "\n");
}

TEST(Wrap, LosesNoCharacterAndKeepsTheWidth) {
  std::minstd_rand random(1);
  const auto without_spaces = [](std::string all) {
    std::erase(all, ' ');
    return all;
  };
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 120, ' ');
    for (char& c : text) {
      c = "ab  ._"[random() % 6];
    }
    const std::size_t width = 1 + random() % 40;
    std::string kept;
    for (const auto& line : wrapped(text, width)) {
      ASSERT_LE(shown_width(line), width) << text;
      kept += line;
    }
    ASSERT_EQ(without_spaces(kept), without_spaces(text));
  }
}

Table wide_table() {
  Table table{"A table with more columns than a page has room for", {{"name", false}}, {}, true};
  for (int c = 0; c < 12; ++c) {
    table.columns.push_back({"a long heading [" + std::to_string(c) + "]", c % 3 != 0});
  }
  for (int r = 0; r < 3; ++r) {
    std::vector<std::string> row{"some.dotted.path_" + std::to_string(r)};
    for (int c = 0; c < 12; ++c) {
      row.push_back(c % 3 != 0 ? "1,234,567" : "words that say something about it");
    }
    table.rows.push_back(row);
  }
  return table;
}

TEST(FoldedTable, NoLineIsLongerThanThePage) {
  for (std::size_t width = 20; width <= 300; ++width) {
    const std::string text = to_text(wide_table(), {width});
    ASSERT_LE(widest_line(text), width) << text;
  }
}

TEST(FoldedTable, EveryNumberIsStillThere) {
  const std::string text = to_text(wide_table(), {40});
  std::size_t numbers = 0;
  for (std::size_t at = text.find("1,234,567"); at != std::string::npos;
       at = text.find("1,234,567", at + 1)) {
    ++numbers;
  }
  EXPECT_EQ(numbers, 3U * 8U);
}

TEST(FoldedTable, APageThatIsWideEnoughChangesNothing) {
  const Table table{"t", {{"what", false}, {"n"}}, {{"a b c", "1"}}, false};
  EXPECT_EQ(to_text(table, {12}), to_text(table));
  EXPECT_EQ(to_text(table, {0}), to_text(table));
}

TEST(FoldedTable, ColourIsOursAlone) {
  Document document{"\x1b[31mred", {}, {}, {"Warning: hot", "The last."}};
  const std::string text = to_text(document, {0, true});
  EXPECT_EQ(
      text,
      "\x1b[1m\\x1b[31mred\x1b[0m\n\n\x1b[33mWarning: hot\x1b[0m\n\n\x1b[1mThe last.\x1b[0m\n");
}

TEST(Hanging, GoesOnBelowTheTextBehindTheGap) {
  EXPECT_EQ(hanging("  --a FILE    what it is and more\nshort\n", 24),
            "  --a FILE    what it is\n"
            "              and more\n"
            "short\n");
}

TEST(Hanging, WhatHasNoGapOrOneFarToTheRightGoesOnBelowItsIndent) {
  EXPECT_EQ(hanging("  one two three four\n", 14), "  one two\n  three four\n");
  EXPECT_EQ(hanging("a-very-long-option    words\n", 24), "a-very-long-option\nwords\n");
}

TEST(Hanging, WithoutAWidthNothingChanges) {
  EXPECT_EQ(hanging("  --a FILE    what it is and more\n\n", 0),
            "  --a FILE    what it is and more\n\n");
  EXPECT_EQ(hanging("", 10), "");
}

}  // namespace
}  // namespace headway::report
