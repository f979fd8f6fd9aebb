#include "sim/import/even_rows.h"

#include <algorithm>
#include <fmt/format.h>

namespace headway::import {

namespace {

/// A record of a table: its text without the line end, and its cells.
struct CountedRecord {
  std::string_view text;
  std::size_t cells = 1;
  std::size_t end = 0;  ///< of the table's text, behind the line end
  bool open = false;    ///< a quotation mark of it never ends
};

CountedRecord record_at(std::string_view text, std::size_t begin) {
  CountedRecord record;
  bool quoted = false;
  std::size_t at = begin;
  for (; at < text.size() && (quoted || text[at] != '\n'); ++at) {
    quoted = quoted != (text[at] == '"');
    record.cells += !quoted && text[at] == ',' ? 1 : 0;
  }
  record.text = text.substr(begin, at - begin);
  if (record.text.ends_with('\r')) {
    record.text.remove_suffix(1);
  }
  record.end = std::min(at + 1, text.size());
  record.open = quoted;
  return record;
}

}  // namespace

std::string with_even_rows(std::string_view text, std::string_view column) {
  const CountedRecord header = record_at(text, 0);
  std::string out = fmt::format("{},{}\n", header.text, column);
  bool even = true;
  for (std::size_t at = header.end; at < text.size();) {
    const CountedRecord record = record_at(text, at);
    at = record.end;
    if (record.open) {
      return std::string(text);  // whoever reads it says where
    }
    if (record.text.empty()) {
      out += '\n';
    } else if (record.cells == header.cells) {
      out += fmt::format("{},\n", record.text);
    } else {
      even = false;
      out += fmt::format("{}{} cells where the header has {}\n", std::string(header.cells, ','),
                         record.cells, header.cells);
      out += std::string(
          static_cast<std::size_t>(std::count(record.text.begin(), record.text.end(), '\n')), '\n');
    }
  }
  return even ? std::string(text) : out;
}

}  // namespace headway::import
