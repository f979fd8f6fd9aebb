// Text in lines of a given width, as terminals need it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headway::report {

/// Columns that UTF-8 text takes: continuation bytes do not count.
std::size_t shown_width(std::string_view text);

/// The text in lines of at most `width` columns, broken at spaces; a longer word is broken behind
/// `. _ / , = -` or, where it has none of them, anywhere.
/// @param width  at least 1
/// @returns      at least one line; none but the whole text where that is wide enough
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// The same as one text: every line begins with `indent` and ends with a line break.
/// @param width  of the whole line; 0: one line whatever its length
std::string paragraph(std::string_view text, std::size_t width, std::string_view indent = "");

/// Lines that are wider, such as "  --option    what it is", go on below where their text behind
/// two blanks or more begins, or where that is far to the right from their own indent.
/// @param width  0: as they are
std::string hanging(std::string_view text, std::size_t width);

}  // namespace headway::report
