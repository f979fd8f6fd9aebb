// Sums of shell scripts, "$((TP * PP + 1))", and the variables they name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headway::import {

/// A variable: its text, or that it stands for flags, which are read where they are written.
struct ShellVariable {
  std::string text;
  bool flags = false;
  int line = 0;  ///< where it was set last; 0: nowhere
};
using ShellVariables = std::map<std::string, ShellVariable, std::less<>>;

/// Whether a name may begin with the character, or go on with it.
inline bool name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool name_part(char c) { return name_start(c) || (c >= '0' && c <= '9'); }

/// The value of whole numbers, + - * / %, brackets and names; nothing where there is more.
std::optional<std::int64_t> shell_sum(std::string_view text, const ShellVariables& variables);

}  // namespace headway::import
