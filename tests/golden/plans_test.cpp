// Every shipped scenario can be planned, by the code of the verb.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/report/verbs/plan_report.h"
#include "sim/study/plan.h"

#include "tests/golden/configs.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scenarios() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kConfigs / "scenarios")) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The search was stopped by DeepSeek-V3's own recompute parts. Campaigns are left out: it is the
// layouts that are asked for.
TEST(Plans, OfEveryShippedScenario) {
  ASSERT_GT(scenarios().size(), 10U);
  for (const fs::path& path : scenarios()) {
    auto loaded = config::load_scenario(path, {{kConfigs}, {}});
    const bool hashed = loaded.scenario.cluster.fabric.routing == network::Routing::ecmp;
    if (hashed && std::getenv("HEADWAY_DEEP") == nullptr) {
      continue;  // no two ranks are alike: seconds a layout
    }
    loaded.scenario.run.until.reset();
    using A = training::SearchAxis;
    loaded.scenario.search.vary = {A::tensor, A::pipeline, A::micro_batch, A::recompute, A::expert};
    plan::PlanOptions options;
    options.keep = options.simulate = 1;
    try {
      const auto report = study::search_plans(loaded, options, core::Seconds(0));
      // Of candidate machines, and of sizes, the best plan of each is kept.
      const training::SearchSpec& search = loaded.scenario.search;
      if (search.machines.empty() && search.over.empty() && search.nodes.empty()) {
        EXPECT_EQ(report.result.plans.size(), 1U) << path;
      }
      EXPECT_GE(report.result.plans.size(), 1U) << path;
      EXPECT_FALSE(report.result.searched.varied.empty());
      EXPECT_FALSE(report.result.searched.held.empty());
      std::istringstream text(report::to_text(report::plan_document(report), {80, false}));
      for (std::string line; std::getline(text, line);) {
        EXPECT_LE(line.size(), 80U) << line;
      }
    } catch (const core::Error& error) {
      ADD_FAILURE() << path << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace headway
