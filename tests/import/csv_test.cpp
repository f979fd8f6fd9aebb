#include "sim/import/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::import {
namespace {

TEST(CsvTable, ReadsQuotedCellsAndLineNumbers) {
  const CsvTable table("id,note\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,\n", "t.csv");
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.text(0, "note"), "a, \"b\"\nc");
  EXPECT_EQ(table.integer(1, "id"), 2);
  EXPECT_EQ(table.line(1), 4);  // the quoted cell holds a line end
  EXPECT_FALSE(table.number(1, "note").has_value());
}

TEST(CsvTable, HasNoTextInAColumnThatIsNotThere) {
  const CsvTable table("id\n7\n", "t.csv");
  EXPECT_EQ(table.text_or_none(0, "id"), "7");
  EXPECT_EQ(table.text_or_none(0, "note"), "");
}

TEST(CsvTable, NamesEveryBrokenLine) {
  try {
    const CsvTable table("a,b\n1\n1,2\n1,2,3\n", "t.csv");
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_STREQ(
        error.what(),
        "t.csv:2:1: 1 cells where the header has 2\nt.csv:4:1: 3 cells where the header has 2\n");
  }
}

TEST(CsvTable, SuggestsTheColumnThatWasMeant) {
  const CsvTable table("micro_batch\n1\n", "t.csv");
  EXPECT_THROW(
      {
        try {
          (void)table.text(0, "micro_batc");
        } catch (const core::Error& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("is it 'micro_batch'?"));
          throw;
        }
      },
      core::Error);
}

TEST(CsvTable, RefusesTextWhereANumberIsNeeded) {
  const CsvTable table("n\nnan\n1.5\nx\n", "t.csv");
  EXPECT_THROW((void)table.number(0, "n"), core::Error);
  EXPECT_THROW((void)table.integer(1, "n"), core::Error);
  EXPECT_THROW((void)table.number(2, "n"), core::Error);
}

TEST(CsvTable, RefusesAnOpenQuoteAndAnEmptyFile) {
  EXPECT_THROW(CsvTable("a\n\"x\n", "t.csv"), core::Error);
  EXPECT_THROW(CsvTable("", "t.csv"), core::Error);
}

}  // namespace
}  // namespace headway::import
