// TOML by toml++, as settings.
#include <toml++/toml.h>

#include "sim/core/shown_text.h"
#include "sim/import/launch/launch_settings.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

constexpr int kMostDots = 60;  // parts of a key; files of torchtitan have 3
constexpr int kDeepestToml = 60;

/// The library keeps a table for each part of a key, inside one another, and walks them down by
/// calling itself.
void refuse_long_keys(std::string_view text, const std::string& file_name) {
  int dots = 0;
  bool after_dot = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      dots += after_dot ? 0 : 1;
      after_dot = true;
    } else if (c == '\n' || c == '=' || c == ',' || c == '#' || c == '{' || c == '[') {
      dots = 0;
    } else {
      after_dot = false;
    }
    if (dots > kMostDots) {
      throw core::Error(mark_at(text, file_name, i),
                        fmt::format("a key of more than {} parts", kMostDots));
    }
  }
}

core::SourceMark mark_of(std::string_view text,
                         const std::string& file_name,
                         const toml::source_region& region) {
  core::SourceMark mark;
  mark.file = file_name;
  mark.line = static_cast<int>(region.begin.line);
  mark.column = static_cast<int>(region.begin.column);
  std::size_t start = 0;
  for (int line = 1; line < mark.line && start != std::string_view::npos; ++line) {
    const std::size_t end = text.find('\n', start);
    start = end == std::string_view::npos ? end : end + 1;
  }
  if (start != std::string_view::npos && start < text.size()) {
    const std::string_view shown = text.substr(start, text.find('\n', start) - start);
    mark.text = shown.size() <= 160 ? std::string(shown) : "";
  }
  return mark;
}

std::string scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* number = node.as_integer()) {
    return std::to_string(number->get());
  }
  if (const auto* number = node.as_floating_point()) {
    return fmt::format("{}", number->get());
  }
  if (const auto* truth = node.as_boolean()) {
    return truth->get() ? "true" : "false";
  }
  return "(a date)";
}

class TomlWalk {
 public:
  TomlWalk(std::string_view text, LaunchSettings& out) : text_(text), out_(out) {}

  void walk(const toml::table& table, const std::string& prefix, int depth) {
    for (const auto& [key, node] : table) {
      const std::string path = prefix + std::string(key.str());
      if (depth > kDeepestToml) {
        throw core::Error(mark_of(text_, out_.file_name, node.source()), "nested too deep");
      }
      if (const auto* inner = node.as_table()) {
        walk(*inner, path + ".", depth + 1);
      } else if (const auto* list = node.as_array()) {
        add(path, values_of(*list), key.source());
      } else {
        add(path, {scalar_text(node)}, key.source());
      }
    }
  }

 private:
  static std::vector<std::string> values_of(const toml::array& list) {
    std::vector<std::string> values;
    for (const auto& item : list) {
      values.push_back(item.is_table() || item.is_array() ? "(a list)" : scalar_text(item));
    }
    return values;
  }
  void add(std::string key, std::vector<std::string> values, const toml::source_region& place) {
    out_.list.push_back({std::move(key), std::move(values), mark_of(text_, out_.file_name, place)});
    if (out_.list.size() > 20000) {
      throw core::Error(out_.list.back().mark,
                        "more than 20,000 settings; is this the file that "
                        "starts a run?");
    }
  }

  std::string_view text_;
  LaunchSettings& out_;
};

}  // namespace

namespace {

/// Whether a line begins as one of a Python module does.
bool is_python(std::string_view text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::string_view line = text.substr(start, text.find('\n', start) - start);
    for (const std::string_view word : {"import ", "from ", "def ", "class ", "@dataclass"}) {
      if (line.starts_with(word)) {
        return true;
      }
    }
    start += line.size() + 1;
  }
  return false;
}

}  // namespace

LaunchSettings read_toml_settings(std::string_view text, const std::string& file_name) {
  refuse_long_keys(text, file_name);
  LaunchSettings out;
  out.file_name = file_name;
  try {
    const toml::table table = toml::parse(text);
    TomlWalk(text, out).walk(table, "", 0);
  } catch (const toml::parse_error& error) {
    if (is_python(text)) {
      throw core::Error(mark_of(text, file_name, error.source()),
                        "this is Python, in which torchtitan is configured since 0.3; what is read "
                        "is the TOML of earlier releases: write the values that differ from the "
                        "defaults as its keys (headway export torchtitan shows them)");
    }
    throw core::Error(mark_of(text, file_name, error.source()),
                      fmt::format("not valid TOML: {}", core::visible(error.description())));
  }
  return out;
}

}  // namespace headway::import
