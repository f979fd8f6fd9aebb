#include "sim/config/kind_of_text.h"

#include <algorithm>
#include <set>

#include "sim/config/spec_type.h"

namespace headway::config {

namespace {

/// Keys in block style at the left margin; enough to tell kinds apart without parsing.
std::set<std::string, std::less<>> top_keys(std::string_view text) {
  std::set<std::string, std::less<>> keys;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && line.find_first_of(" #-\"'{") > colon) {
      keys.emplace(line.substr(0, colon));
    }
  }
  return keys;
}

/// The one kind without required keys (a profile, a set of rules) that knows all keys of the file.
std::string kind_without_required(const std::set<std::string, std::less<>>& keys) {
  std::string kind;
  for (const CatalogueKind& candidate : catalogue()) {
    const auto& fields = candidate.type->fields;
    const bool none = std::none_of(fields.begin(), fields.end(),
                                   [](const Field& field) { return field.required; });
    const bool knows = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
      return key == "source" || std::any_of(fields.begin(), fields.end(),
                                            [&](const Field& field) { return field.name == key; });
    });
    if (none && knows && keys.size() > 1) {  // a name alone says nothing
      if (!kind.empty()) {
        return "";
      }
      kind = candidate.folder;
    }
  }
  return kind;
}

}  // namespace

bool is_scenario_text(std::string_view text) { return top_keys(text).contains("headway"); }

std::string kind_of_text(std::string_view text) {
  const auto keys = top_keys(text);
  std::string kind;
  for (const CatalogueKind& candidate : catalogue()) {
    std::size_t required = 0;
    const bool fits = std::all_of(candidate.type->fields.begin(), candidate.type->fields.end(),
                                  [&](const Field& field) {
                                    required += field.required ? 1 : 0;
                                    return !field.required || keys.contains(field.name);
                                  });
    // A name alone says nothing.
    if (!fits || required < 2) {
      continue;
    }
    if (!kind.empty()) {
      return "scenarios";
    }
    kind = candidate.folder;
  }
  kind = kind.empty() ? kind_without_required(keys) : kind;
  return kind.empty() || keys.contains("headway") ? "scenarios" : kind;
}

}  // namespace headway::config
