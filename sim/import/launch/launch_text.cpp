// Settings as text in the syntax of each framework.
#include <algorithm>

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

}  // namespace

std::string shell_text(const std::vector<LaunchLine>& lines,
                       const std::vector<std::string>& comments) {
  std::string out = "#!/usr/bin/env bash\n" + comment_lines(comments);
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

}  // namespace headway::import
