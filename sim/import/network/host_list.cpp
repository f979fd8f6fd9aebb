#include "sim/import/network/host_list.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::import {

namespace {

constexpr std::size_t kMostNames = 1'000'000;
/// The longest name of a host in the domain name system (RFC 1035, section 2.3.4).
constexpr std::size_t kLongestName = 253;

constexpr const char* kTooMany = "the file names more than a million servers";

std::string too_long(std::string_view text) {
  return fmt::format("'{}' gives a name of more than {} letters, the most a server's can have",
                     core::shortened(text), kLongestName);
}

std::size_t longest_of(const std::vector<std::string>& texts) {
  std::size_t longest = 0;
  for (const auto& text : texts) {
    longest = std::max(longest, text.size());
  }
  return longest;
}

/// Splits at commas outside brackets.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && !inside)) {
      parts.push_back(list.substr(start, i - start));
      start = i + 1;
    } else if (list[i] == '[' || list[i] == ']') {
      inside = list[i] == '[';
    }
  }
  return parts;
}

/// "1-3" gives 1 2 3, "007" gives 007.
bool expand_range(std::string_view range,
                  std::size_t most,
                  std::vector<std::string>& numbers,
                  std::string& why) {
  const std::size_t dash = range.find('-');
  const std::string_view first_text = range.substr(0, dash);
  const std::string_view last_text =
      dash == std::string_view::npos ? first_text : range.substr(dash + 1);
  const auto first = core::whole_text_as<std::uint32_t>(first_text);
  const auto last = core::whole_text_as<std::uint32_t>(last_text);
  if (!first || !last || *last < *first) {
    why = fmt::format("'{}' is no range of numbers, as '1-8'", core::shortened(range));
    return false;
  }
  if (first_text.size() > kLongestName) {
    why = too_long(range);
    return false;
  }
  if (numbers.size() + (*last - *first) >= most) {
    why = kTooMany;
    return false;
  }
  for (std::uint32_t n = *first; n <= *last; ++n) {
    numbers.push_back(fmt::format("{:0{}}", n, first_text.size()));
    if (n == *last) {
      break;  // the last number may be the largest there is
    }
  }
  return true;
}

/// All names of one part, such as "rack[1-2]node[1-8]"; `most` is how many they may be.
bool expand_part(std::string_view part,
                 std::size_t most,
                 std::vector<std::string>& names,
                 std::string& why) {
  std::vector<std::string> built{""};
  std::size_t longest = 0;  // of the names built so far
  while (!part.empty()) {
    const std::size_t open = part.find('[');
    const std::size_t close = part.find(']');
    longest += std::min(open, part.size());
    if (longest > kLongestName) {
      why = too_long(part);
      return false;
    }
    for (std::string& name : built) {
      name += part.substr(0, open);
    }
    if (open == std::string_view::npos && close == std::string_view::npos) {
      break;
    }
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
      why = "a bracket is open or closed without its partner";
      return false;
    }
    std::vector<std::string> numbers;
    for (const std::string_view range : split(part.substr(open + 1, close - open - 1))) {
      if (!expand_range(range, most, numbers, why)) {
        return false;
      }
    }
    if (built.size() * numbers.size() > most) {
      why = kTooMany;
      return false;
    }
    longest += longest_of(numbers);
    if (longest > kLongestName) {
      why = too_long(part);
      return false;
    }
    std::vector<std::string> longer;
    for (const std::string& name : built) {
      for (const std::string& number : numbers) {
        longer.push_back(name + number);
      }
    }
    built = std::move(longer);
    part.remove_prefix(close + 1);
  }
  names.insert(names.end(), built.begin(), built.end());
  return true;
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view list,
                                          std::size_t already,
                                          std::string& why) {
  std::vector<std::string> names;
  for (const std::string_view part : split(list)) {
    if (part.empty()) {
      why = "the list has an empty name";
      return {};
    }
    const std::size_t so_far = already + names.size();
    if (so_far >= kMostNames) {
      why = kTooMany;
      return {};
    }
    if (!expand_part(part, kMostNames - so_far, names, why)) {
      return {};
    }
  }
  return names;
}

}  // namespace headway::import
