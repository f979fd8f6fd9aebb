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

}  // namespace headway::validation
