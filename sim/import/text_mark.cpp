#include "sim/import/text_mark.h"

#include <algorithm>

namespace headway::import {

namespace {

constexpr std::size_t kLongestShownLine = 160;

}  // namespace

core::SourceMark mark_at(std::string_view text,
                         const std::string& file_name,
                         std::size_t offset,
                         int width) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const std::size_t last_break = before.rfind('\n');
  const std::size_t start = last_break == std::string_view::npos ? 0 : last_break + 1;
  const std::size_t end = std::min(text.find('\n', start), text.size());
  std::string_view line = text.substr(start, end - start);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  core::SourceMark mark;
  mark.file = file_name;
  mark.line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  mark.column = 1 + static_cast<int>(offset - start);
  mark.width = width;
  if (line.size() <= kLongestShownLine) {
    mark.text = line;
  }
  return mark;
}

core::SourceMark mark_of_file(const std::string& file_name) { return {file_name, 0, 0, 1, {}}; }

}  // namespace headway::import
