// Every folder of tests/golden/errors is a bad input; what Headway says to it is compared to the
// letter.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/training/check.h"

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Leaves the working folder as it was.
class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : before_(fs::current_path()) {
    fs::current_path(folder);
  }
  ~WorkingFolder() { fs::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  fs::path before_;
};

/// What Headway says to the scenario in the working folder; empty if it is content.
std::string complaint() {
  try {
    const LoadOptions options{{"../configs"}, lines_of("set.txt")};
    const LoadedScenario loaded = load_scenario("scenario.yaml", options);
    training::check(loaded.scenario, loaded.marks);
  } catch (const core::Error& error) {
    return error.what();
  }
  return {};
}

fs::path errors_folder() { return fs::path(HEADWAY_SOURCE_DIR) / "tests/golden/errors"; }

std::vector<fs::path> cases() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(errors_folder())) {
    if (entry.is_directory() && entry.path().filename() != "configs") {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

TEST(GoldenErrors, TheBaseOfTheCasesIsCorrect) {
  const WorkingFolder folder(errors_folder());
  const LoadedScenario loaded = load_scenario("base.yaml", {{"configs"}, {}});
  EXPECT_NO_THROW(training::check(loaded.scenario, loaded.marks));
}

TEST(GoldenErrors, EveryBadInputIsAnsweredInTheExpectedWords) {
  const bool update =
      std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr;  // NOLINT(concurrency-mt-unsafe): one thread
  const std::vector<fs::path> folders = cases();
  ASSERT_GE(folders.size(), 60U);
  for (const fs::path& folder : folders) {
    const WorkingFolder working(folder);
    const std::string said = complaint();
    EXPECT_NE(said, "") << folder << " was accepted";
    EXPECT_EQ(said.find(fs::current_path().string()), std::string::npos)
        << folder << " names this machine's folders";
    if (update) {
      std::ofstream("expected.txt", std::ios::binary) << said;
    }
    EXPECT_EQ(said, test_files::text_of("expected.txt")) << folder.filename();
  }
}

}  // namespace
}  // namespace headway::config
