// One row of a table of published runs, read by column name.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "sim/import/csv.h"

namespace headway::validation {

/// Reads one row's cells by column name.
class Row {
 public:
  Row(const import::CsvTable& table, std::size_t row) : table_(table), row_(row) {}
  /// The cell; empty where the table has no such column.
  [[nodiscard]] const std::string& text(std::string_view column) const {
    static const std::string kNone;
    const auto& columns = table_.columns();
    return std::find(columns.begin(), columns.end(), column) == columns.end()
               ? kNone
               : table_.text(row_, column);
  }
  [[nodiscard]] bool yes(std::string_view column) const { return text(column) == "yes"; }
  [[nodiscard]] int integer(std::string_view column, int otherwise) const {
    return text(column).empty() ? otherwise : table_.integer(row_, column).value_or(otherwise);
  }
  [[nodiscard]] double number(std::string_view column, double otherwise) const {
    return text(column).empty() ? otherwise : table_.number(row_, column).value_or(otherwise);
  }
  [[nodiscard]] bool stated(std::string_view column) const { return !text(column).empty(); }

 private:
  const import::CsvTable& table_;
  std::size_t row_;
};

}  // namespace headway::validation
