// Cells of tables of published cases, whose columns a table need not have.
#pragma once

#include <optional>
#include <string_view>

#include "sim/core/fields.h"
#include "sim/import/csv.h"

namespace headway::validation {

bool has_column(const import::CsvTable& table, std::string_view name);

/// A number in its range; nothing where the cell is empty or the table has no such column.
/// @throws core::Error with file and line, if it is outside
std::optional<double> stated(const import::CsvTable& table,
                             std::size_t row,
                             const char* column,
                             const core::Range& range);

}  // namespace headway::validation
