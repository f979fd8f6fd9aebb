// Flags as tables write them: "yes", "on", a check mark, "T"; and cells of numbers that say "none".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway::validation {

/// A cell of a flag.
struct FlagWords {
  bool value = false;
  bool cross = false;  ///< an "x", which marks what is there, or what is not
};
/// Nothing where it is no flag. The column `gated_mlp` may name the function in place of one.
std::optional<FlagWords> flag_words(std::string_view column, const std::string& cell);

/// Whether a cell of a number says that there is none: "none", "no", "dense", "off".
bool says_none(const std::string& cell);
/// Whether there being none is a degree of 1: of ranks and chunks, not of replicas.
bool one_where_none(std::string_view column);

}  // namespace headway::validation
