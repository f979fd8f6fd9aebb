#include "sim/report/table.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>

namespace headway::report {

namespace {

/// Characters shown, for UTF-8 text: continuation bytes do not count.
std::size_t shown_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, shown_width(text)), ' ');
  return right ? space + text : text + space;
}

std::vector<std::size_t> widths(const Table& table) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = shown_width(table.columns[c].heading);
    for (const auto& row : table.rows) {
      width = std::max(width, shown_width(row[c]));
    }
    out.push_back(width);
  }
  return out;
}

std::string text_line(const Table& table,
                      const std::vector<std::size_t>& width,
                      const std::vector<std::string>& cells) {
  std::string line = " ";
  for (std::size_t c = 0; c < cells.size(); ++c) {
    line += fmt::format(" {} ", padded(cells[c], width[c], table.columns[c].numeric));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string rule(const std::vector<std::size_t>& width) {
  std::string line = "  ";
  for (std::size_t c = 0; c < width.size(); ++c) {
    line += std::string(width[c], '-') + (c + 1 < width.size() ? "  " : "\n");
  }
  return line;
}

std::vector<std::string> headings(const Table& table) {
  std::vector<std::string> out;
  for (const auto& column : table.columns) {
    out.push_back(column.heading);
  }
  return out;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (std::string cell : cells) {
    for (std::size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2)) {
      cell.insert(at, "\\");
    }
    line += fmt::format(" {} |", cell);
  }
  return line + "\n";
}

}  // namespace

std::string to_text(const Table& table) {
  const auto width = widths(table);
  std::string out = table.title.empty() ? "" : table.title + "\n";
  out += text_line(table, width, headings(table)) + rule(width);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (table.last_row_is_total && r + 1 == table.rows.size()) {
      out += rule(width);
    }
    out += text_line(table, width, table.rows[r]);
  }
  return out;
}

std::string to_text(const Document& document) {
  std::string out = document.title + "\n";
  for (const auto& line : document.opening) {
    out += fmt::format("  {}\n", line);
  }
  for (const auto& table : document.tables) {
    out += fmt::format("\n{}", to_text(table));
  }
  for (const auto& line : document.closing) {
    out += fmt::format("\n{}\n", line);
  }
  return out;
}

std::string to_markdown(const Document& document) {
  std::string out = fmt::format("# {}\n", document.title);
  for (const auto& line : document.opening) {
    out += fmt::format("\n{}\n", line);
  }
  for (const auto& table : document.tables) {
    out += fmt::format("\n## {}\n\n{}|", table.title, markdown_row(headings(table)));
    for (const auto& column : table.columns) {
      out += column.numeric ? "---:|" : ":---|";
    }
    out += "\n";
    for (const auto& row : table.rows) {
      out += markdown_row(row);
    }
  }
  for (const auto& line : document.closing) {
    out += fmt::format("\n{}\n", line);
  }
  return out;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string to_csv(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string out;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      out += (c == 0 ? "" : ",") + csv_field(cells[c]);
    }
    return out + "\n";
  };
  std::string out = line(headings(table));
  for (const auto& row : table.rows) {
    out += line(row);
  }
  return out;
}

}  // namespace headway::report
