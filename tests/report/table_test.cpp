#include "sim/report/table.h"

#include <gtest/gtest.h>
#include <limits>

namespace headway::report {
namespace {

TEST(Number, HasThreeSignificantFigures) {
  EXPECT_EQ(number(4.1234), "4.12");
  EXPECT_EQ(number(41.26), "41.3");
  EXPECT_EQ(number(412.6), "413");
  EXPECT_EQ(number(0.01234), "0.0123");
  EXPECT_EQ(number(1234567), "1,230,000");
  EXPECT_EQ(number(-1234), "-1,230");
  EXPECT_EQ(number(1.5e-7), "1.50e-07");
  EXPECT_EQ(number(15.6e12), "1.56e+13");
}

TEST(Number, RoundsAcrossAPowerOfTen) {
  EXPECT_EQ(number(9.996), "10.0");
  EXPECT_EQ(number(999.6), "1,000");
  EXPECT_EQ(number(0.09996), "0.100");
}

TEST(Number, ShowsWhatIsNoNumberAsADash) {
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(number(0), "0");
}

TEST(Count, IsExact) {
  EXPECT_EQ(count(16384), "16,384");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(-1234567), "-1,234,567");
}

const Table& sample() {
  static const Table table{
      "Memory", {{"kind", false}, {"GiB"}}, {{"weights", "10.0"}, {"total", "110"}}, true};
  return table;
}

TEST(TextTable, PutsTextLeftNumbersRightAndARuleAboveTheTotal) {
  EXPECT_EQ(to_text(sample()),
            "Memory\n"
            "  kind      GiB\n"
            "  -------  ----\n"
            "  weights  10.0\n"
            "  -------  ----\n"
            "  total     110\n");
}

TEST(TextTable, CountsLettersNotBytes) {
  const Table table{"", {{"n", false}, {"v"}}, {{"\xc3\xa9", "1"}, {"ee", "2"}}, false};
  EXPECT_EQ(to_text(table), "  n   v\n  --  -\n  \xc3\xa9   1\n  ee  2\n");
}

TEST(MarkdownDocument, AlignsNumbersRightAndEscapesBars) {
  Document document{"Title", {"first"}, {sample()}, {"last"}};
  document.tables[0].rows[0][0] = "a|b";
  EXPECT_EQ(to_markdown(document),
            "# Title\n\nfirst\n\n## Memory\n\n| kind | GiB |\n|:---|---:|\n| a\\|b | 10.0 |\n| "
            "total | 110 |\n\nlast\n");
}

TEST(CsvTable, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(to_csv({"", {{"a", false}, {"b"}}, {{"x,y", "1"}, {"say \"hi\"", "2"}}, false}),
            "a,b\n\"x,y\",1\n\"say \"\"hi\"\"\",2\n");
  EXPECT_EQ(to_csv({"", {{"a", false}, {"b"}}, {{"1,000", "88,800"}, {"x", "3 of 1,000"}}, false}),
            "a,b\n\"1,000\",88800\nx,\"3 of 1,000\"\n");
}

}  // namespace
}  // namespace headway::report
