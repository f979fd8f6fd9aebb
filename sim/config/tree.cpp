#include "sim/config/tree.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/core/shown_text.h"

namespace headway::config {

namespace {

/// Longer lines are no help to a reader; beyond this there is no excerpt and columns count bytes.
constexpr std::size_t kLongestExcerpt = 160;
/// One wrong file can hold a thousand complaints; nobody reads more than these.
constexpr std::size_t kMostComplaints = 50;

/// Characters (code points) in UTF-8 `text`.
int characters(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

SourceFile::SourceFile(std::string name, std::filesystem::path folder, std::string text)
    : name_(std::move(name)), folder_(std::move(folder)), text_(std::move(text)), line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      line_starts_.push_back(i + 1);
    }
  }
}

std::string_view SourceFile::line(int number) const {
  const auto index = static_cast<std::size_t>(number - 1);
  if (number < 1 || index >= line_starts_.size()) {
    return {};
  }
  const std::size_t start = line_starts_[index];
  const std::size_t next = index + 1 < line_starts_.size() ? line_starts_[index + 1] : text_.size();
  std::string_view line = std::string_view(text_).substr(start, next - start);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
    line.remove_suffix(1);
  }
  return line;
}

std::string_view SourceFile::from(int number, int column) const {
  const auto index = static_cast<std::size_t>(number - 1);
  if (number < 1 || index >= line_starts_.size()) {
    return {};
  }
  const std::size_t start = line_starts_[index] + static_cast<std::size_t>(std::max(column - 1, 0));
  return start < text_.size() ? std::string_view(text_).substr(start) : std::string_view{};
}

core::SourceMark to_mark(const Place& place) {
  core::SourceMark mark;
  if (place.file == nullptr) {
    return mark;
  }
  mark.file = place.file->name();
  if (place.line == 0) {
    return mark;
  }
  const std::string_view line = place.file->line(place.line);
  mark.line = place.line;
  mark.column = place.column;
  // Counting the characters of a line of a megabyte once a value would take minutes.
  if (line.size() > kLongestExcerpt) {
    return mark;
  }
  const std::size_t before =
      std::min(static_cast<std::size_t>(std::max(place.column - 1, 0)), line.size());
  const std::size_t width =
      std::min(static_cast<std::size_t>(std::max(place.width, 1)), line.size() - before);
  mark.column = characters(line.substr(0, before)) + 1;
  mark.width = std::max(characters(line.substr(before, width)), 1);
  mark.text = line;
  return mark;
}

Place place_of_offset(const SourceFile& file, std::size_t offset) {
  const std::string_view before = std::string_view(file.text()).substr(0, offset);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {&file, line, static_cast<int>(offset - start) + 1, 1};
}

const Entry* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

Entry* Node::find(std::string_view key) {
  return const_cast<Entry*>(std::as_const(*this).find(key));  // NOLINT: the same search
}

bool same_value(const Node& a, const Node& b) {
  const auto entries = [](const Entry& one, const Entry& other) {
    return one.key == other.key && same_value(one.value, other.value);
  };
  return a.kind == b.kind && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_value) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    entries);
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::mapping:
      return "a mapping";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::scalar:
      return "'" + core::shortened(node.text) + "'";
    default:
      return "nothing";
  }
}

void Complaints::add(const Place& place, std::string message) {
  if (list_.size() >= kMostComplaints) {
    ++left_out_;
    return;
  }
  if (place.file == nullptr) {
    list_.push_back({std::nullopt, std::move(message)});
  } else {
    list_.push_back({to_mark(place), std::move(message)});
  }
}

void Complaints::take(const core::Error& error) {
  for (const auto& diagnostic : error.diagnostics()) {
    list_.push_back(diagnostic);
  }
}

void Complaints::throw_if_any(const SourceFiles& files) {
  if (list_.empty()) {
    return;
  }
  const auto position = [&](const core::Diagnostic& diagnostic) {
    std::size_t file = 0;
    if (!diagnostic.mark) {
      return std::tuple(file, 0, 0);
    }
    while (file < files.size() && files[file].name() != diagnostic.mark->file) {
      ++file;
    }
    return std::tuple(file + 1, diagnostic.mark->line, diagnostic.mark->column);
  };
  std::stable_sort(list_.begin(), list_.end(),
                   [&](const auto& a, const auto& b) { return position(a) < position(b); });
  if (left_out_ > 0) {
    list_.push_back({std::nullopt, fmt::format("... and {} more", left_out_)});
  }
  throw core::Error(std::move(list_));
}

}  // namespace headway::config
