// Tables whose cells are not parted by commas.
#include "sim/import/delimited.h"

#include <gtest/gtest.h>

#include "sim/import/csv.h"

namespace headway::import {
namespace {

TEST(Delimited, TablesAreReadHoweverTheirCellsAreParted) {
  struct Case {
    const char *text, *told;
  };
  for (const auto& [text, told] :
       {Case{"id,t\na,35.4\n", ""}, Case{"id\tt\na\t35.4\n", "columns are parted by tabs"},
        Case{"id;t\na;35,4\n", "columns are parted by semicolons; commas in numbers are decimal"},
        Case{"| id | t |\n|---|---:|\n| a | 35.4 |\n", "a table of Markdown is read"}}) {
    const CommaTable parted = with_commas(text);
    EXPECT_EQ(parted.told, told);
    const CsvTable table(parted.text, "t");
    ASSERT_EQ(table.rows(), 1U) << text;
    EXPECT_EQ(table.text(0, "id"), "a") << text;
    EXPECT_EQ(table.text(0, "t"), "35.4") << text;
    EXPECT_EQ(table.line(0), text[0] == '|' ? 3 : 2) << text;
  }
}

TEST(Delimited, QuotationMarksHoldASignAndDecimalCommasAreNumbersOnly) {
  const CsvTable table(with_commas("a;b;c\n\"x;y\";1.234,5;Foo, bar\n").text, "t");
  EXPECT_EQ(table.text(0, "a"), "x;y");
  EXPECT_EQ(table.text(0, "b"), "1234.5");
  EXPECT_EQ(table.text(0, "c"), "Foo, bar");
}

}  // namespace
}  // namespace headway::import
