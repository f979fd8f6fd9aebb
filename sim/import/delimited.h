// Tables whose cells are not parted by commas: tabs, semicolons, Markdown.
#pragma once

#include <string>
#include <string_view>

namespace headway::import {

/// A table in comma-separated values, and what it was.
struct CommaTable {
  std::string text;
  std::string told;  ///< "columns are parted by tabs"; empty: by commas
};

/// The table with commas between its cells, on the lines where they were. Its first line decides:
/// one that begins with "|" is Markdown's, else the sign of tab, semicolon and comma that it has
/// most often parts them. Beside semicolons a comma inside a number is a decimal one.
CommaTable with_commas(std::string_view text);

}  // namespace headway::import
