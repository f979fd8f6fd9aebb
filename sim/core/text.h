// Numbers as people read them in tables and sentences.
#pragma once

#include <optional>
#include <string>

namespace headway::core {

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
/// In small letters, ASCII's.
std::string lower_case(std::string text);

}  // namespace headway::core
