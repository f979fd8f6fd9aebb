// Matrices of `nvidia-smi topo -m`: switch, mesh and PCIe nodes, cards that do not count, damaged
// matrices.
#include "sim/import/network/nvidia_smi_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

using gpu::Architecture;
using network::ScaleUpKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace core::literals;

ImportedNode read_matrix(std::string_view text, Architecture architecture) {
  return read_nvidia_smi_topology(text, "topo.txt", architecture, 400_Gbps);
}

std::string smi_message(std::string_view text) {
  try {
    read_matrix(text, Architecture::hopper);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

// The first line carries the terminal's underline codes, as the tool writes them.
const std::string kSwitched =
    "$ nvidia-smi topo -m\n"
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tNIC0\tNIC1\tNIC2\tNIC3\tCPU Affinity\tNUMA Affinity\tGPU NUMA "
    "ID\x1b[0m\n"
    "GPU0\t X \tNV18\tNV18\tNODE\tPIX\tNODE\tSYS\t0-55,112-167\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tNV18\tNODE\tNODE\tPIX\tSYS\t0-55,112-167\t0\t\tN/A\n"
    "GPU2\tNV18\tNV18\t X \tSYS\tSYS\tSYS\tPXB\t56-111,168-223\t1\t\tN/A\n"
    "NIC0\tNODE\tNODE\tSYS\t X \tNODE\tNODE\tSYS\n"
    "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n";

TEST(NvidiaSmiTopology, AllLinksToEveryPeerMeanASwitch) {
  const ImportedNode node = read_matrix(kSwitched, Architecture::hopper);
  EXPECT_EQ(node.gpus, 3);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::nvswitch);
  EXPECT_EQ(node.scale_up.domain_gpus, 3);
  EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(), 18 * 25e9);  // NVLink 4
  EXPECT_TRUE(node.scale_up.in_switch_reduction);
}

TEST(NvidiaSmiTopology, OnlySwitchesFromHopperOnReduce) {
  const ImportedNode node = read_matrix(
      "\tGPU0\tGPU1\tGPU2\nGPU0\tX\tNV12\tNV12\nGPU1\tNV12\tX\tNV12\n"
      "GPU2\tNV12\tNV12\tX\n",
      Architecture::ampere);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::nvswitch);
  EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(), 12 * 25e9);
  EXPECT_FALSE(node.scale_up.in_switch_reduction);
}

TEST(NvidiaSmiTopology, CardsNearNoGpuDoNotCount) {
  const ImportedNode node = read_matrix(kSwitched, Architecture::hopper);
  EXPECT_EQ(node.nic.count, 3);  // NIC0 sits behind no GPU's PCIe switch
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2));
  EXPECT_EQ(node.nic.bandwidth.si(), 50e9);
  EXPECT_THAT(node.warnings,
              Contains(HasSubstr("1 of 4 network cards sit behind no GPU's PCIe switch")));
}

// Eight GPUs with 18 links to each other; of ten cards, NIC4 and NIC9 are behind no GPU's switch,
// so GPUs 4 to 7 have NIC5 to NIC8, the cards 4 to 7 of those that count.
TEST(NvidiaSmiTopology, EightGpusAndTenCardsAreRead) {
  const ImportedNode node =
      read_matrix(text_of(kData + "topology/switched.txt"), Architecture::hopper);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::nvswitch);
  EXPECT_EQ(node.scale_up.domain_gpus, 8);
  EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(), 18 * 25e9);
  EXPECT_EQ(node.nic.count, 8);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(node.warnings,
              Contains(HasSubstr("2 of 10 network cards sit behind no GPU's PCIe switch")));
}

TEST(NvidiaSmiTopology, ShareOfTheLinksToEachPeerMeansAMesh) {
  const ImportedNode node = read_matrix(
      "\tGPU0\tGPU1\tGPU2\tGPU3\n"
      "GPU0\tX\tNV4\tNV4\tNV4\nGPU1\tNV4\tX\tNV4\tNV4\n"
      "GPU2\tNV4\tNV4\tX\tNV4\nGPU3\tNV4\tNV4\tNV4\tX\n",
      Architecture::ampere);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::mesh);
  EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(), 12 * 25e9);
  EXPECT_THAT(node.warnings, Contains(HasSubstr("no network card")));
}

TEST(NvidiaSmiTopology, BridgedPairsAreDomainsOfTwo) {
  const ImportedNode node = read_matrix(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\n"
      "GPU0\tX\tNV12\tSYS\tSYS\tSYS\nGPU1\tNV12\tX\tSYS\tSYS\tSYS\n"
      "GPU2\tSYS\tSYS\tX\tNV12\tSYS\nGPU3\tSYS\tSYS\tNV12\tX\tNODE\n",
      Architecture::ampere);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::mesh);
  EXPECT_EQ(node.scale_up.domain_gpus, 2);
  EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(), 12 * 25e9);
  EXPECT_EQ(node.nic.count, 1);  // near no GPU, but the only one
}

TEST(NvidiaSmiTopology, GpusWithoutNvlinkAreJoinedByPcie) {
  const ImportedNode node = read_matrix(
      "\tGPU0\tGPU1\tNIC0\nGPU0\tX\tSYS\tPIX\nGPU1\tSYS\tX\tSYS\n", Architecture::hopper);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::pcie);
  EXPECT_EQ(node.scale_up.domain_gpus, 2);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 0));
}

TEST(NvidiaSmiTopology, DamagedMatricesAreNamed) {
  EXPECT_THAT(smi_message("hello\n"),
              HasSubstr("topo.txt: no matrix of 'nvidia-smi topo -m' in this file"));
  EXPECT_THAT(smi_message("\tGPU0\tGPU1\nGPU0\tX\tNVX\nGPU1\tSYS\tX\n"),
              HasSubstr("topo.txt:2:8: 'NVX' is no connection; known are X, NV#"));
  EXPECT_THAT(smi_message("\tGPU0\tGPU1\nGPU0\tX\n"),
              HasSubstr("topo.txt:2:1: the row of GPU0 has 1 cells for 2 columns"));
  EXPECT_THAT(smi_message("\tGPU0\tGPU1\nGPU0\tX\tSYS\n"),
              HasSubstr("2 GPU columns and 1 GPU rows; is the file cut?"));
}

}  // namespace
}  // namespace headway::import
