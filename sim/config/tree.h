// A YAML document as a tree that knows where each value was written. Knows no libyaml.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.h"

namespace headway::config {

/// The text of one file (or of one argument) and its lines.
class SourceFile {
 public:
  /// @param name   as errors print it
  /// @param folder where relative paths in it start
  SourceFile(std::string name, std::filesystem::path folder, std::string text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Line `number`, from 1, without its end; empty beyond the last.
  [[nodiscard]] std::string_view line(int number) const;
  /// The text from byte `column` (from 1) of line `number` to the end of the file.
  [[nodiscard]] std::string_view from(int number, int column) const;

 private:
  std::string name_;
  std::filesystem::path folder_;
  std::string text_;
  std::vector<std::size_t> line_starts_;
};

/// All files of one load; their addresses stay.
using SourceFiles = std::deque<SourceFile>;

/// Where something was written. Line 0 means the file (or argument) as a whole.
struct Place {
  const SourceFile* file = nullptr;
  int line = 0;
  int column = 0;  ///< in bytes, 1 is the first
  int width = 1;   ///< in bytes
};

/// `place` with its line as errors print it: columns count characters, not bytes (in lines of up to
/// 160).
core::SourceMark to_mark(const Place& place);

/// The place of byte `offset` of `file`.
Place place_of_offset(const SourceFile& file, std::size_t offset);

struct Entry;

/// One value.
struct Node {
  enum class Kind { null, scalar, list, mapping, broken };  // broken: already complained about
  Kind kind = Kind::null;
  bool quoted = false;    ///< scalar: was in quotes, so it is text and never a number or a word
  bool replaces = false;  ///< mapping made by a `use:` of its own: replaces what it is laid over
  std::string text;       ///< scalar
  std::string stated;  ///< where an override or a foreign file stated it; stands in for `source:`
  std::vector<Node> items;
  std::vector<Entry> entries;
  Place place;

  [[nodiscard]] bool is_mapping() const { return kind == Kind::mapping; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  /// The value of `key` in a mapping, or nullptr.
  [[nodiscard]] const Entry* find(std::string_view key) const;
  [[nodiscard]] Entry* find(std::string_view key);
};

/// One key of a mapping and its value.
struct Entry {
  std::string key;
  Place place;
  Node value;
};

/// Whether both hold the same, wherever they were written.
bool same_value(const Node& a, const Node& b);

/// "a mapping", "a list", "the text 'x'": for "must be ..., not ...".
std::string describe(const Node& node);

/// Collects the complaints of one load and shows them in the order of files and lines.
class Complaints {
 public:
  void add(const Place& place, std::string message);
  void add(std::string message) { add(Place{}, std::move(message)); }
  /// Takes over the complaints of a file that could not be read at all.
  void take(const core::Error& error);
  [[nodiscard]] bool empty() const { return list_.empty(); }
  /// @param files decides the order in which files are shown
  /// @throws core::Error if there is any complaint
  void throw_if_any(const SourceFiles& files);

 private:
  std::vector<core::Diagnostic> list_;
  std::size_t left_out_ = 0;
};

}  // namespace headway::config
