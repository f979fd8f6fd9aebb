// A table as JSON: one object a row, keyed by the headings.
#pragma once

#include <string>

#include "sim/report/table.h"

namespace headway::report {

/// {"schema": schema, "version": ..., "rows": [{heading: cell, ...}]}. Cells of numeric columns are
/// numbers, null where they are empty, and text where they are neither; of others they stay text.
std::string table_json(const std::string& schema, const Table& table);

}  // namespace headway::report
