#include "sim/config/files.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/core/error.h"

namespace headway::config {
namespace {

namespace fs = std::filesystem;
using Roots = std::vector<fs::path>;

/// With HEADWAY_CONFIGS as it is given, and as it was afterwards.
Roots roots_with(const char* variable, const fs::path& installed, const fs::path& source) {
  const char* before = std::getenv("HEADWAY_CONFIGS");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("HEADWAY_CONFIGS", variable, 1);
  struct Back {
    const std::string& kept;
    ~Back() {
      kept.empty() ? ::unsetenv("HEADWAY_CONFIGS") : ::setenv("HEADWAY_CONFIGS", kept.c_str(), 1);
    }
  } back{kept};
  return config_roots(installed, source);
}

TEST(ConfigRoots, AreThoseOfTheEnvironmentThenTheFirstOfInstallationAndSource) {
  EXPECT_EQ(roots_with("", "configs", "tests"), (Roots{"configs"}));
  EXPECT_EQ(roots_with("", "no/such", "tests"), (Roots{"tests"}));
  EXPECT_EQ(roots_with("", {}, "no/such"), Roots{});
  EXPECT_EQ(roots_with("tests:docs::", "configs", "sim"), (Roots{"tests", "docs", "configs"}));
}

TEST(ConfigRoots, RefuseAFolderThatIsNotThere) {
  try {
    roots_with("tests:no/such", "configs", "sim");
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_EQ(std::string(error.what()), "HEADWAY_CONFIGS names 'no/such', which is no folder\n");
  }
}

}  // namespace
}  // namespace headway::config
