// Tests are whole in every clone: none skips, none is switched off, and only tests/external, which
// is built where its files are, looks outside the repository.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kSkips{"GTEST_SKIP", "DISABLED_", "pytest.skip", "skipif",
                                      "importorskip"};
const std::vector<std::string> kOutside{"/../", "ROOT.parent", "HEADWAY_EXTERNAL_DATA"};

/// Sources under tests/ that contain one of the words, as "file: word"; this file has all of them.
std::vector<std::string> finds(const std::vector<std::string>& words,
                               const std::string& but = "no_skips_test.cpp") {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(HEADWAY_SOURCE_DIR "/tests")) {
    const std::string path = entry.path().generic_string();
    const std::string ending = entry.path().extension();
    const bool source = ending == ".cpp" || ending == ".h" || ending == ".py";
    if (!source || path.ends_with("no_skips_test.cpp") || path.find(but) != std::string::npos) {
      continue;
    }
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const auto& word : words) {
      if (text.find(word) != std::string::npos) {
        found.push_back(path + ": " + word);
      }
    }
  }
  return found;
}

TEST(Tests, NeverSkip) { EXPECT_EQ(finds(kSkips), std::vector<std::string>{}); }

TEST(Tests, ReadNothingOutsideTheRepository) {
  EXPECT_EQ(finds(kOutside, "tests/external/"), std::vector<std::string>{});
}

}  // namespace
