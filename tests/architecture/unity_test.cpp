// The sources of a room, and those of its tests, are compiled in batches (cmake/HeadwayRoom.cmake),
// so what they keep to themselves shares one unnamed namespace a batch: no two sources of a room,
// or of its tests, may define the same thing there.
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

/// What a line at the left margin begins to define, as one comparable text: a type or a constant by
/// its name, a function by its name and parameters. Empty if it defines nothing.
std::string defined_by(const std::string& text) {
  static const std::regex type(
      R"(^(?:template <[^>]*>\s*)?(?:struct|class|enum class|enum) (\w+) [{:].*)");
  static const std::regex constant(
      R"(^(?:inline |static )*(?:constexpr|const) [^(]*?\b(\w+)(?:\[\d*\])?\s*[={(].*)");
  static const std::regex function(R"(^[\w:<][^=;]*?\b([\w:]+)\(([^;]*)\)[^;()]*\{.*)");
  std::smatch match;
  if (std::regex_match(text, match, type) || std::regex_match(text, match, constant)) {
    return match[1];
  }
  if (std::regex_match(text, match, function)) {
    static const std::regex parameter_name(R"(\s*\b\w+(?= = [^,]*|,|$)(?: = [^,]*)?)");
    return match[1].str() + "(" + std::regex_replace(match[2].str(), parameter_name, "") + ")";
  }
  return "";
}

/// Every definition at the left margin of the unnamed namespaces of a source. The tree is
/// formatted, so a definition begins at the margin and all that belongs to it is indented.
std::vector<std::string> private_definitions(std::istream& source) {
  std::vector<std::string> found;
  std::string line;
  std::string head;
  bool inside = false;
  while (std::getline(source, line)) {
    if (line == "namespace {") {
      inside = true;
    } else if (line.rfind("}  // namespace", 0) == 0) {
      inside = false;
    } else if (inside && !line.empty() && line[0] != '}' && line[0] != '#' &&
               line.rfind("//", 0) != 0) {
      line = line.substr(0, line.find("  //"));
      line.erase(line.find_last_not_of(' ') + 1);
      head = line[0] == ' '
                 ? head.empty() ? "" : head + " " + line.substr(line.find_first_not_of(' '))
                 : line;
      if (!head.empty() && (head.find('{') != std::string::npos || head.back() == ';')) {
        if (const std::string name = defined_by(head); !name.empty()) {
          found.push_back(name);
        }
        head.clear();
      }
    }
  }
  return found;
}

std::vector<std::string> definitions_in(const std::string& text) {
  std::istringstream stream(text);
  return private_definitions(stream);
}

TEST(PrivateDefinitions, AreFoundByNameAndByParameters) {
  EXPECT_EQ(definitions_in(
                "int f() {\n}\nnamespace {\n\nconstexpr double kDay = 86400;\n"
                "struct Row {\n  int a;\n};\n\n/// Words.\nstd::string name(const Row& row,\n"
                "                 int n) {\n  return g(row);\n}\n\n}  // namespace\nint h() {\n"),
            (std::vector<std::string>{"kDay", "Row", "name(const Row&, int)"}));
  // Other parameters, another function.
  EXPECT_NE(definitions_in("namespace {\nint f(int a) {\n"),
            definitions_in("namespace {\nint f(double a) {\n"));
}

TEST(PrivateDefinitions, OfARoomDoNotCollide) {
  std::map<std::string, std::map<std::string, std::string>> where;  // room -> definition -> file
  std::size_t count = 0;
  const fs::path root = HEADWAY_SOURCE_DIR;
  for (const char* top : {"sim", "apps", "calibrate/fit", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() != ".cpp") {
        continue;
      }
      const fs::path path = fs::relative(entry.path(), root);
      const std::string room = (*path.begin() / *std::next(path.begin())).generic_string();
      std::ifstream source(entry.path());
      for (const auto& definition : private_definitions(source)) {
        ++count;
        const auto [before, is_new] = where[room].emplace(definition, path.generic_string());
        EXPECT_TRUE(is_new || before->second == path.generic_string())
            << path.generic_string() << ": '" << definition << "' is defined in " << before->second
            << " too; say in the name what differs, or share it in a header of the room";
      }
    }
  }
  EXPECT_GT(count, 1000U) << "the sources were not read";
}

}  // namespace
