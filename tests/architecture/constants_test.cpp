// Every number that a model rests on is listed by `headway catalog constants`, or says at its place
// where it is from.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Rooms whose numbers are models.
const std::vector<std::string> kRooms{"workload", "network", "gpu",      "storage",
                                      "failures", "price",   "training", "campaign",
                                      "analytic", "plan",    "drill"};

/// Names of units: no source beside them says more.
const std::set<std::string> kUnits{"kMicro",          "kGiga",  "kTerabyte",      "kSecondsPerTick",
                                   "kSecondsPerHour", "kDay",   "kSecondsPerDay", "kJoulesPerKwh",
                                   "kPerMillion",     "kNever", "kYear",          "kKibibyte",
                                   "kGigabyte",       "kMonth"};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> files_of(const std::string& room) {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(HEADWAY_SOURCE_DIR) / "sim" / room)) {
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Bodies of the functions that list constants.
std::string registers(const std::string& text) {
  static const std::regex head(R"(ModelConstant>&? ?\w+\([^)]*\) \{|ModelConstant>& list\) \{)");
  std::string bodies;
  for (std::sregex_iterator it(text.begin(), text.end(), head), end; it != end; ++it) {
    const auto from = static_cast<std::size_t>(it->position());
    bodies += text.substr(from, text.find("\n}\n", from) - from);
  }
  return bodies;
}

bool names(const std::string& text, const std::string& constant) {
  return std::regex_search(text, std::regex("\\b" + constant + "\\b"));
}

/// Constants of a file that are neither in `listed` nor have "Source:" on their line, in the
/// comment above it; as "line: name".
std::vector<std::string> without_source(const std::string& text, const std::string& listed) {
  static const std::regex constant(R"(^\s*(?:inline |static )*constexpr (?:static )?double k)");
  static const std::regex name(R"(\b(k[A-Z]\w*)\s*=)");
  std::vector<std::string> found;
  std::string above;  // comments, and constants that share them
  std::stringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const bool declares = line.find("constexpr ") != std::string::npos;
    const std::size_t begin = line.find_first_not_of(' ');
    const bool comments = begin != std::string::npos && line.compare(begin, 2, "//") == 0;
    above = declares || comments ? above + line + "\n" : "";
    if (!declares || !std::regex_search(line, constant) ||
        above.find("Source:") != std::string::npos) {
      continue;
    }
    for (std::sregex_iterator it(line.begin(), line.end(), name), end; it != end; ++it) {
      if (const std::string one = (*it)[1]; !kUnits.contains(one) && !names(listed, one)) {
        found.push_back(std::to_string(number) + ": " + one);
      }
    }
  }
  return found;
}

/// The comment that a file begins with.
std::string first_comment(const std::string& text) { return text.substr(0, text.find("\n\n")); }

TEST(Constants, AreListedOrHaveASource) {
  for (const std::string& room : kRooms) {
    std::string listed;
    for (const fs::path& path : files_of(room)) {
      listed += registers(text_of(path));
    }
    for (const fs::path& path : files_of(room)) {
      const std::string text = text_of(path);
      if (first_comment(text).find("Source:") != std::string::npos) {
        continue;
      }
      for (const std::string& wrong : without_source(text, listed)) {
        ADD_FAILURE() << path.generic_string() << ":" << wrong
                      << " has no 'Source:' and is in no list of model constants";
      }
    }
  }
}

TEST(Constants, WithoutASourceAreNamedWithTheirLine) {
  const std::string text =
      "// What it is for.\n#pragma once\n\n/// Share.\nconstexpr double kShare = 0.8;\n"
      "/// Rate. Source: data sheet.\nconstexpr double kRate = 2;\n"
      "inline constexpr double kListed = 3;\nint x;\nconstexpr double kBare = 4, kBare2 = 5;\n";
  EXPECT_EQ(without_source(text, "{kListed}"),
            (std::vector<std::string>{"5: kShare", "10: kBare", "10: kBare2"}));
  EXPECT_EQ(
      registers("std::vector<core::ModelConstant> some_constants() {\n  return {kA};\n}\nkB\n")
          .find("kB"),
      std::string::npos);
}

}  // namespace
