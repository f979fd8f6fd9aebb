// The tables of docs/launch_files.md are those of the program.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

#include "sim/import/launch/launch_table.h"

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& before) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "`" : ", `") + before + word + "`";
  }
  return out;
}

std::string documented(const LaunchTable& table) {
  std::string out =
      table.bare_flags ? "| argument | in a scenario |\n" : "| key | in a scenario |\n";
  out += "|---|---|\n";
  for (const LaunchRow& row : table.rows) {
    out += fmt::format("| {} | {} |\n", joined(row.keys, table.bare_flags ? "--" : ""),
                       joined(row.paths, ""));
  }
  return out;
}

/// Each table stands behind a comment with its name. HEADWAY_UPDATE_GOLDEN=1 writes them.
TEST(LaunchTables, AreDocumented) {
  const std::string path = HEADWAY_SOURCE_DIR "/docs/launch_files.md";
  std::string text = text_of(path);
  for (const auto* table : launch_tables()) {
    const std::string mark = fmt::format("<!-- {} -->\n", table->name);
    const std::size_t at = text.find(mark);
    ASSERT_NE(at, std::string::npos) << table->name;
    const std::size_t start = at + mark.size();
    std::size_t end = start;
    while (end < text.size() && text[end] == '|') {
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
      text.replace(start, end - start, documented(*table));
      std::ofstream(path) << text;
    } else {
      EXPECT_EQ(text.substr(start, end - start), documented(*table));
    }
  }
}

TEST(LaunchTables, HaveNoKeyTwice) {
  for (const auto* table : launch_tables()) {
    std::vector<std::string> keys;
    for (const LaunchRow& row : table->rows) {
      keys.insert(keys.end(), row.keys.begin(), row.keys.end());
    }
    for (const std::string_view key : table->no_effect) {
      keys.emplace_back(key);
    }
    for (const NotModelled& entry : table->not_modelled) {
      keys.emplace_back(entry.key);
    }
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    EXPECT_EQ(twice, keys.end()) << table->name << ": " << (twice == keys.end() ? "" : *twice);
  }
}

}  // namespace
}  // namespace headway::import
