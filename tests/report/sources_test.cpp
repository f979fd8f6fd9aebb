// What a result says of its speeds: where each share comes from, and that the power limit acts.
#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/report/constants.h"
#include "sim/study/predict.h"

namespace headway::report {
namespace {

using testing::HasSubstr;

const std::filesystem::path kConfigs = std::filesystem::path(HEADWAY_SOURCE_DIR) / "configs";

/// One node that trains a model of 1 billion parameters.
std::string scenario(const std::string& node, const std::string& precision = "bf16") {
  return R"(headway: 1
name: one node
cluster:
  nodes: 1
  node: )" +
         node + R"(
  fabric: {name: f, topology: fat_tree, link_bandwidth: 400 Gbps}
  storage: {name: s, write_bandwidth: 10 GB/s, read_bandwidth: 10 GB/s}
model: {name: m, layers: 8, hidden: 2048, heads: 16, key_value_heads: 16, head_dim: 128, ffn: 8192, vocabulary: 32000}
training: {sequence_length: 2048, global_batch: 16, precision: )" +
         precision + R"(}
parallelism: {tensor: 2}
)";
}

study::RunReport run(const std::string& text, std::vector<std::string> set = {}) {
  return study::predict(config::load_scenario_text(text, "s.yaml", {{kConfigs}, std::move(set)}));
}

std::string why(const study::RunReport& report, const std::string& key) {
  const auto& list = report.assumptions;
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& a) { return a.key == key; });
  return found == list.end() ? "absent" : found->why;
}

constexpr const char* kInline = R"(
    name: node
    gpu:
      name: gpu
      architecture: hopper
      peak: {bf16: 1000 TFLOP/s, fp16: 1000 TFLOP/s}
      sustained: {memory: {value: 0.9, source: "my stream benchmark"}}
      memory: 80 GiB
      memory_bandwidth: 3 TB/s
      power: 700 W
    gpus: 8
    scale_up: {kind: pcie, bandwidth: 50 GB/s}
    nic: {count: 8, bandwidth: 400 Gbps})";

TEST(AssumptionSources, AreThoseOfTheFilesOrTheProgramsDefault) {
  const study::RunReport inlined = run(scenario(kInline));
  EXPECT_EQ(why(inlined, "gpu.sustained.gemm_16bit"),
            "the program's default: not measured on this GPU");
  EXPECT_EQ(why(inlined, "gpu.sustained.memory"), "my stream benchmark");
  const study::RunReport catalogue = run(scenario("{use: dgx-h100}"));
  EXPECT_THAT(why(catalogue, "gpu.sustained.gemm_16bit"),
              HasSubstr("fit over 496 published runs (docs/validation.md), standard error 8.4 %"));
}

TEST(AssumptionSources, SayThatVoltasKernelsAreAmperes) {
  EXPECT_THAT(why(run(scenario("{use: dgx-1-v100}", "fp16")), "gpu.architecture"),
              HasSubstr("as on ampere"));
}

TEST(PowerLimit, OfACatalogueNodeChangesTheStep) {
  const double full = run(scenario("{use: dgx-h100}")).step.time.si();
  EXPECT_EQ(run(scenario("{use: dgx-h100}"), {"cluster.node.gpu.power=700 W"}).step.time.si(),
            full);
  EXPECT_GT(
      run(scenario("{use: dgx-h100}"), {"cluster.node.gpu.power=300 W"}).step.time.si() / full,
      1.2);
}

TEST(PowerLimit, BelowIdleIsRefused) {
  try {
    run(scenario("{use: dgx-h100}"), {"cluster.node.gpu.power=60 W"});
    FAIL() << "60 W was accepted";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("a power limit of 60 W leaves nothing above the 70 W that an idle H100"));
  }
}

TEST(MissingFormat, IsRefusedByName) {
  try {
    run(scenario("{use: dgx-1-v100}"));
    FAIL() << "bf16 was accepted";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("V100 32 GB SXM2 has no bf16; use fp16"));
  }
}

TEST(LinkUse, OfAPcieBoxIsLabelledPcie) {
  const auto& links = run(scenario(kInline)).step.links;
  const auto has = [&](const char* tier) {
    return std::any_of(links.begin(), links.end(),
                       [&](const auto& use) { return use.tier == tier; });
  };
  EXPECT_TRUE(has("pcie"));
  EXPECT_FALSE(has("nvlink"));
}

// 0.74 x 8.4 % = 0.0622.
TEST(Constants, OfFitsHaveTheirStandardErrors) {
  int fitted = 0;
  for (const auto& row : constants_table({kConfigs}).rows) {
    EXPECT_EQ(row.back().find("standard error"), std::string::npos)
        << row[0] << " " << row[1] << ": write it as a number, 'standard_error:'";
    fitted += row[4].empty() ? 0 : 1;
    if (row[0] == "gpus/h100-sxm" && row[1] == "sustained.gemm_16bit") {
      EXPECT_EQ(row[4], "0.0622");
    }
  }
  EXPECT_GE(fitted, 50);
}

TEST(Constants, OfEveryRoomWithModelsAreListedWithASource) {
  std::set<std::string> rooms;
  for (const auto& row : constants_table({kConfigs}).rows) {
    if (row[0].starts_with("models/") && row[0].find("models/", 1) == std::string::npos) {
      rooms.insert(row[0]);
      EXPECT_FALSE(row.back().empty()) << row[0] << " " << row[1];
    }
  }
  for (const char* room : {"campaign", "gpu", "network", "training", "validation", "workload"}) {
    EXPECT_TRUE(rooms.contains(std::string("models/") + room)) << room;
  }
}

// Groups inside a group as well: nanotron's CPU time a layer, EFA's latency a node.
TEST(Constants, AreListedOnceEach) {
  std::set<std::string> listed;
  for (const auto& row : constants_table({kConfigs}).rows) {
    EXPECT_TRUE(listed.insert(row[0] + " " + row[1]).second) << row[0] << " " << row[1];
  }
  for (const char* constant :
       {"frameworks/nanotron host.layer", "fabrics/efa node_latency",
        "models/training memory_headroom", "models/validation error_of_new_gpu"}) {
    EXPECT_TRUE(listed.contains(constant)) << constant;
  }
}

}  // namespace
}  // namespace headway::report
