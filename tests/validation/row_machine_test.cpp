// GPUs and nodes of rows: found by the words of their names, with the numbers that the row states.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

TEST(RowMachine, GpusHaveManyNames) {
  const std::pair<const char*, const char*> kNames[] = {
      {"8x A100", "a100-80gb-sxm"},
      {"8xA100-80GB", "a100-80gb-sxm"},
      {"A100 40 GB", "a100-40gb-sxm"},
      {"A100-40", "a100-40gb-sxm"},
      {"Hopper H100", "h100-sxm"},
      {"NVIDIA Blackwell Ultra GPU (GB300)", "gb300"},
      {"NVIDIA GH200 480GB", "gh200-96gb"},
      {"MI-300X", "mi300x"},
      {"MI250", "mi250x"},
      {"A10G", "a10"}};
  for (const auto& [name, entry] : kNames) {
    const auto gpu = scenario({{"gpu", name}, {"precision", "fp16"}}).cluster.node.gpu.name;
    if (std::string(name).find("GH200") == std::string::npos) {  // two boards have that name
      EXPECT_EQ(gpu, catalogue().gpus.at(entry).name) << name;
    } else {
      EXPECT_EQ(gpu.rfind("GH200", 0), 0U) << gpu;
    }
  }
  EXPECT_THAT(predicted({{"gpu", "MI250"}}).assumed, Contains("gpu"));
}

// Four modules a node are eight GPUs, and 10,000 tokens/s of a module are 5,000 of a GPU.
TEST(RowMachine, ModulesOfTwoDiesAreCountedAsTwoGpus) {
  Cells cells{{"n_gpus", "8"},       {"gpus_per_node", "4"}, {"dp", ""},
              {"nvlink_domain", ""}, {"nics_per_node", "4"}, {"nic_gbps", "200"}};
  for (const char* name : {"MI250X", "AMD Instinct MI250X 128GB", "MI250X (module)", "MI250"}) {
    cells["gpu"] = name;
    const auto cluster = scenario(cells).cluster;
    EXPECT_EQ(cluster.nodes, 2) << name;
    EXPECT_EQ(cluster.node.gpus, 8) << name;
    EXPECT_EQ(cluster.node.nic.count, 4) << name;
    EXPECT_EQ(cluster.node.gpu.memory, catalogue().gpus.at("mi250x").memory) << name;
    const auto run = predicted(cells);
    EXPECT_EQ(run.measured, 5000) << name;
    EXPECT_THAT(run.status, StartsWith("ok-assumed: gpu is counted in modules of two GPUs"))
        << name;
    EXPECT_THAT(run.assumed, Contains("gpu")) << name;
  }
  // Dies by their name, by their number on a node, or by the ranks that the layout has.
  const auto dies = [&](const Cells& changes) {
    Cells changed = cells;
    changed["gpu"] = "MI250X";
    for (const auto& [column, text] : changes) {
      changed[column] = text;
    }
    return predicted(changed).measured;
  };
  EXPECT_EQ(dies({{"gpu", "MI250X GCD"}}), 10000);
  EXPECT_EQ(dies({{"gpus_per_node", "8"}}), 10000);
  EXPECT_EQ(dies({{"dp", "2"}}), 10000);  // 2 x 2 x 2 ranks on 8 GPUs
  EXPECT_EQ(dies({{"dp", "4"}}), 5000);
}

// A board without a node of its own sits in that of its sibling, not in a PCIe slot.
TEST(RowMachine, ABoardWithAnotherMemoryHasItsSiblingsNode) {
  const auto bandwidth = [](const char* gpu) {
    return scenario({{"gpu", gpu}, {"precision", "fp16"}, {"nvlink_domain", ""}})
        .cluster.node.scale_up.bandwidth;
  };
  EXPECT_EQ(bandwidth("V100-SXM2-16GB"), bandwidth("V100-SXM2-32GB"));
  EXPECT_EQ(bandwidth("GH200-144G"), bandwidth("GH200-96G"));
}

// Measured collectives are of GPUs that all meet over NVSwitch.
TEST(RowMachine, BoardsInSlotsDoNotHaveTheCurvesOfSwitchedOnes) {
  const auto curves = [](const Cells& changes) {
    return scenario(changes).calibration.collectives.size();
  };
  EXPECT_GT(curves({{"gpu", "A100-80G-SXM"}}), 0U);
  EXPECT_EQ(curves({{"gpu", "A100 PCIe 80GB"}}), 0U);
  EXPECT_EQ(curves({{"gpu", "A100-80G-SXM"}, {"nvlink_domain", "1"}}), 0U);
}

TEST(RowMachine, TheNodeIsTheCataloguesWithWhatTheRowStates) {
  const auto pcie = scenario({{"gpu", "H100-80G-PCIe"}}).cluster.node;
  EXPECT_EQ(pcie.scale_up.kind, network::ScaleUpKind::pcie);
  EXPECT_EQ(pcie.scale_up.bandwidth.si(), 25e9);
  EXPECT_EQ(pcie.nic.bandwidth.si(), 50e9);  // the row's 8 x 400 Gbps, not the server's two
  EXPECT_EQ(pcie.nic.count, 8);
  const auto amd = scenario({{"gpu", "MI300X"}}).cluster.node.scale_up;
  EXPECT_EQ(amd.kind, network::ScaleUpKind::mesh);
  EXPECT_FALSE(amd.in_switch_reduction);
  EXPECT_EQ(scenario({{"gpu", "H800-80G-SXM"}}).cluster.node.scale_up.bandwidth.si(), 200e9);
  EXPECT_TRUE(scenario({}).cluster.node.scale_up.in_switch_reduction);
}

// 12 GPUs are two halves of six, not one node of eight; 13 fill nothing.
TEST(RowMachine, GpusFillNodesEvenlyOrAreRefused) {
  const Cells twelve{{"n_gpus", "12"}, {"global_batch", "24"}, {"dp", "3"}};
  EXPECT_EQ(scenario(twelve).cluster.nodes, 2);
  EXPECT_EQ(scenario(twelve).cluster.node.gpus, 6);
  EXPECT_THAT(predicted(twelve).assumed, Contains("gpus_per_node"));
  EXPECT_EQ(predicted({{"n_gpus", "13"}}).status, "skipped:13 GPUs do not fill nodes of 8");
}

}  // namespace
}  // namespace headway::validation
