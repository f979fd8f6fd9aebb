// YAML of NeMo as settings; "${a.b}", "${.b}", "${multiply:2, ${.b}}" and "${sum:2, ${.b}}" are
// replaced by what they mean.
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "sim/config/launch/launch_scenario.h"
#include "sim/config/parse_yaml.h"

namespace headway::config {

namespace {

using import::LaunchSetting;
using import::LaunchSettings;

void add_settings(const Node& node, const std::string& path, LaunchSettings& out) {
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const Entry& entry : node.entries) {
    const std::string key = prefix + entry.key;
    const Node& value = entry.value;
    if (value.is_mapping()) {
      add_settings(value, key, out);
      continue;
    }
    LaunchSetting setting{key, {}, to_mark(entry.place)};
    if (value.kind == Node::Kind::list) {
      for (const Node& item : value.items) {
        setting.values.push_back(item.is_scalar() ? item.text : "(a list)");
      }
    } else {
      setting.values.push_back(value.is_scalar() ? value.text : "null");
    }
    out.list.push_back(std::move(setting));
  }
}

/// The value of what stands between "${" and "}", seen from `key`: a key, ".b" beside it, "..b" one
/// level up, "multiply:2, 3" or "sum:2, 3"; nothing where the file does not tell.
std::optional<std::string> reference(const std::string& key,
                                     std::string_view name,
                                     const std::map<std::string, std::string>& values) {
  constexpr std::string_view kMultiply = "multiply:";
  constexpr std::string_view kSum = "sum:";
  const bool multiplied = name.starts_with(kMultiply);
  if (multiplied || name.starts_with(kSum)) {
    double result = multiplied ? 1 : 0;
    std::istringstream numbers{std::string(name.substr(name.find(':') + 1))};
    for (std::string number; std::getline(numbers, number, ',');) {
      std::istringstream text(number);
      double value = 0;
      if (!(text >> value) || !(text >> std::ws).eof()) {
        return std::nullopt;
      }
      result = multiplied ? result * value : result + value;
    }
    return std::abs(result) < 1e15 ? std::optional(fmt::format("{}", result)) : std::nullopt;
  }
  std::string folder = key;
  std::string_view rest = name;
  for (; rest.starts_with('.'); rest.remove_prefix(1)) {
    const std::size_t dot = folder.rfind('.');
    folder = dot == std::string::npos ? "" : folder.substr(0, dot);
  }
  const bool absolute = rest.size() == name.size() || folder.empty();
  const auto found = values.find((absolute ? "" : folder + ".") + std::string(rest));
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

/// The text with its references replaced, the innermost first.
std::string replaced(const std::string& key,
                     std::string text,
                     const std::map<std::string, std::string>& values) {
  constexpr int kMost = 30;
  for (int i = 0; i < kMost; ++i) {
    const std::size_t open = text.rfind("${");
    const std::size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) {
      break;
    }
    const auto value =
        reference(key, std::string_view(text).substr(open + 2, close - open - 2), values);
    if (!value || value->size() > 1000) {
      break;
    }
    text.replace(open, close - open + 1, *value);
  }
  return text;
}

}  // namespace

LaunchSettings read_yaml_settings(const std::string& text, const std::string& file_name) {
  const SourceFile file(file_name, {}, text);
  const Node root = parse_yaml(file);
  LaunchSettings out;
  out.file_name = file_name;
  add_settings(root, "", out);
  std::map<std::string, std::string> values;
  for (const LaunchSetting& setting : out.list) {
    if (setting.values.size() == 1) {
      values[setting.key] = setting.values.front();
    }
  }
  for (LaunchSetting& setting : out.list) {
    for (std::string& value : setting.values) {
      value = replaced(setting.key, std::move(value), values);
    }
  }
  return out;
}

}  // namespace headway::config
