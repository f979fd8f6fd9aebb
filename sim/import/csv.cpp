#include "sim/import/csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::import {

namespace {

/// The widest table of measurements has 60 columns.
constexpr std::size_t kMostColumns = 1000;
/// A cell takes 32 bytes however short it is.
constexpr std::size_t kMostCells = 10'000'000;

/// Reads one record after another.
class Records {
 public:
  explicit Records(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) {
      at_ = 3;  // the mark that spreadsheets put before UTF-8
    }
  }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] int line() const { return line_; }

  /// The cells up to the end of the record; nothing if a quote stays open.
  std::optional<std::vector<std::string>> next() {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (; at_ < text_.size() && cells.size() <= kMostColumns; ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
      }
      if (quoted) {
        if (c != '"') {
          cells.back() += c;
        } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          cells.back() += '"';
          ++at_;
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',') {
        cells.emplace_back();
      } else if (c == '\n') {
        ++at_;
        return cells;
      } else if (c != '\r') {
        cells.back() += c;
      }
    }
    if (quoted) {
      return std::nullopt;
    }
    return cells;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

core::SourceMark mark(const std::string& file, int line) { return {file, line, 1, 1, ""}; }

}  // namespace

CsvTable::CsvTable(std::string_view text, std::string file) : file_(std::move(file)) {
  core::Diagnostics problems;
  Records records(text);
  while (!records.at_end()) {
    const int line = records.line();
    auto cells = records.next();
    if (cells && cells->size() > kMostColumns) {
      problems.add(mark(file_, line), fmt::format("more than {} columns", kMostColumns));
      break;
    }
    if (columns_.size() * cells_.size() > kMostCells) {
      problems.add(mark(file_, line), fmt::format("more than {} cells; cut the file down to the "
                                                  "part that is needed",
                                                  kMostCells));
      break;
    }
    if (!cells) {
      problems.add(mark(file_, line), "a quoted cell that begins in this row never ends");
      break;
    }
    if (columns_.empty()) {
      columns_ = std::move(*cells);
    } else if (cells->size() == 1 && cells->front().empty()) {
      continue;  // an empty line
    } else if (cells->size() != columns_.size()) {
      problems.add(mark(file_, line),
                   fmt::format("{} cells where the header has {}", cells->size(), columns_.size()));
    } else {
      cells_.push_back(std::move(*cells));
      lines_.push_back(line);
    }
  }
  if (columns_.empty()) {
    problems.add(mark(file_, 0), "the file is empty; expected a line with column names");
  }
  problems.throw_if_any();
}

std::size_t CsvTable::column_index(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) {
    const auto near = core::did_you_mean(name, columns_);
    throw core::Error(mark(file_, 1), fmt::format("there is no column '{}'{}", name,
                                                  near ? "; is it '" + *near + "'?" : ""));
  }
  return static_cast<std::size_t>(found - columns_.begin());
}

const std::string& CsvTable::text(std::size_t row, std::string_view column) const {
  return cells_[row][column_index(column)];
}

std::string CsvTable::text_or_none(std::size_t row, std::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), column) == columns_.end() ? ""
                                                                               : text(row, column);
}

std::optional<double> CsvTable::number(std::size_t row, std::string_view column) const {
  const std::string& cell = text(row, column);
  if (cell.empty()) {
    return std::nullopt;
  }
  const auto value = core::whole_text_as<double>(cell);
  if (!value) {
    throw core::Error(mark(file_, line(row)), fmt::format("'{}' in column '{}' is not a number",
                                                          core::shortened(cell), column));
  }
  return value;
}

std::optional<int> CsvTable::integer(std::size_t row, std::string_view column) const {
  const auto value = number(row, column);
  if (!value) {
    return std::nullopt;
  }
  if (*value != std::floor(*value) || std::abs(*value) > 2e9) {
    throw core::Error(mark(file_, line(row)),
                      fmt::format("'{}' in column '{}' is not a whole number",
                                  core::shortened(text(row, column)), column));
  }
  return static_cast<int>(*value);
}

std::optional<bool> flag_of(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kYes = {"yes", "true",    "on",
                                                           "1",   "enabled", "y"};
  static constexpr std::array<std::string_view, 7> kNo = {"no",       "false", "off", "0",
                                                          "disabled", "n",     "none"};
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      break;
    }
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (std::find(kYes.begin(), kYes.end(), word) != kYes.end()) {
    return true;
  }
  if (std::find(kNo.begin(), kNo.end(), word) != kNo.end()) {
    return false;
  }
  return std::nullopt;
}

std::optional<bool> CsvTable::flag(std::size_t row, std::string_view column) const {
  const std::string& cell = text(row, column);
  if (cell.empty()) {
    return std::nullopt;
  }
  const auto said = flag_of(cell);
  if (!said) {
    throw core::Error(mark(file_, line(row)), fmt::format("'{}' in column '{}' must be yes or no",
                                                          core::shortened(cell), column));
  }
  return said;
}

}  // namespace headway::import
