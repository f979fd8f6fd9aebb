#include "sim/validation/cells/flag_words.h"

#include <algorithm>
#include <array>

#include "sim/core/text.h"
#include "sim/import/csv.h"

namespace headway::validation {

namespace {

template <class Words>
bool one_of(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::optional<FlagWords> flag_words(std::string_view column, const std::string& cell) {
  // Check marks and crosses of Unicode, by their bytes.
  static constexpr std::array<std::string_view, 6> kYes = {
      "t", "with", "\xE2\x9C\x93", "\xE2\x9C\x94", "\xE2\x9C\x85", "\xE2\x88\x9A"};
  static constexpr std::array<std::string_view, 8> kNo = {
      "f",       "w/o", "without", "\xE2\x9C\x97", "\xE2\x9C\x98", "\xE2\x9C\x96", "\xE2\x9D\x8C",
      "\xC3\x97"};
  if (const auto flag = import::flag_of(cell)) {
    return FlagWords{*flag};
  }
  const std::string word = core::lower_case(cell);
  const bool function = column == "gated_mlp";
  if (one_of(kYes, word) || (function && word.find("glu") != std::string::npos)) {
    return FlagWords{true};
  }
  if (one_of(kNo, word) || (function && (word.find("gelu") != std::string::npos ||
                                         word.find("relu") != std::string::npos))) {
    return FlagWords{false};
  }
  return word == "x" ? std::optional(FlagWords{true, true}) : std::nullopt;
}

bool says_none(const std::string& cell) {
  static constexpr std::array<std::string_view, 5> kNone = {"none", "no", "dense", "off", "false"};
  return one_of(kNone, core::lower_case(cell));
}

bool one_where_none(std::string_view column) {
  static constexpr std::array<std::string_view, 6> kDegreesOfOne = {"tp", "pp",  "cp",
                                                                    "ep", "etp", "vpp"};
  return one_of(kDegreesOfOne, column);
}

}  // namespace headway::validation
