// Settings as text in the syntax of each framework.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/shown_text.h"
#include "sim/import/launch/launch_table.h"

namespace headway::import {

namespace {

std::string comment_lines(const std::vector<std::string>& comments) {
  std::string out;
  for (const std::string& comment : comments) {
    std::string line = core::visible(comment);
    std::ranges::replace(line, '\n', ' ');
    out += line.empty() ? "#\n" : "# " + line + "\n";
  }
  return out;
}

/// The name of the array that holds a section's flags.
std::string array_name(const std::string& section) {
  std::string name = section == "cluster" ? "launch" : section;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name + "_ARGS";
}

/// A value as TOML, JSON and YAML write it alike.
std::string value_text(const LaunchLine& line) {
  if (line.kind == LaunchValueKind::bare) {
    return line.values.front();
  }
  if (line.kind == LaunchValueKind::flag) {
    return "true";
  }
  const auto in_quotes = [](const std::string& text) { return nlohmann::json(text).dump(); };
  if (line.kind == LaunchValueKind::text) {
    return in_quotes(line.values.front());
  }
  std::string out = "[";
  for (const std::string& value : line.values) {
    out += (out.size() > 1 ? ", " : "") + in_quotes(value);
  }
  return out + "]";
}

/// "a.b.c" as {"a", "b", "c"}.
std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Lines with the same first part behind one another, in the order of their first ones.
std::vector<LaunchLine> grouped(const std::vector<LaunchLine>& lines, std::size_t depth) {
  std::vector<std::string> order;
  const auto group = [depth](const LaunchLine& line) {
    const auto parts = parts_of(line.key);
    return depth < parts.size() ? parts[depth] : "";
  };
  for (const LaunchLine& line : lines) {
    if (std::ranges::find(order, group(line)) == order.end()) {
      order.push_back(group(line));
    }
  }
  std::vector<LaunchLine> out = lines;
  std::ranges::stable_sort(out, {}, [&](const LaunchLine& line) {
    return std::ranges::find(order, group(line)) - order.begin();
  });
  return out;
}

/// [section] and `key = value`; a section is all but the last part.
std::string toml_text(const std::vector<LaunchLine>& lines) {
  std::string out;
  std::vector<std::string> sections;
  const auto section = [](const LaunchLine& line) {
    return line.key.substr(0, line.key.rfind('.'));
  };
  for (const LaunchLine& line : lines) {
    if (std::ranges::find(sections, section(line)) == sections.end()) {
      sections.push_back(section(line));
    }
  }
  for (const std::string& name : sections) {
    out += "\n[" + name + "]\n";
    for (const LaunchLine& line : lines) {
      if (section(line) == name) {
        out += line.key.substr(name.size() + 1) + " = " + value_text(line) + "\n";
      }
    }
  }
  return out;
}

/// Lines of one level of a tree and those below, as YAML or JSON.
std::string tree_text(const std::vector<LaunchLine>& lines, std::size_t depth, bool json) {
  std::string out;
  const std::string indent((json ? depth + 1 : depth) * 2, ' ');
  const auto list = grouped(lines, depth);
  for (std::size_t i = 0; i < list.size();) {
    const auto parts = parts_of(list[i].key);
    const bool leaf = parts.size() == depth + 1;
    std::vector<LaunchLine> inner;
    const std::size_t first = i;
    while (i < list.size() && parts_of(list[i].key)[depth] == parts[depth]) {
      inner.push_back(list[i++]);
    }
    out += indent + (json ? '"' + parts[depth] + '"' : parts[depth]) + ":";
    if (leaf) {
      out += " " + value_text(list[first]);
    } else if (json) {
      out += " {\n" + tree_text(inner, depth + 1, true) + indent + "}";
    } else {
      out += "\n" + tree_text(inner, depth + 1, false);
    }
    out += json && i < list.size() ? "," : "";
    out += leaf || json ? "\n" : "";
  }
  return out;
}

std::string json_text(const std::vector<LaunchLine>& lines,
                      const std::vector<std::string>& comments) {
  std::vector<LaunchLine> all = lines;
  if (!comments.empty()) {
    all.insert(all.begin(), {"//", comments, LaunchValueKind::list, ""});
  }
  return "{\n" + tree_text(all, 0, true) + "}\n";
}

std::string shell_text(const std::vector<LaunchLine>& all,
                       const std::vector<std::string>& comments) {
  std::string out = "#!/usr/bin/env bash\n" + comment_lines(comments);
  std::vector<LaunchLine> lines;
  for (const LaunchLine& line : all) {
    if (line.kind != LaunchValueKind::environment) {
      lines.push_back(line);
    } else {
      out += line.values.empty() ? fmt::format("unset {}\n", line.key)
                                 : fmt::format("export {}={}\n", line.key, line.values.front());
    }
  }
  std::string command = "pretrain_gpt.py";
  std::string launcher = "torchrun";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == 0 || lines[i].section != lines[i - 1].section) {
      const std::string name = array_name(lines[i].section);
      out += name + "=(\n";
      (lines[i].section == "cluster" ? launcher : command) += " \"${" + name + "[@]}\"";
    }
    out += "  --" + lines[i].key;
    for (const std::string& value : lines[i].values) {
      out += " " + core::shell_word(value);
    }
    out += "\n";
    if (i + 1 == lines.size() || lines[i].section != lines[i + 1].section) {
      out += ")\n";
    }
  }
  return out + launcher + " " + command + " \"$@\"\n";
}

}  // namespace

std::string launch_text(LaunchSyntax syntax,
                        const std::vector<LaunchLine>& lines,
                        const std::vector<std::string>& comments) {
  switch (syntax) {
    case LaunchSyntax::shell:
      return shell_text(lines, comments);
    case LaunchSyntax::toml:
      return comment_lines(comments) + toml_text(lines);
    case LaunchSyntax::json:
      return json_text(lines, comments);
    case LaunchSyntax::yaml:
      break;
  }
  return comment_lines(comments) + tree_text(lines, 0, false);
}

}  // namespace headway::import
