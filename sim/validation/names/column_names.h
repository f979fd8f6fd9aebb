// Names of columns as other programs and people write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway::validation {

/// The column of a header that has these values: of this name, else the first that is written
/// otherwise ("GPU", "Seq Len") or that is another word for it ("hidden_size" of `d_model`) and has
/// no column of its own name. Empty: there is none.
std::string column_in(const std::vector<std::string>& header, std::string_view column);

/// Whether a column of a table, as it is written, means one of this program's.
bool means_column(const std::string& written, std::string_view column);

/// The columns that a written name may mean either of, "global_batch or micro_batch"; empty: none.
std::string columns_of_either(const std::string& written);

}  // namespace headway::validation
