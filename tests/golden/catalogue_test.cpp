// Every file of the catalogue and every scenario reads, says where its figures come from, and means
// what its source says.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <span>
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

struct PublishedSize {
  const char* entry;
  double billions;
};

/// Source: reports of the models.
constexpr PublishedSize kReportedSizes[] = {
    {"llama-3.1-405b", 405.9},   {"llama-3.1-8b", 8.03},  {"mixtral-8x7b", 46.7},
    {"deepseek-v3", 671.0},      {"gpt-3-175b", 174.6},   {"megatron-1t", 1008.0},
    {"bloom-176b", 176.2},       {"gpt-oss-120b", 116.8}, {"longcat-flash-560b-a27b", 560.0},
    {"arctic-480b-a17b", 480.0}, {"mimo-v2-flash", 309.0}};

/// Source: numbers in the published weights, which model hubs show and public files quote; of
/// models of images and text what llama.cpp counts without the encoder; of Llama 4 Scout 108.64
/// less 0.87 of its encoder; of GLM-4.5-Air those of INTELLECT-3, which has no prediction layer.
constexpr PublishedSize kWeightSizes[] = {{"qwen2.5-0.5b", 0.49403},
                                          {"qwen2.5-1.5b", 1.5437},
                                          {"qwen2.5-3b", 3.0859},
                                          {"qwen2.5-14b", 14.77},
                                          {"qwen2.5-32b", 32.764},
                                          {"qwen3-0.6b", 0.59605},
                                          {"qwen3-1.7b", 1.7206},
                                          {"qwen3-4b", 4.0225},
                                          {"qwen3-14b", 14.768},
                                          {"qwen3-32b", 32.762},
                                          {"qwen3-coder-480b-a35b", 480.15},
                                          {"qwen1.5-moe-a2.7b", 14.316},
                                          {"qwen2-57b-a14b", 57.409},
                                          {"llama-4-scout", 107.77},
                                          {"tinyllama-1.1b", 1.1},
                                          {"codellama-34b", 33.744},
                                          {"mistral-nemo-12b", 12.248},
                                          {"mistral-small-24b", 23.572},
                                          {"mistral-large-123b", 122.61},
                                          {"gemma-2b", 2.5062},
                                          {"gemma-2-2b", 2.6143},
                                          {"gemma-3-1b", 0.99989},
                                          {"gemma-3-4b", 3.8803},
                                          {"gemma-3-12b", 11.766},
                                          {"gemma-3-27b", 27.009},
                                          {"gemma-4-31b", 30.70},
                                          {"gemma-4-26b-a4b", 25.23},
                                          {"phi-3-mini", 3.8211},
                                          {"phi-4", 14.66},
                                          {"phi-4-mini", 3.836},
                                          {"yi-6b", 6.061},
                                          {"yi-9b", 8.8294},
                                          {"yi-34b", 34.389},
                                          {"deepseek-llm-7b", 6.9104},
                                          {"deepseek-moe-16b", 16.376},
                                          {"moonlight-16b-a3b", 15.96},
                                          {"chatglm3-6b", 6.2436},
                                          {"glm-4-9b", 9.4},
                                          {"glm-4.5-air", 106.85},
                                          {"glm-4.7-flash", 29.943},
                                          {"minimax-m2", 228.69},
                                          {"olmo-2-1b", 1.4849},
                                          {"olmo-3-7b", 7.298},
                                          {"olmo-3-32b", 32.234},
                                          {"olmoe-1b-7b", 6.9192},
                                          {"granite-3.0-2b", 2.5335},
                                          {"granite-3.0-8b", 8.1709},
                                          {"granite-3.0-1b-a400m", 1.3346},
                                          {"granite-3.0-3b-a800m", 3.2988},
                                          {"pythia-70m", 0.070427},
                                          {"pythia-160m", 0.16232},
                                          {"pythia-410m", 0.40533},
                                          {"pythia-1b", 1.0118},
                                          {"pythia-1.4b", 1.4146},
                                          {"pythia-2.8b", 2.7752},
                                          {"pythia-6.9b", 6.8573},
                                          {"pythia-12b", 11.846},
                                          {"gpt2", 0.12444},
                                          {"gpt2-medium", 0.35482},
                                          {"gpt2-large", 0.77403},
                                          {"gpt2-xl", 1.5576},
                                          {"internlm2-1.8b", 1.8891},
                                          {"internlm2-7b", 7.7377},
                                          {"internlm2-20b", 19.861},
                                          {"nemotron-nano-9b-v2", 8.8882},
                                          {"seed-oss-36b", 36.151},
                                          {"hunyuan-a13b", 80.39},
                                          {"ling-mini-2.0", 16.256},
                                          {"ling-flash-2.0", 102.89},
                                          {"ling-1t", 999.71},
                                          {"falcon3-1b", 1.6694},
                                          {"falcon3-3b", 3.2277},
                                          {"smollm2-135m", 0.13452},
                                          {"smollm2-360m", 0.36182},
                                          {"smollm2-1.7b", 1.7114},
                                          {"qwen3.5-0.8b", 0.75239},
                                          {"qwen3.5-4b", 4.2058},
                                          {"qwen3.5-9b", 8.9538},
                                          {"qwen3.5-35b-a3b", 34.661},
                                          {"qwen3.5-122b-a10b", 122.11},
                                          {"qwen3-vl-2b", 2.1275},
                                          {"qwen3-vl-4b", 4.4378},
                                          {"qwen3-vl-32b", 33.357},
                                          {"qwen3-vl-30b-a3b", 31.071},
                                          {"qwen3-vl-235b-a22b", 235.67}};

/// Source: rounded counts of model cards, and reports.
constexpr PublishedSize kCardSizes[] = {
    {"qwen1.5-110b", 111.2},        {"phi-3.5-moe", 41.9},
    {"deepseek-llm-67b", 67.4},     {"starcoder2-3b", 3.03},
    {"starcoder2-7b", 7.17},        {"starcoder2-15b", 15.96},
    {"baichuan2-7b", 7.51},         {"baichuan2-13b", 13.9},
    {"internlm3-8b", 8.80},         {"nemotron-mini-4b", 4.19},
    {"nemotron-h-8b", 8.10},        {"nemotron-h-47b", 46.8},
    {"nemotron-nano-12b-v2", 12.3}, {"ernie-4.5-21b-a3b", 21.8},
    {"dots.llm1", 143.0},           {"falcon3-7b", 7.46},
    {"falcon3-10b", 10.3},          {"nemotron-3-ultra-550b-a55b", 550.0}};

/// Source: numbers in the published weights, which hold the prediction layer; of GLM-4.5 those of
/// GLM-4.6, which hold the tables once; of MiMo its model card.
constexpr PublishedSize kPredictingSizes[] = {
    {"glm-4.5", 356.79}, {"mimo-7b", 7.83}, {"hy3", 298.79}};

workload::ParameterCount parameters_of(const std::string& entry) {
  const auto model =
      config::load_entry<workload::ModelSpec>(kConfigs / "models" / (entry + ".yaml"), kOptions);
  return workload::count_parameters(model.spec);
}

TEST(Catalogue, ModelsHaveTheirPublishedSize) {
  const auto expect_near = [](const PublishedSize& published, double parameters) {
    EXPECT_NEAR(parameters / 1e9, published.billions, 0.003 * published.billions)
        << published.entry;
  };
  for (const auto sizes :
       {std::span<const PublishedSize>(kReportedSizes),
        std::span<const PublishedSize>(kWeightSizes), std::span<const PublishedSize>(kCardSizes)}) {
    for (const PublishedSize& published : sizes) {
      expect_near(published, parameters_of(published.entry).total());
    }
  }
  for (const PublishedSize& published : kPredictingSizes) {
    const workload::ParameterCount count = parameters_of(published.entry);
    expect_near(published, count.total() + count.prediction);
  }
}

// The first line of each model's file says its size; half of its last digit is rounding.
TEST(Catalogue, ModelsHaveTheSizeThatTheirFilesSay) {
  const std::regex size(R"(([0-9]+)(\.([0-9]+))? billion parameters)");
  for (const config::CatalogueEntry& entry : config::list_entries("models", {kConfigs})) {
    std::ifstream file(entry.path);
    std::string line;
    std::getline(file, line);
    std::smatch found;
    ASSERT_TRUE(std::regex_search(line, found, size)) << entry.name << ": " << line;
    const double billions = std::stod(found[1].str() + found[2].str());
    const double rounding = 0.5 * std::pow(10.0, -static_cast<double>(found[3].length()));
    EXPECT_NEAR(parameters_of(entry.name).total() / 1e9, billions, rounding + 0.003 * billions)
        << entry.name;
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
