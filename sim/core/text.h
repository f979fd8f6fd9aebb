// Numbers as people read them in tables and sentences, and as they are read from text.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace headway::core {

/// What becomes of "inf" and "nan" where a number is read.
enum class NonFinite { refused, taken };

/// The number that a text is, from its first character to its last; nothing where it is none, has
/// anything beside it, blanks and a plus too, or does not fit.
template <class Number, NonFinite non_finite = NonFinite::refused>
std::optional<Number> whole_text_as(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) {
    return std::nullopt;
  }
  if constexpr (std::is_floating_point_v<Number> && non_finite == NonFinite::refused) {
    if (!std::isfinite(value)) {
      return std::nullopt;
    }
  }
  return value;
}

/// Three significant figures with thousands separators, as "4.12", "1,230,000"; "-" if not finite.
std::string number(double value);
/// The number, or a dash where there is none.
std::string cell(const std::optional<double>& value);
/// A count, exact, with thousands separators.
std::string count(double value);
/// Three figures and a letter from 10,000 on, as "406 B" and "81.4 M".
std::string compact(double value);
/// A share as per cent with one decimal, as "61.3".
std::string percent(double share);
/// Without blanks, tabs and ends of lines at both ends.
std::string_view trimmed(std::string_view text);
/// In small letters, ASCII's.
std::string lower_case(std::string text);

}  // namespace headway::core
