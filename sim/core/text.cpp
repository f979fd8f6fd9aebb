#include "sim/core/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <utility>

namespace headway::core {

namespace {

/// "1234567" -> "1,234,567"; a leading minus is kept.
std::string with_separators(std::string digits) {
  const std::size_t first = !digits.empty() && digits[0] == '-' ? 1 : 0;
  for (std::size_t end = digits.size(); end > first + 3; end -= 3) {
    digits.insert(end - 3, ",");
  }
  return digits;
}

}  // namespace

std::optional<std::vector<PathStep>> path_steps(std::string_view path) {
  std::vector<PathStep> steps;
  if (path.empty()) {
    return steps;
  }
  for (bool key = path.front() != '[';;) {
    if (key) {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      steps.push_back({path.substr(0, end), std::nullopt});
      path.remove_prefix(end);
    } else {
      const std::size_t end = std::min(path.find(']'), path.size());
      const auto index = whole_text_as<std::size_t>(path.substr(1, end - 1));
      if (end == path.size() || !index) {
        return std::nullopt;
      }
      steps.push_back({{}, index});
      path.remove_prefix(end + 1);
    }
    if (path.empty()) {
      return steps;
    }
    key = path.front() == '.';
    if (!key && path.front() != '[') {
      return std::nullopt;
    }
    path.remove_prefix(key ? 1 : 0);
  }
}

std::string number(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  if (value == 0) {
    return "0";
  }
  const double size = std::abs(value);
  if (size < 1e-4 || size >= 1e12) {
    return fmt::format("{:.2e}", value);
  }
  // 999.6 has four figures once rounded, so the exponent is taken after rounding.
  const int exponent = std::stoi(fmt::format("{:.2e}", size).substr(5));
  if (exponent >= 2) {
    const double unit = std::pow(10.0, exponent - 2);
    return with_separators(fmt::format("{:.0f}", std::round(value / unit) * unit));
  }
  return fmt::format("{:.{}f}", value, 2 - exponent);
}

std::string cell(const std::optional<double>& value) { return value ? number(*value) : "-"; }

std::string count(double value) {
  return std::isfinite(value) ? with_separators(fmt::format("{:.0f}", value)) : "-";
}

std::string compact(double value) {
  static constexpr std::array<std::pair<double, const char*>, 4> kSizes{
      {{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " k"}}};
  constexpr double kLongest = 1e4;  // of a number without a letter
  const double size = std::abs(value);
  for (const auto& [unit, letter] : kSizes) {
    // From where three digits are those of one of it: 999,600 is 1.00 M.
    if (size >= std::max(0.9995 * unit, kLongest)) {
      return number(value / unit) + letter;
    }
  }
  return number(value);
}

std::string percent(double share) {
  if (!std::isfinite(share)) {
    return "-";
  }
  constexpr double kAll = 1 - 1e-9;  // a sum of shares that are rounded is all of them
  constexpr int kMostPlaces = 9;
  int places = 1;
  std::string text = fmt::format("{:.1f}", 100 * share);
  while (share < kAll && text.starts_with("100") && places < kMostPlaces) {
    text = fmt::format("{:.{}f}", 100 * share, ++places);
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace headway::core
