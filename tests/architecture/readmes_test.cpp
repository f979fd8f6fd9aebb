// A README reads as its author wrote it: no formatter of sources has been over it.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Most blanks that a line of prose or of an example begins with.
constexpr std::size_t kMostIndent = 40;

/// What is wrong with a README, a line each: it begins with no heading, a line is indented beyond
/// any text's, a row of a table is broken in two.
std::vector<std::string> faults_of(const std::string& text) {
  std::vector<std::string> faults;
  if (text.rfind("# ", 0) != 0) {
    faults.emplace_back("the first line is no heading ('# ...')");
  }
  std::istringstream lines(text);
  std::string line;
  bool example = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    example = line.rfind("```", 0) == 0 ? !example : example;
    if (example) {
      continue;
    }
    if (line.find_first_not_of(' ') != std::string::npos &&
        line.find_first_not_of(' ') > kMostIndent) {
      faults.push_back("line " + std::to_string(number) + " is indented like broken source");
    }
    if (line.rfind("| ", 0) == 0 && line.back() != '|') {
      faults.push_back("line " + std::to_string(number) + ": a row of a table does not end");
    }
  }
  return faults;
}

std::vector<fs::path> readmes() {
  std::vector<fs::path> found{HEADWAY_SOURCE_DIR "/README.md"};
  for (const char* folder :
       {"sim", "apps", "calibrate", "configs", "tests", "benchmarks", "notebooks", "python"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(HEADWAY_SOURCE_DIR) / folder)) {
      if (entry.path().filename() == "README.md") {
        found.push_back(entry.path());
      }
    }
  }
  return found;
}

TEST(Readmes, AreAsTheirAuthorsWroteThem) {
  const auto all = readmes();
  EXPECT_GE(all.size(), 20U);
  for (const auto& path : all) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(faults_of(text.str()), std::vector<std::string>{}) << path.generic_string();
  }
}

TEST(Readmes, ThatAFormatterBrokeAreSeen) {
  EXPECT_EQ(faults_of("# room\n\nText.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
            std::vector<std::string>{});
  EXPECT_EQ(faults_of("#room\n").size(), 1U);
  EXPECT_EQ(faults_of("# room\n" + std::string(60, ' ') + "see(incast,\n").size(), 1U);
  EXPECT_EQ(faults_of("# room\n| credit | a sender counts down;\nthey come back |\n").size(), 1U);
}

}  // namespace
