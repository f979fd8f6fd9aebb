#include "sim/validation/goodput/stated.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"

namespace headway::validation {

bool has_column(const import::CsvTable& table, std::string_view name) {
  const auto& columns = table.columns();
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

std::optional<double> stated(const import::CsvTable& table,
                             std::size_t row,
                             const char* column,
                             const core::Range& range) {
  const auto value =
      has_column(table, column) ? table.number(row, column) : std::optional<double>();
  if (value && !range.contains(*value)) {
    throw core::Error(fmt::format("{}:{}: {} '{}' must be {}", table.file(), table.line(row),
                                  column, core::shortened(table.text(row, column)), range.words));
  }
  return value;
}

}  // namespace headway::validation
