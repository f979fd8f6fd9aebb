// Comma-separated values (RFC 4180) as a table of texts, with lines for error messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::import {

/// What a flag says: its first word is yes, y, true, on, enabled, 1 or no, n, false, off, disabled,
/// none, 0 ("yes: attention only" is yes); nothing where it is none of them.
std::optional<bool> flag_of(std::string_view text);

/// A table whose first line names its columns.
class CsvTable {
 public:
  /// @param text  the file's content: quoted cells, doubled quotes, line ends LF or CRLF
  /// @param file  its name, for messages
  /// @throws core::Error naming every line whose number of cells is not the header's, or an open
  /// quote
  CsvTable(std::string_view text, std::string file);

  [[nodiscard]] std::size_t rows() const { return lines_.size(); }
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Line of the file where a row begins; the header is line 1.
  [[nodiscard]] int line(std::size_t row) const { return lines_[row]; }

  /// The cell's text. @throws core::Error if the table has no such column
  [[nodiscard]] const std::string& text(std::size_t row, std::string_view column) const;
  /// The same; empty too if the table has no such column.
  [[nodiscard]] std::string text_or_none(std::size_t row, std::string_view column) const;
  /// The cell as a number; nothing if it is empty. @throws core::Error with file and line if it is
  /// no number
  [[nodiscard]] std::optional<double> number(std::size_t row, std::string_view column) const;
  /// The cell as a whole number; nothing if it is empty. @throws core::Error if it is none
  [[nodiscard]] std::optional<int> integer(std::size_t row, std::string_view column) const;
  /// The cell as `flag_of` reads it; nothing if it is empty. @throws core::Error if it is no flag
  [[nodiscard]] std::optional<bool> flag(std::size_t row, std::string_view column) const;

 private:
  [[nodiscard]] std::size_t column_index(std::string_view name) const;

  std::string file_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> cells_;
  std::vector<int> lines_;
};

}  // namespace headway::import
