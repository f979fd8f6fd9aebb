#include "sim/import/document_lengths.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "sim/core/error.h"
#include "sim/core/ranges.h"
#include "sim/core/shown_text.h"
#include "sim/import/csv.h"

namespace headway::import {

namespace {

/// A table without its remarks.
struct Plain {
  std::string text;
  int before = 0;  ///< lines of the file that stood before its first
};

/// Remarks behind the first line of the table are emptied, so that lines keep their numbers.
Plain without_remarks(std::string_view text) {
  Plain plain;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool remark = line.starts_with('#') || line.find_first_not_of(" \t\r") == line.npos;
    if (remark && plain.text.empty()) {
      ++plain.before;
    } else {
      plain.text += remark ? std::string_view() : line;
      plain.text += '\n';
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return plain;
}

/// A list of lengths has no header: its first line is a number.
bool begins_with_number(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && std::isdigit(static_cast<unsigned char>(text[first]));
}

const char* length_column(const CsvTable& table, const char* name, const char* other) {
  const auto& columns = table.columns();
  for (const char* one : {name, other}) {
    if (std::find(columns.begin(), columns.end(), one) != columns.end()) {
      return one;
    }
  }
  return nullptr;
}

/// @param before  lines that the file has before the table
[[noreturn]] void refuse_cell(const CsvTable& table,
                              std::size_t row,
                              const char* column,
                              const core::Range& range,
                              int before) {
  throw core::Error(fmt::format("{}:{}: {} '{}' must be {}", table.file(), table.line(row) + before,
                                column, core::shortened(table.text(row, column)), range.words));
}

}  // namespace

std::vector<workload::DocumentLength> read_document_lengths(std::string_view text,
                                                            const std::string& file) {
  const Plain plain = without_remarks(text);
  const bool listed = begins_with_number(plain.text);
  const CsvTable table(listed ? "tokens\n" + plain.text : plain.text, file);
  const int before = plain.before - (listed ? 1 : 0);
  const char* const tokens = length_column(table, "tokens", "length");
  const char* const share = length_column(table, "share", "count");
  if (tokens == nullptr) {
    throw core::Error(fmt::format(
        "{}: lengths of documents stand in a column 'tokens' (or 'length'), how many there are of "
        "each in 'share' (or 'count'); or write one length a line and no header",
        file));
  }
  std::map<int, double> shares;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto length = table.integer(row, tokens);
    if (!length) {
      continue;  // an empty line
    }
    if (!core::sequence_tokens.contains(*length)) {
      refuse_cell(table, row, tokens, core::sequence_tokens, before);
    }
    const double part = share == nullptr ? 1 : table.number(row, share).value_or(0);
    if (share != nullptr && !core::relative_share.contains(part)) {
      refuse_cell(table, row, share, core::relative_share, before);
    }
    shares[*length] += part;
  }
  if (shares.empty() || shares.size() > kMostLengths) {
    throw core::Error(
        fmt::format("{}: {} lengths of documents; write from 1 to {} (put lengths that "
                    "are nearly equal together)",
                    file, shares.size(), kMostLengths));
  }
  std::vector<workload::DocumentLength> lengths;
  for (const auto& [length, part] : shares) {
    lengths.push_back({length, part});
  }
  return lengths;
}

}  // namespace headway::import
