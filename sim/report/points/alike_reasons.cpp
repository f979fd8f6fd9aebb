#include "sim/report/points/alike_reasons.h"

#include <algorithm>
#include <cctype>

namespace headway::report {

namespace {

/// The text with every number, such as "1,024" or "6.5", as one mark.
std::string without_numbers(const std::string& text) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string shape;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside = i > 0 && digit(i - 1) && (text[i] == ',' || text[i] == '.') && digit(i + 1);
    if (!digit(i) && !inside) {
      shape += text[i];
    } else if (shape.empty() || shape.back() != '#') {
      shape += '#';
    }
  }
  return shape;
}

}  // namespace

std::string AlikeReason::words() const {
  return reason + (numbers_differ ? " (the numbers are those of the first)" : "");
}

void AlikeReasons::add(std::int64_t point, const std::string& status, const std::string& reason) {
  if (reason.empty()) {
    return;
  }
  const std::string shape = status + ": " + without_numbers(reason);
  const auto known = std::find(shapes_.begin(), shapes_.end(), shape);
  if (known == shapes_.end()) {
    shapes_.push_back(shape);
    all_.push_back({status, reason, {point}, false});
    return;
  }
  AlikeReason& alike = all_[static_cast<std::size_t>(known - shapes_.begin())];
  alike.points.push_back(point);
  alike.numbers_differ = alike.numbers_differ || alike.reason != reason;
}

}  // namespace headway::report
