#include "sim/report/table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <sstream>

#include "sim/core/shown_text.h"
#include "sim/report/wrap.h"

namespace headway::report {

namespace {

/// Columns between two of a table, and before the first.
constexpr std::size_t kGap = 2;
/// A column of text is not folded to less.
constexpr std::size_t kNarrowest = 12;

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, shown_width(text)), ' ');
  return right ? space + text : text + space;
}

std::size_t longest_word(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    longest = std::max(longest, shown_width(word));
  }
  return longest;
}

/// Of one column: what it takes unfolded, and what it may be folded to.
struct Width {
  std::size_t whole = 0, least = 0;
};

std::vector<Width> widths(const Table& table) {
  std::vector<Width> out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto& column = table.columns[c];
    std::size_t cells = 0;
    std::size_t words = longest_word(column.heading);
    for (const auto& row : table.rows) {
      cells = std::max(cells, shown_width(row[c]));
    }
    Width width{std::max(cells, shown_width(column.heading)), 0};
    // Numbers are never folded, their headings are; text is, between words.
    width.least = column.numeric ? std::max(cells, words) : std::min(kNarrowest, width.whole);
    out.push_back(width);
  }
  return out;
}

std::size_t room_of(const std::vector<std::size_t>& width) {
  std::size_t room = 0;
  for (const std::size_t w : width) {
    room += kGap + w;
  }
  return room;
}

/// The widths at which the columns fit the page, the widest folded first; as near as they come.
std::vector<std::size_t> fitted(const std::vector<Width>& columns, std::size_t page) {
  std::vector<std::size_t> width;
  for (const auto& column : columns) {
    width.push_back(column.whole);
  }
  while (page > 0 && room_of(width) > page) {
    std::size_t widest = columns.size();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (width[c] > columns[c].least && (widest == columns.size() || width[c] > width[widest])) {
        widest = c;
      }
    }
    if (widest == columns.size()) {
      break;
    }
    --width[widest];
  }
  return width;
}

/// A row, in as many lines as its longest cell takes.
std::string text_lines(const Table& table,
                       const std::vector<std::size_t>& width,
                       const std::vector<std::string>& cells,
                       bool at_bottom) {
  std::vector<std::vector<std::string>> folded;
  std::size_t lines = 1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    folded.push_back(wrapped(cells[c], std::max<std::size_t>(1, width[c])));
    lines = std::max(lines, folded.back().size());
  }
  std::string out;
  for (std::size_t l = 0; l < lines; ++l) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::size_t above = at_bottom ? lines - folded[c].size() : 0;
      const bool there = l >= above && l - above < folded[c].size();
      line += std::string(kGap, ' ') +
              padded(there ? folded[c][l - above] : "", width[c], table.columns[c].numeric);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string rule(const std::vector<std::size_t>& width) {
  std::string line;
  for (const std::size_t w : width) {
    line += std::string(kGap, ' ') + std::string(w, '-');
  }
  return line + "\n";
}

std::vector<std::string> headings(const Table& table) {
  std::vector<std::string> out;
  for (const auto& column : table.columns) {
    out.push_back(column.heading);
  }
  return out;
}

/// Heading, rule and rows of a table whose columns have room.
std::string body(const Table& table, const std::vector<std::size_t>& width, const Page& page) {
  std::string out = text_lines(table, width, headings(table), true);
  out += toned(rule(width), Tone::faint, page);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (table.last_row_is_total && r + 1 == table.rows.size()) {
      out += toned(rule(width), Tone::faint, page);
    }
    out += text_lines(table, width, table.rows[r], false);
  }
  return out;
}

/// Columns [first, last) of a table behind its first one.
Table part_of(const Table& table, std::size_t first, std::size_t last) {
  const auto chosen = [&](const auto& all) {
    auto some = std::vector(all.begin(), all.begin() + 1);
    some.insert(some.end(), all.begin() + static_cast<std::ptrdiff_t>(first),
                all.begin() + static_cast<std::ptrdiff_t>(last));
    return some;
  };
  Table part{table.title, chosen(table.columns), {}, table.last_row_is_total};
  for (const auto& row : table.rows) {
    part.rows.push_back(chosen(row));
  }
  return part;
}

/// A table with too many columns, as several of them one below the other.
std::string in_parts(const Table& table, const Page& page) {
  std::string out;
  for (std::size_t first = 1; first < table.columns.size();) {
    std::size_t last = first + 1;
    while (last < table.columns.size() &&
           room_of(fitted(widths(part_of(table, first, last + 1)), page.width)) <= page.width) {
      ++last;
    }
    const Table part = part_of(table, first, last);
    auto columns = widths(part);
    columns.front().least = std::min(columns.front().least, kNarrowest);
    auto width = fitted(columns, page.width);
    if (room_of(width) > page.width) {  // a page of hardly a column: break numbers too
      const std::size_t half = page.width / 2;
      width = {half > kGap ? half - kGap : 1,
               page.width - half > kGap ? page.width - half - kGap : 1};
    }
    out += (first == 1 ? "" : "\n") + body(part, width, page);
    first = last;
  }
  return out;
}

void make_visible(std::string& text) { text = core::visible(text); }

/// The table in which nothing commands the terminal but what `toned` adds.
Table made_visible(Table table) {
  make_visible(table.title);
  for (auto& column : table.columns) {
    make_visible(column.heading);
  }
  for (auto& row : table.rows) {
    std::for_each(row.begin(), row.end(), make_visible);
  }
  return table;
}

/// The sentences of a document; its tables are cleaned where they are printed.
Document made_visible(Document document) {
  make_visible(document.title);
  std::for_each(document.opening.begin(), document.opening.end(), make_visible);
  std::for_each(document.closing.begin(), document.closing.end(), make_visible);
  return document;
}

std::string closing_line(const std::string& line, bool last, const Page& page) {
  const std::string text = paragraph(line, page.width);
  if (line.starts_with("Warning: ")) {
    return toned(text, Tone::warning, page);
  }
  if (line.starts_with("Status: ")) {
    return toned(text, Tone::bad, page);
  }
  return last ? toned(text, Tone::title, page) : text;
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

/// Headings, and a line a row.
std::string markdown_rows(const Table& table) {
  std::string out = markdown_row(headings(table)) + "|";
  for (const auto& column : table.columns) {
    out += column.numeric ? "---:|" : ":---|";
  }
  out += "\n";
  for (const auto& row : table.rows) {
    out += markdown_row(row);
  }
  return out;
}

}  // namespace

std::string toned(const std::string& text, Tone tone, const Page& page) {
  if (!page.colour || text.empty()) {
    return text;
  }
  static constexpr std::array<const char*, 5> kCodes{"1", "32", "33", "1;31", "2"};
  const std::string begin = fmt::format("\x1b[{}m", kCodes[static_cast<std::size_t>(tone)]);
  const bool ends_line = text.back() == '\n';
  return begin + text.substr(0, text.size() - (ends_line ? 1 : 0)) + "\x1b[0m" +
         (ends_line ? "\n" : "");
}

std::string to_text(const Table& given, const Page& page) {
  const Table table = page.colour ? made_visible(given) : given;
  const std::string title =
      table.title.empty() ? "" : toned(paragraph(table.title, page.width), Tone::title, page);
  const auto width = fitted(widths(table), page.width);
  const bool fits = page.width == 0 || room_of(width) <= page.width || table.columns.size() < 2;
  return title + (fits ? body(table, width, page) : in_parts(table, page));
}

std::string to_text(const Document& given, const Page& page) {
  const Document document = page.colour ? made_visible(given) : given;
  std::string out = toned(paragraph(document.title, page.width), Tone::title, page);
  for (const auto& line : document.opening) {
    out += paragraph(line, page.width, "  ");
  }
  for (const auto& table : document.tables) {
    out += "\n" + to_text(table, page);
  }
  for (const TextChart& chart : document.charts) {
    const std::string drawn = to_text(chart, page);
    out += drawn.empty() ? "" : "\n" + drawn;
  }
  for (std::size_t l = 0; l < document.closing.size(); ++l) {
    out += "\n" + closing_line(document.closing[l], l + 1 == document.closing.size(), page);
  }
  return out;
}

std::string to_markdown(const Table& table) {
  return fmt::format("# {}\n\n{}", table.title, markdown_rows(table));
}

std::string to_markdown(const Document& document) {
  std::string out = fmt::format("# {}\n", document.title);
  for (const auto& line : document.opening) {
    out += fmt::format("\n{}\n", line);
  }
  for (const auto& table : document.tables) {
    out += fmt::format("\n## {}\n\n{}", table.title, markdown_rows(table));
  }
  for (const TextChart& chart : document.charts) {
    const std::string drawn = to_text(chart, {});
    out += drawn.empty() ? "" : fmt::format("\n```\n{}```\n", drawn);
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
  for (std::vector<std::string> row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool number = row[c].find_first_not_of("+-0123456789.,") == std::string::npos;
      if (table.columns[c].numeric && number) {  // "88,800" is for people
        std::erase(row[c], ',');
      }
    }
    out += line(row);
  }
  return out;
}

}  // namespace headway::report
