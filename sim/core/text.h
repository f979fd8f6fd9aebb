// Numbers as people read them in tables and sentences, and what is read from text: numbers, paths.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

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

/// One step of a path such as "run.failures.hazards[2].mtbf": a key, or a place in a list.
struct PathStep {
  std::string_view key;
  std::optional<std::size_t> index;

  bool operator==(const PathStep&) const = default;
};
/// Steps of a path, views of it; none of an empty path, nothing of one that is no path. A key is
/// whatever stands up to the next dot or bracket, and may be empty.
std::optional<std::vector<PathStep>> path_steps(std::string_view path);

/// Three significant figures with thousands separators, as "4.12", "1,230,000"; "-" if not finite.
std::string number(double value);
/// The number, or a dash where there is none.
std::string cell(const std::optional<double>& value);
/// A count, exact, with thousands separators.
std::string count(double value);
/// Three figures and a letter from 10,000 on, as "406 B" and "81.4 M".
std::string compact(double value);
/// A share as per cent with one decimal, as "61.3"; with more where less than all of it would read
/// 100, as "99.96".
std::string percent(double share);
/// Without blanks, tabs and ends of lines at both ends.
std::string_view trimmed(std::string_view text);
/// In small letters, ASCII's.
std::string lower_case(std::string text);

}  // namespace headway::core
