#include "sim/report/wrap.h"

#include <algorithm>

#include "sim/core/shown_text.h"

namespace headway::report {

namespace {

/// Bytes of the longest beginning of `text` that takes at most `width` columns.
std::size_t bytes_within(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t column = 0; at < text.size() && column < width; ++column) {
    at += std::max<std::size_t>(1, core::utf8_length(text, at));
  }
  return std::min(at, text.size());
}

/// Where a word that is too long for a line is cut: behind a mark within it, else at the end of the
/// line.
std::size_t cut_of(std::string_view word, std::size_t width) {
  const std::size_t most = bytes_within(word, width);
  const std::size_t mark = word.substr(0, most).find_last_of("._/,=-");
  return mark == std::string_view::npos || mark == 0 ? most : mark + 1;
}

}  // namespace

std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  if (shown_width(text) <= width) {
    return {std::string(text)};
  }
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    std::size_t space = text.find(' ');
    if (text.substr(std::min(space, text.size())).starts_with(" %")) {
      space = text.find(' ', space + 1);  // a number keeps its sign
    }
    std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
    const std::string gap = lines.back().empty() ? "" : " ";
    if (shown_width(lines.back()) + gap.size() + shown_width(word) <= width) {
      lines.back() += gap + std::string(word);
      continue;
    }
    if (!lines.back().empty()) {
      lines.emplace_back();
    }
    while (shown_width(word) > width) {
      const std::size_t cut = cut_of(word, width);
      lines.back() = word.substr(0, cut);
      lines.emplace_back();
      word.remove_prefix(cut);
    }
    lines.back() = word;
  }
  if (lines.back().empty() && lines.size() > 1) {
    lines.pop_back();
  }
  return lines;
}

std::string paragraph(std::string_view text, std::size_t width, std::string_view indent) {
  const std::size_t room =
      width == 0 ? text.size() : width - std::min(width - 1, shown_width(indent));
  std::string out;
  for (const auto& line : wrapped(text, std::max<std::size_t>(1, room))) {
    out += std::string(indent) + line + "\n";
  }
  return out;
}

std::string hanging(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (width == 0 || shown_width(line) <= width) {
      out += line + "\n";
      continue;
    }
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t gap = std::min(line.find("  ", first), line.size());
    std::size_t column = std::min(line.find_first_not_of(' ', gap), line.size());
    column = 3 * column > 2 * width ? first : column;
    const auto parts = wrapped(line.substr(column), width - column);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      out += (p == 0 ? line.substr(0, column) : std::string(column, ' ')) + parts[p];
      out.erase(out.find_last_not_of(' ') + 1);
      out += '\n';
    }
  }
  return out;
}

}  // namespace headway::report
