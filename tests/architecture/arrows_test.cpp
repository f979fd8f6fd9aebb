// Reads every #include of sim/, calibrate/, apps/ and python/ and fails on an arrow that does not
// point down (docs/architecture.md).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The floor of every room; an include may only go to the own room or to a lower floor.
const std::map<std::string, int>& floors() {
  static const std::map<std::string, int> table{
      {"core", 0},     {"workload", 1}, {"network", 1},  {"gpu", 1},    {"storage", 1},
      {"failures", 1}, {"price", 1},    {"training", 2}, {"import", 2}, {"config", 3},
      {"campaign", 3}, {"analytic", 3}, {"plan", 4},     {"drill", 4},  {"validation", 4},
      {"fit", 4},      {"study", 5},    {"measure", 5},  {"report", 6}, {"apps", 7},
      {"python", 7}};
  return table;
}

/// Who may include the headers of a library whose include path begins with these letters.
struct LibraryRule {
  std::string prefix;
  std::vector<std::string> rooms;
};

const std::vector<LibraryRule>& library_rules() {
  static const std::vector<LibraryRule> rules{{"yaml.h", {"config"}},
                                              {"nlohmann/", {"import", "report", "config"}},
                                              {"pugixml", {"import"}},
                                              {"CLI/", {"apps", "measure"}},
                                              {"pybind11/", {"python"}},
                                              {"cuda", {"measure"}},
                                              {"nccl", {"measure"}},
                                              {"httplib", {"apps"}},
                                              {"protozero/", {"report", "import"}}};
  return rules;
}

/// "sim/network/x.h" -> "network"; "apps/headway/main.cpp" -> "apps"; anything else -> "".
std::string room_of(const std::string& path) {
  const std::vector<std::string> parts = [&] {
    std::vector<std::string> out;
    std::stringstream stream(path);
    for (std::string part; std::getline(stream, part, '/');) {
      out.push_back(part);
    }
    return out;
  }();
  if (parts.size() >= 3 && (parts[0] == "sim" || parts[0] == "calibrate")) {
    return parts[1];
  }
  return !parts.empty() && (parts[0] == "apps" || parts[0] == "python") ? parts[0] : "";
}

/// What is wrong with including `target` from `room`; empty if nothing is.
std::string complaint(const std::string& room, const std::string& target) {
  const std::string target_room = room_of(target);
  if (!target_room.empty() && target_room != room) {
    const auto from = floors().find(room);
    const auto to = floors().find(target_room);
    if (to == floors().end()) {
      return "room '" + target_room + "' has no floor";
    }
    if (from->second <= to->second) {
      return "floor " + std::to_string(from->second) + " (" + room + ") includes floor " +
             std::to_string(to->second) + " (" + target_room + ")";
    }
  }
  for (const auto& [prefix, rooms] : library_rules()) {
    if (target.rfind(prefix, 0) == 0 &&
        std::find(rooms.begin(), rooms.end(), room) == rooms.end()) {
      return "room '" + room + "' may not use '" + prefix + "'";
    }
  }
  return "";
}

/// "path:line: complaint" for every wrong include of one file.
std::vector<std::string> wrong_includes(const std::string& path, std::istream& text) {
  const std::string room = room_of(path);
  std::vector<std::string> found;
  if (floors().count(room) == 0) {
    return {path + ":1: room '" + room + "' has no floor"};
  }
  static const std::regex include(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) {
      continue;
    }
    if (const std::string wrong = complaint(room, match[1]); !wrong.empty()) {
      found.push_back(path + ":" + std::to_string(number) + ": " + wrong);
    }
  }
  return found;
}

std::vector<std::string> wrong_includes_of(const std::string& path, const std::string& text) {
  std::istringstream stream(text);
  return wrong_includes(path, stream);
}

/// Sources of the house, as paths relative to its root, sorted.
std::vector<fs::path> sources() {
  const fs::path root = HEADWAY_SOURCE_DIR;
  std::vector<fs::path> out;
  for (const char* top : {"sim", "calibrate", "apps", "python"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path extension = entry.path().extension();
      if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp")) {
        out.push_back(fs::relative(entry.path(), root));
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Arrows, PointDownInEveryFile) {
  const auto files = sources();
  ASSERT_GT(files.size(), 20U) << "the sources were not found under " << HEADWAY_SOURCE_DIR;
  for (const auto& path : files) {
    std::ifstream text(fs::path(HEADWAY_SOURCE_DIR) / path);
    for (const auto& wrong : wrong_includes(path.generic_string(), text)) {
      ADD_FAILURE() << wrong;
    }
  }
}

TEST(Arrows, AnIncludeOfAHigherFloorIsNamedWithFileAndLine) {
  const auto wrong = wrong_includes_of("sim/network/graph.h",
                                       "#pragma once\n#include \"sim/core/units.h\"\n"
                                       "#include \"sim/training/step/step.h\"\n");
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0], "sim/network/graph.h:3: floor 1 (network) includes floor 2 (training)");
}

TEST(Arrows, RoomsOnOneFloorNeverIncludeOneAnother) {
  EXPECT_EQ(wrong_includes_of("sim/network/a.cpp", "#include \"sim/gpu/spec.h\"\n").size(), 1U);
  EXPECT_EQ(wrong_includes_of("sim/campaign/a.cpp", "#include \"sim/config/load.h\"\n").size(), 1U);
  EXPECT_TRUE(wrong_includes_of("sim/network/a.cpp", "#include \"sim/network/spec.h\"\n").empty());
}

TEST(Arrows, LibrariesStayInTheirRooms) {
  EXPECT_EQ(wrong_includes_of("sim/training/a.cpp", "#include <yaml.h>\n").size(), 1U);
  EXPECT_EQ(wrong_includes_of("sim/plan/a.cpp", "# include <nlohmann/json.hpp>\n").size(), 1U);
  EXPECT_EQ(wrong_includes_of("sim/core/a.cpp", "#include <cuda_runtime.h>\n").size(), 1U);
  EXPECT_TRUE(wrong_includes_of("sim/config/a.cpp", "#include <yaml.h>\n").empty());
  EXPECT_TRUE(wrong_includes_of("sim/report/a.cpp", "#include <nlohmann/json.hpp>\n").empty());
}

TEST(Arrows, AFolderWithoutAFloorIsRefused) {
  EXPECT_EQ(wrong_includes_of("sim/newroom/a.cpp", "").size(), 1U);
  EXPECT_EQ(wrong_includes_of("sim/report/a.cpp", "#include \"sim/newroom/a.h\"\n").size(), 1U);
}

TEST(Files, StayShortEnoughToReadAtOnce) {
  for (const auto& path : sources()) {
    std::ifstream text(fs::path(HEADWAY_SOURCE_DIR) / path);
    const auto lines = std::count(std::istreambuf_iterator<char>(text), {}, '\n');
    EXPECT_LE(lines, path.extension() == ".h" ? 300 : 600) << path.generic_string();
  }
}

TEST(Folders, StaySmallEnoughToSeeAtOnce) {
  struct Size {
    int files = 0;
    long lines = 0;
  };
  std::map<std::string, Size> folders;
  for (const auto& path : sources()) {
    std::ifstream text(fs::path(HEADWAY_SOURCE_DIR) / path);
    Size& size = folders[path.parent_path().generic_string()];
    ++size.files;
    size.lines += std::count(std::istreambuf_iterator<char>(text), {}, '\n');
  }
  for (const auto& [folder, size] : folders) {
    EXPECT_LE(size.files, 33) << folder << ": a part of it that has a name is a closet of its own";
    EXPECT_LE(size.lines, 4000) << folder;
  }
}

TEST(Files, HeadersBeginWithWhatTheyAreForAndSayPragmaOnce) {
  for (const auto& path : sources()) {
    if (path.extension() != ".h") {
      continue;
    }
    std::ifstream stream(fs::path(HEADWAY_SOURCE_DIR) / path);
    std::stringstream text;
    text << stream.rdbuf();
    EXPECT_EQ(text.str().rfind("// ", 0), 0U) << path.generic_string() << " has no first comment";
    EXPECT_NE(text.str().find("\n#pragma once\n"), std::string::npos) << path.generic_string();
  }
}

}  // namespace
