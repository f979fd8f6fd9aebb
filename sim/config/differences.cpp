#include "sim/config/differences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/files.h"
#include "sim/config/writer.h"
#include "sim/core/shown_text.h"

namespace headway::config {

namespace {

constexpr std::size_t kLongestValue = 100;  // what is longer is no value to read beside another

/// The value in a line: of a part its name, or its keys.
std::string line_of(const Node& node) {
  std::vector<std::string> words;
  if (node.is_mapping()) {
    if (const Entry* name = node.find("name")) {
      return name->value.text;
    }
    for (const Entry& entry : node.entries) {
      words.push_back(entry.key);
    }
    return fmt::format("{{{}}}", fmt::join(words, ", "));
  }
  if (node.kind == Node::Kind::list) {
    for (const Node& item : node.items) {
      words.push_back(line_of(item));
    }
    return fmt::format("[{}]", fmt::join(words, ", "));
  }
  return node.is_scalar() ? node.text : "null";
}

std::optional<std::string> shown(const Node* node) {
  return node == nullptr ? std::nullopt
                         : std::optional(core::shortened(line_of(*node), kLongestValue));
}

std::string name_of(const Node& node) {
  const Entry* name = node.find("name");
  return name == nullptr ? "" : name->value.text;
}

class Differences {
 public:
  /// Both at one path.
  void look(const std::string& path, const Node& a, const Node& b) {
    if (a.is_mapping() && b.is_mapping() && name_of(a) == name_of(b)) {
      look_at_keys(path, a, b);
    } else if (a.kind == Node::Kind::list && b.kind == Node::Kind::list &&
               a.items.size() == b.items.size() && has_parts(a)) {
      for (std::size_t i = 0; i < a.items.size(); ++i) {
        look(fmt::format("{}[{}]", path, i), a.items[i], b.items[i]);
      }
    } else if (!same_value(a, b)) {
      all.push_back({path, shown(&a), shown(&b)});
    }
  }

  std::vector<FieldDifference> all;

 private:
  static bool has_parts(const Node& list) {
    return !list.items.empty() && list.items.front().is_mapping();
  }

  void look_at_keys(const std::string& path, const Node& a, const Node& b) {
    const auto below = [&](const std::string& key) {
      return path.empty() ? key : path + "." + key;
    };
    for (const Entry& entry : a.entries) {
      if (const Entry* other = b.find(entry.key)) {
        look(below(entry.key), entry.value, other->value);
      } else {
        all.push_back({below(entry.key), shown(&entry.value), {}});
      }
    }
    for (const Entry& entry : b.entries) {
      if (a.find(entry.key) == nullptr) {
        all.push_back({below(entry.key), {}, shown(&entry.value)});
      }
    }
  }
};

/// Without what changes no prediction.
Node tree_of(training::Scenario scenario) {
  scenario.name.clear();
  scenario.claim = {};
  scenario.assertions.clear();
  scenario.sweep.reset();
  scenario.search = {};
  return to_tree(*find_kind("scenarios")->type, &scenario, {});
}

}  // namespace

std::vector<FieldDifference> differing_fields(training::Scenario a, training::Scenario b) {
  Differences differences;
  differences.look("", tree_of(std::move(a)), tree_of(std::move(b)));
  return differences.all;
}

}  // namespace headway::config
