// A path that a comment or a page names leads to a file: what is moved is moved in the words too.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTops{"apps",    "benchmarks", "calibrate", "cmake",
                                     "configs", "docs",       "notebooks", "python",
                                     "scripts", "sim",        "tests"};

/// Beginnings of paths that lead into other projects. Their Python files need none: a path of
/// Python is one of ours where it begins with a folder of the root.
const std::vector<std::string> kForeign{"ATen/",
                                        "aten/",
                                        "common/fused_attn/",
                                        "csrc/",
                                        "cuda/TensorTopK.cu",
                                        "doc/",
                                        "docs/training/",
                                        "examples/",
                                        "src/",
                                        "tests/test_internode.py",
                                        "tools/autograd/",
                                        "torch/"};

/// Beginnings of paths that stand for any, or for files that a reader of the page will have.
const std::vector<std::string> kExamples{"./x.yaml",      "../nodes/x.yaml",  "benchmarks/ROOM/",
                                         "calibrations/", "failures/ours",    "placements/",
                                         "plans/",        "prices/ours.yaml", "sim/network/x.h"};

bool begins_with_one(const std::string& path, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& beginning) { return path.starts_with(beginning); });
}

/// Whether a word names a file of this project: folders, and an ending that ours have.
bool leads_to_ours(const std::string& word) {
  static constexpr std::array<std::string_view, 8> endings{".h",    ".cpp", ".cu", ".md",
                                                           ".yaml", ".sh",  ".py", ".cmake"};
  const fs::path path = word;
  if (word.front() == '/' || word.find('/') == std::string::npos || path.stem().empty() ||
      std::find(endings.begin(), endings.end(), path.extension().string()) == endings.end()) {
    return false;
  }
  const bool python = path.extension() == ".py";
  const bool top = std::find(kTops.begin(), kTops.end(), path.begin()->string()) != kTops.end();
  return (top || !python) && !begins_with_one(word, kForeign) && !begins_with_one(word, kExamples);
}

/// The paths in a line of prose.
std::vector<std::string> paths_in(const std::string& line) {
  static constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  std::vector<std::string> found;
  for (std::size_t begin = line.find_first_of(letters); begin != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_not_of(letters, begin), line.size());
    std::string word = line.substr(begin, end - begin);
    word.erase(word.find_last_not_of("./-") + 1);  // the end of a sentence
    if (!word.empty() && leads_to_ours(word)) {
      found.push_back(word);
    }
    begin = line.find_first_of(letters, end);
  }
  return found;
}

/// What a line says to people: all of a page, the comment of a source.
std::string prose_of(const std::string& line, const std::string& mark) {
  if (mark.empty()) {
    return line;
  }
  const std::size_t at = line.starts_with(mark) ? 0 : line.find(" " + mark);
  return at == std::string::npos ? "" : line.substr(at);
}

/// True if a path that a file names is there: from the root, from sim/, or from a folder that the
/// file is in.
bool is_there(const fs::path& file, const std::string& path) {
  const fs::path root = HEADWAY_SOURCE_DIR;
  if (fs::exists(root / path) || fs::exists(root / "sim" / path)) {
    return true;
  }
  for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(root / folder / path)) {
      return true;
    }
  }
  return false;
}

/// "file:line: path" of every path that leads nowhere.
std::vector<std::string> stale_paths(const fs::path& file, std::istream& text) {
  const fs::path ending = file.extension();
  const std::string mark = ending == ".md"                                         ? ""
                           : ending == ".h" || ending == ".cpp" || ending == ".cu" ? "//"
                                                                                   : "#";
  std::vector<std::string> stale;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    for (const std::string& path : paths_in(prose_of(line, mark))) {
      if (!is_there(file, path)) {
        stale.push_back(file.generic_string() + ":" + std::to_string(number) + ": " + path);
      }
    }
  }
  return stale;
}

std::vector<std::string> stale_paths_of(const std::string& file, const std::string& text) {
  std::istringstream stream(text);
  return stale_paths(file, stream);
}

/// Sources and pages of the house, relative to its root, sorted. tests/data is others' words.
std::vector<fs::path> written_files() {
  const fs::path root = HEADWAY_SOURCE_DIR;
  std::vector<fs::path> files{"README.md", "CONTRIBUTING.md", "CMakeLists.txt"};
  for (const std::string& top : kTops) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path path = fs::relative(entry.path(), root);
      const fs::path ending = path.extension();
      if (entry.is_regular_file() && !path.generic_string().starts_with("tests/data/") &&
          (ending == ".h" || ending == ".cpp" || ending == ".cu" || ending == ".md" ||
           ending == ".py" || ending == ".cmake" || path.filename() == "CMakeLists.txt")) {
        files.push_back(path);
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Paths, InCommentsAndPagesLeadToFiles) {
  const auto files = written_files();
  ASSERT_GT(files.size(), 1000U);
  for (const fs::path& file : files) {
    std::ifstream text(fs::path(HEADWAY_SOURCE_DIR) / file);
    for (const std::string& stale : stale_paths(file, text)) {
      ADD_FAILURE() << stale << " is not there";
    }
  }
}

TEST(Paths, ThatLeadNowhereAreNamedWithTheirLine) {
  const std::string moved = "sim/core/no_such_unit.h";
  EXPECT_EQ(stale_paths_of("sim/core/a.h", "// One.\n// See " + moved + ".\n"),
            (std::vector<std::string>{"sim/core/a.h:2: " + moved}));
  EXPECT_EQ(stale_paths_of("docs/a.md", "| `" + moved + "` | (`core/no_such.cpp`) |\n").size(), 2U);
  EXPECT_EQ(stale_paths_of("python/a.py", "x = 1  # see tests/no_such.py\n").size(), 1U);
}

TEST(Paths, AreReadFromTheRootFromSimAndFromTheFoldersOfTheFile) {
  EXPECT_EQ(stale_paths_of("sim/network/flow/a.h",
                           "// sim/core/units.h, core/units.h, fold/fold.h, ../fold/fold.h\n"),
            std::vector<std::string>{});
  EXPECT_EQ(stale_paths_of("sim/core/a.h", "// fold/fold.h\n").size(), 1U);
}

TEST(Paths, OfOthersAndWhatIsNoPathAreLeftAlone) {
  EXPECT_EQ(stale_paths_of("docs/a.md",
                           "https://a.org/no/such.md, megatron/no_such.py, csrc/a.cpp, "
                           "tests/x/*.yaml, a/b, `plans/plan-1.yaml`, x.h\n"),
            std::vector<std::string>{});
  EXPECT_EQ(stale_paths_of("sim/core/a.cpp", "#include \"no/such.h\"\n"),
            std::vector<std::string>{});
}

}  // namespace
