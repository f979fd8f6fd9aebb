// Names of GPUs among other words of their cell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

RunPrediction of_gpu(const char* gpu) { return predicted({{"gpu", gpu}}); }

TEST(GpuWords, TheModelIsFoundAmongAllWordsAndTheOthersAreTold) {
  for (const auto& [gpu, entry, told] :
       {std::tuple("JUWELS Booster (A100 40 GB)", "a100-40gb-sxm", "juwels booster"),
        std::tuple("Perlmutter A100", "a100-80gb-sxm", "perlmutter"),
        std::tuple("Selene A100-80", "a100-80gb-sxm", "selene"),
        std::tuple("Snellius H100 SXM5", "h100-sxm", "snellius"),
        std::tuple("LUMI MI250X", "mi250x", "lumi"),
        std::tuple("OSC Ascend A100", "a100-80gb-sxm", "osc ascend"),
        std::tuple("Frontier MI250X GCD", "mi250x", "frontier"),
        std::tuple("p5.48xlarge with H200", "h200-sxm", "p5.48xlarge")}) {
    const auto row = scenario({{"gpu", gpu}});
    EXPECT_EQ(row.cluster.node.gpu.name, catalogue().gpus.at(entry).name) << gpu;
    EXPECT_THAT(of_gpu(gpu).status, HasSubstr(std::string("not understood in gpu: ") + told));
    EXPECT_THAT(of_gpu(gpu).assumed, Contains("gpu"));
  }
  for (const char* gpu : {"MareNostrum 5 H100 64GB", "Leonardo custom Ampere A100 64GB HBM2e"}) {
    EXPECT_EQ(scenario({{"gpu", gpu}}).cluster.node.gpu.memory.si(), 64.0 * (1 << 30)) << gpu;
  }
}

// A size without its unit beside one that has it counts something, and so does one before "nodes".
TEST(GpuWords, NodesAreNoMemory) {
  for (const char* gpu : {"H100 SXM5 80GB (48 nodes)", "H100 SXM5 80GB (32 of them)",
                          "H100 SXM 80 GB x 16", "H100 SXM (40 nodes of 8)", "H100 SXM x 48"}) {
    EXPECT_EQ(scenario({{"gpu", gpu}}).cluster.node.gpu, scenario({}).cluster.node.gpu) << gpu;
  }
  EXPECT_EQ(scenario({{"gpu", "A100 80GB (40 nodes of 8)"}}).cluster.node.gpu.name,
            catalogue().gpus.at("a100-80gb-sxm").name);
  EXPECT_EQ(scenario({{"gpu", "A100-SXM4-40"}}).cluster.node.gpu.name,
            catalogue().gpus.at("a100-40gb-sxm").name);
}

// A cloud's instance in the cell has its GPU and, where nothing else is said, its cards.
TEST(GpuWords, InstancesGiveTheirGpuAndNode) {
  for (const auto& [gpu, node] :
       {std::pair("p4d.24xlarge", "p4d-24xlarge"), std::pair("A100 40GB (AWS p4d)", "p4d-24xlarge"),
        std::pair("p5.48xlarge H100", "p5-48xlarge"), std::pair("H100 80GB p5", "p5-48xlarge"),
        std::pair("a3-megagpu-8g", "a3-megagpu-8g"),
        std::pair("a3-highgpu-8g (H100)", "a3-highgpu-8g"),
        std::pair("Standard_ND96isr_H100_v5", "dgx-h100")}) {
    const Cells cells{{"gpu", gpu},
                      {"network", ""},
                      {"nics_per_node", ""},
                      {"nic_gbps", ""},
                      {"nvlink_domain", ""}};
    const auto machine = scenario(cells).cluster.node;
    const training::NodeSpec& known = catalogue().nodes.at(node);
    EXPECT_EQ(machine.gpu.name, known.gpu.name) << gpu;
    EXPECT_EQ(machine.nic.count, known.nic.count) << gpu;
    EXPECT_EQ(machine.nic.bandwidth, known.nic.bandwidth) << gpu;
    EXPECT_THAT(predicted(cells).status, testing::Not(HasSubstr("not understood"))) << gpu;
  }
  // The network's own words speak before it.
  const auto other = scenario({{"gpu", "A100 40GB (p4d)"},
                               {"network", "8x HDR InfiniBand"},
                               {"nics_per_node", ""},
                               {"nic_gbps", ""}});
  EXPECT_EQ(other.cluster.node.nic.count, 8);
  EXPECT_EQ(other.cluster.fabric.node_latency.si(), 0);
}

TEST(GpuWords, CountsPluralsAndGluedWordsAreRead) {
  for (const auto& [gpu, entry] :
       {std::pair("8*A100-80G", "a100-80gb-sxm"), std::pair("64x H100", "h100-sxm"),
        std::pair("A100*8", "a100-80gb-sxm"), std::pair("H100s", "h100-sxm"),
        std::pair("A100SXM480GB", "a100-80gb-sxm"), std::pair("A100PCIe40GB", "a100-40gb-pcie"),
        std::pair("L40S", "l40s"), std::pair("RTX PRO 6000 Blackwell", "rtx-pro-6000-blackwell"),
        std::pair("Grace Hopper", "gh200-96gb"), std::pair("GH200 (H100 96GB)", "gh200-96gb"),
        std::pair("GB200 (2x B200 + Grace)", "gb200"), std::pair("NVIDIA H100 SXM", "h100-sxm")}) {
    const auto row = scenario({{"gpu", gpu}});
    EXPECT_THAT(row.cluster.node.gpu.name, StartsWith(catalogue().gpus.at(entry).name)) << gpu;
    EXPECT_THAT(of_gpu(gpu).status, testing::Not(HasSubstr("not understood"))) << gpu;
  }
}

// Made for export with slower bridges: chip and memory are the other card's.
TEST(GpuWords, CardsForExportAreTheCardsTheyAreMadeOf) {
  for (const auto& [gpu, card] :
       {std::pair("A800-80G-PCIe", "A100-80G-PCIe"), std::pair("A800 PCIe 40GB", "A100-40G-PCIe"),
        std::pair("NVIDIA H800 PCIe", "H100 PCIe")}) {
    EXPECT_EQ(of_gpu(gpu).predicted, of_gpu(card).predicted) << gpu;
    EXPECT_THAT(of_gpu(gpu).assumed, Contains("gpu")) << gpu;
  }
  EXPECT_EQ(scenario({{"gpu", "H800"}}).cluster.node.gpu.name,
            catalogue().gpus.at("h800-sxm").name);
}

TEST(GpuWords, WattsBehindASpaceLimitTheBoard) {
  for (const auto& [gpu, watts] :
       {std::pair("A100-SXM4-80GB @ 275 W", 275), std::pair("H100 SXM 700W limited to 400 W", 400),
        std::pair("H100 SXM (500 watts)", 500)}) {
    EXPECT_EQ(scenario({{"gpu", gpu}}).cluster.node.gpu.power.si(), watts) << gpu;
    EXPECT_THAT(of_gpu(gpu).assumed, Contains("gpu variant"));
  }
}

TEST(GpuWords, PartsAndOtherChipsAreRefusedByName) {
  for (const char* gpu : {"H100 MIG 3g.40gb", "A100 3g.20gb", "A100 vGPU"}) {
    EXPECT_EQ(of_gpu(gpu).status,
              "skipped:'" + std::string(gpu) + "' is a part of a GPU, which is not modelled");
  }
  for (const char* gpu : {"A800 40GB Active",
                          "RTX 5090 D",
                          "RTX 5090D",
                          "H20-3e",
                          "RTX 3090 Ti",
                          "V100S-PCIE-32GB",
                          "TPU v4",
                          "8x TPU v5e",
                          "TPU v4 (A100 of the paper beside it)",
                          "Gaudi2 96GB",
                          "Intel Gaudi 3 against H100",
                          "AWS Trainium2",
                          "trn1.32xlarge",
                          "Cerebras WSE-2",
                          "Aurora Max 1550 tile",
                          "Ascend 910B",
                          "Graphcore Bow IPU",
                          "MI100 32GB",
                          "LUMI MI210",
                          "Titan V",
                          "TITAN RTX 24GB",
                          "P100 and V100"}) {
    EXPECT_EQ(of_gpu(gpu).status, "skipped:unknown GPU " + std::string(gpu));
  }
  EXPECT_EQ(of_gpu("A100 or H100").status, "skipped:'A100 or H100' names two GPUs, a100 and h100");
  EXPECT_THAT(of_gpu("H100 SXM (not A100)").status, StartsWith("ok"));
}

}  // namespace
}  // namespace headway::validation
