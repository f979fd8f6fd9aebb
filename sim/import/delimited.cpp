#include "sim/import/delimited.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace headway::import {

namespace {

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string trimmed(std::string_view cell) {
  const auto begin = cell.find_first_not_of(" \r");
  return begin == std::string_view::npos
             ? ""
             : std::string(cell.substr(begin, cell.find_last_not_of(" \r") + 1 - begin));
}

/// "1.234,5" and "35,4" with a decimal point; any other cell as it is.
std::string with_point(const std::string& cell) {
  const auto comma = cell.find(',');
  const bool number = comma != std::string::npos && comma > 0 && comma + 1 < cell.size() &&
                      cell.find(',', comma + 1) == std::string::npos &&
                      std::all_of(cell.begin(), cell.end(),
                                  [](char c) { return digit(c) || c == '.' || c == ','; });
  if (!number) {
    return cell;
  }
  std::string out = cell;
  std::erase(out, '.');
  std::replace(out.begin(), out.end(), ',', '.');
  return out;
}

std::string quoted(const std::string& cell) {
  std::string out = "\"";
  for (const char c : cell) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + "\"";
}

/// Cells of a line; quotation marks hold a sign that parts others.
std::vector<std::string> cells_of(std::string_view line, char sign) {
  std::vector<std::string> cells(1);
  bool open = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '"') {
      const bool doubled = open && at + 1 < line.size() && line[at + 1] == '"';
      cells.back() += doubled ? "\"" : "";
      at += doubled ? 1 : 0;
      open = doubled ? open : !open;
    } else if (line[at] == sign && !open) {
      cells.emplace_back();
    } else {
      cells.back() += line[at];
    }
  }
  return cells;
}

/// "|---|:--:|": the line below a header.
bool rule(std::string_view line) {
  return line.find('-') != std::string_view::npos &&
         line.find_first_not_of("|-: \r") == std::string_view::npos;
}

std::string with_commas_between(const std::vector<std::string>& cells, char sign) {
  std::string out;
  for (const std::string& cell : cells) {
    const std::string text = trimmed(cell);
    out += (out.empty() ? "" : ",") + quoted(sign == ';' ? with_point(text) : text);
  }
  return out;
}

}  // namespace

CommaTable with_commas(std::string_view text) {
  const std::string_view mark = text.starts_with("\xEF\xBB\xBF") ? text.substr(0, 3) : "";
  const std::string_view header = text.substr(mark.size(), text.find('\n') - mark.size());
  const auto count = [&](char sign) { return std::count(header.begin(), header.end(), sign); };
  const bool markdown = header.starts_with("|");
  const char sign = markdown ? '|' : count('\t') > count(',') ? '\t' : ';';
  if (!markdown && count(sign) <= count(',')) {
    return {std::string(text), ""};
  }
  std::string out;
  for (std::size_t at = mark.size(); at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const bool empty = trimmed(line).empty() || (markdown && rule(line));
    if (markdown && !empty) {
      const auto last = line.find_last_of('|');
      line = line.substr(1, std::max<std::size_t>(last, 1) - 1);
    }
    out += (empty ? "" : with_commas_between(cells_of(line, sign), sign)) + "\n";
  }
  return {out, markdown       ? "a table of Markdown is read"
               : sign == '\t' ? "columns are parted by tabs"
                              : "columns are parted by semicolons; commas in numbers are decimal"};
}

}  // namespace headway::import
