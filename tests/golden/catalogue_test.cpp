// Every file of the catalogue and every scenario reads, says where its figures come from, and means
// what its source says.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/workload/closed_form.h"

#include "tests/golden/configs.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

const config::LoadOptions kOptions{{kConfigs}, {}};

std::vector<fs::path> yaml_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool has_source(const fs::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("source: ")) {
      return true;
    }
  }
  return false;
}

config::LoadedScenario scenario(const std::string& name) {
  return config::load_scenario(kConfigs / "scenarios" / (name + ".yaml"), kOptions);
}

TEST(Catalogue, EveryFileReadsWithoutAComplaint) {
  int files = 0;
  for (const std::string& kind : config::catalogue_kinds()) {
    for (const config::CatalogueEntry& entry : config::list_entries(kind, {kConfigs})) {
      ++files;
      try {
        config::check_entry(entry.path, kOptions);
      } catch (const core::Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
  EXPECT_GT(files, 100);
}

TEST(Catalogue, EveryScenarioReadsWithoutAComplaint) {
  const auto files = yaml_files(kConfigs / "scenarios");
  EXPECT_GE(files.size(), 8U);
  for (const fs::path& path : files) {
    try {
      config::load_scenario(path, kOptions);
    } catch (const core::Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Catalogue, EveryFileSaysWhereItsFiguresComeFrom) {
  for (const fs::path& path : yaml_files(kConfigs)) {
    EXPECT_TRUE(has_source(path)) << path << " has no `source:` at its top level";
  }
}

TEST(Catalogue, HoldsTheGpusNodesAndModelsThatUsersExpect) {
  const auto names = [](const char* kind) {
    std::set<std::string> result;
    for (const auto& entry : config::list_entries(kind, {kConfigs})) {
      result.insert(entry.name);
    }
    return result;
  };
  EXPECT_THAT(names("gpus"),
              testing::IsSupersetOf({"a100-40gb-sxm", "a100-80gb-sxm", "h100-sxm", "h100-pcie",
                                     "h800-sxm", "h200-sxm", "b200-sxm", "b300-sxm", "gb200",
                                     "gb300", "mi300x", "mi355x"}));
  EXPECT_THAT(names("nodes"), testing::IsSupersetOf(
                                  {"dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "nvl72-gb200"}));
  EXPECT_GE(names("models").size(), 20U);
}

TEST(Catalogue, ModelsHaveTheirPublishedSize) {
  const std::pair<const char*, double> published[] = {
      {"llama-3.1-405b", 405.9}, {"llama-3.1-8b", 8.03}, {"mixtral-8x7b", 46.7},
      {"deepseek-v3", 671.0},    {"gpt-3-175b", 174.6},  {"megatron-1t", 1008.0},
      {"bloom-176b", 176.2},     {"gpt-oss-120b", 116.8}};
  for (const auto& [name, billions] : published) {
    const auto model = config::load_entry<workload::ModelSpec>(
        kConfigs / "models" / (std::string(name) + ".yaml"), kOptions);
    EXPECT_NEAR(workload::count_parameters(model.spec).total() / 1e9, billions, 0.003 * billions)
        << name;
  }
}

TEST(Catalogue, TheLlama3TableHoldsAll419Interruptions) {
  const auto table = config::load_entry<failures::FailureSpec>(
      kConfigs / "failures" / "llama-3-54-days.yaml", kOptions);
  std::int64_t sum = 0;
  for (const failures::HazardSpec& hazard : table.spec.hazards) {
    sum += hazard.count.value_or(0);
  }
  EXPECT_EQ(table.spec.hazards.size(), 18U);
  EXPECT_EQ(sum, 419);
}

TEST(Scenarios, DegreesMultiplyToTheGpus) {
  for (const fs::path& path : yaml_files(kConfigs / "scenarios")) {
    const training::Scenario s = config::load_scenario(path, kOptions).scenario;
    const workload::ParallelismSpec& p = s.parallelism;
    if (s.sweep || !s.search.machines.empty() || s.cluster.sites) {  // over sizes: replicas follow
      EXPECT_TRUE(p.data.is_auto()) << path;
      continue;
    }
    ASSERT_TRUE(p.data.value.has_value()) << path;
    EXPECT_EQ(p.tensor * p.context * p.pipeline * *p.data.value,
              s.cluster.nodes * s.cluster.node.gpus)
        << path;
    EXPECT_EQ(s.training.global_batch % (*p.data.value * p.micro_batch), 0) << path;
  }
}

TEST(Scenarios, CarryThePublishedFiguresAsClaims) {
  EXPECT_EQ(scenario("llama-3.1-405b-16k-h100").scenario.claim.mfu, 0.41);
  EXPECT_EQ(scenario("llama-3.1-405b-8k-h100").scenario.claim.mfu, 0.43);
  EXPECT_EQ(scenario("llama-3.1-405b-16k-h100-128k-context").scenario.claim.mfu, 0.38);
  EXPECT_NEAR(*scenario("gpt-3-175b-1024-a100").scenario.claim.hfu, 140.0 / 312, 5e-4);
  EXPECT_NEAR(*scenario("megatron-1t-3072-a100").scenario.claim.hfu, 163.0 / 312, 5e-4);
  EXPECT_EQ(scenario("coreweave-30b-1024-h100").scenario.claim.ettr, 0.97);
  const auto deepseek = scenario("deepseek-v3-2048-h800").scenario;
  EXPECT_NEAR(deepseek.claim.wall->si() / 3600 * 2048 / 2.664e6, 1, 1e-3);  // GPU-hours
}

TEST(Scenarios, TheSourceOfEveryFigureIsKept) {
  const config::LoadedScenario s = scenario("llama-3.1-405b-16k-h100");
  EXPECT_THAT(config::find_source(s.sources, "cluster.node.gpu.memory"),
              testing::HasSubstr("data sheet"));
  EXPECT_THAT(config::find_source(s.sources, "run.failures.hazards[0].count"),
              testing::HasSubstr("table 5"));
}

}  // namespace
}  // namespace headway
