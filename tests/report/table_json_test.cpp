#include "sim/report/table_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace headway::report {
namespace {

using nlohmann::json;

/// What a cell of a column of numbers becomes.
json cell_of_numbers(const std::string& text) {
  const Table table{"T", {{"n"}}, {{text}}};
  return json::parse(table_json("s", table)).at("rows").at(0).at("n");
}

TEST(TableJson, GivesCountsNumbersAndWhatIsNone) {
  EXPECT_EQ(cell_of_numbers("-12"), json(-12));
  EXPECT_TRUE(cell_of_numbers("-12").is_number_integer());
  EXPECT_EQ(cell_of_numbers("1.5"), json(1.5));
  EXPECT_EQ(cell_of_numbers(""), json());
  EXPECT_EQ(cell_of_numbers("1,234"), json("1,234"));
  EXPECT_EQ(cell_of_numbers("inf"), json("inf"));
}

TEST(TableJson, HasCountsBeyond64BitsAsNumbers) {
  EXPECT_EQ(cell_of_numbers("9223372036854775807"), json(9223372036854775807));
  EXPECT_EQ(cell_of_numbers("12345678901234567890"), json(12345678901234567890.0));
}

}  // namespace
}  // namespace headway::report
