// The page of definitions is what the program says, and it leaves no figure out.
#include "sim/report/definitions.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "sim/campaign/result.h"
#include "sim/report/json_parts.h"

namespace headway::report {
namespace {

constexpr const char* kPage = "docs/definitions.md";

TEST(Definitions, AreThePageInTheDocumentation) {
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage) << definitions_page();
  }
  std::ifstream file(kPage);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), definitions_page())
      << "run with HEADWAY_UPDATE_GOLDEN=1 and look at the diff";
}

TEST(Definitions, CoverEveryFigureOfTheResult) {
  std::set<std::string> defined;
  for (const auto& section : definitions()) {
    for (const auto& definition : section.definitions) {
      EXPECT_TRUE(defined.insert(definition.figure).second) << definition.figure;
    }
  }
  CostReport cost;
  const auto expect_all = [&](const std::string& part, const Json& json) {
    for (const auto& [key, value] : json.items()) {
      EXPECT_TRUE(defined.contains(part + key)) << part << key;
    }
  };
  expect_all("step.", step_json({}));
  expect_all("memory.", memory_json({}));
  expect_all("campaign.", campaign_json(campaign::CampaignResult{}));
  expect_all("", campaign_json(campaign::CampaignResult{})["ledger_gpu_s"]);
  expect_all("cost.", cost_json(cost));
}

}  // namespace
}  // namespace headway::report
