// Tables whose lines have more or fewer cells than the header: each such row says so in a column.
#pragma once

#include <string>
#include <string_view>

namespace headway::import {

/// The text of a table in which every row has the header's cells, on the lines where they were.
/// Where a row has more or fewer, a column of this name is added, which says how many; the row's
/// other cells are empty then.
std::string with_even_rows(std::string_view text, std::string_view column);

}  // namespace headway::import
