// One row of a table of published runs, read by column name.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "sim/import/csv.h"

namespace headway::validation {

/// Text in small letters.
inline std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether one of these words is in the text.
template <std::size_t kCount>
bool contains_any(std::string_view text, const std::array<const char*, kCount>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return contains(text, word); });
}

/// Whether a cell only says that nothing is known: "n/a", "nan", "not stated" ...
inline bool says_nothing(const std::string& cell) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "", "n/a", "na", "nan", "null", "?", "-", "unknown", "not stated", "unspecified"};
  const std::string word = lower(cell);
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Reads one row's cells by column name.
class Row {
 public:
  Row(const import::CsvTable& table, std::size_t row) : table_(table), row_(row) {}
  /// The cell; empty where the table has no such column or the cell says nothing.
  [[nodiscard]] const std::string& text(std::string_view column) const {
    static const std::string kNone;
    const auto& columns = table_.columns();
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      return kNone;
    }
    const std::string& cell = table_.text(row_, column);
    return says_nothing(cell) ? kNone : cell;
  }
  [[nodiscard]] std::string lower_text(std::string_view column) const {
    return lower(text(column));
  }
  [[nodiscard]] bool yes(std::string_view column) const {
    const std::string word = lower_text(column);
    return word == "yes" || word == "true" || word == "1";
  }
  [[nodiscard]] int integer(std::string_view column, int otherwise) const {
    return text(column).empty() ? otherwise : table_.integer(row_, column).value_or(otherwise);
  }
  /// A count: zero and less say as little as a blank cell.
  [[nodiscard]] int positive(std::string_view column, int otherwise) const {
    const int count = integer(column, 0);
    return count > 0 ? count : otherwise;
  }
  [[nodiscard]] double number(std::string_view column, double otherwise) const {
    return text(column).empty() ? otherwise : table_.number(row_, column).value_or(otherwise);
  }
  [[nodiscard]] bool stated(std::string_view column) const { return !text(column).empty(); }
  /// The field has a value and is not listed as one that the source does not state.
  [[nodiscard]] bool certain(std::string_view column) const {
    return stated(column) && !listed("not_stated", column);
  }
  /// Whether a word stands in a cell's list of words.
  [[nodiscard]] bool listed(std::string_view list, std::string_view word) const {
    const std::string words = " " + text(list) + " ";
    std::string whole = " ";
    whole += word;
    return contains(words, whole + " ") || contains(words, whole + ";") ||
           contains(words, whole + ",");
  }

 private:
  const import::CsvTable& table_;
  std::size_t row_;
};

}  // namespace headway::validation
