// NCCL and RCCL topology files: real ones of clouds and of AMD, and broken ones.
#include "sim/import/network/nccl_topology.h"

#include <filesystem>
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

class RealTopology : public testing::Test {
 protected:
  static ImportedNode read(const std::string& name, Architecture architecture) {
    return read_nccl_topology(text_of(kExternal + name), name, architecture);
  }
  void SetUp() override {
    if (!std::filesystem::exists(kExternal)) {
      GTEST_SKIP() << "the shared data are absent: " << kExternal;
    }
  }
};

std::string message_of(std::string_view text) {
  try {
    read_nccl_topology(text, "topo.xml", Architecture::hopper);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(RealTopology, AnH100NodeOfAzureHasEightGpusEachWithItsCard) {
  const ImportedNode node = read("Azure-azhpc-images/topology/ndv5-topo.xml", Architecture::hopper);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.nic.count, 8);
  EXPECT_EQ(node.nic.bandwidth.si(), 50e9);  // 400 Gbps is what PCIe Gen5 x16 carries
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::pcie);
  EXPECT_THAT(node.warnings, Contains(HasSubstr("the file has no links between GPUs")));
}

TEST_F(RealTopology, AnA100NodeOfAwsSharesACardBetweenTwoGpus) {
  const ImportedNode node =
      read("aws-aws-ofi-nccl/topology/p4d-24xl-topo.xml", Architecture::ampere);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.nic.count, 4);
  EXPECT_EQ(node.nic.bandwidth.si(), 12.5e9);  // 100 Gbps is what PCIe Gen3 x16 carries
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST_F(RealTopology, AnMi300xNodeIsAMeshOfSevenLinks) {
  const ImportedNode node =
      read("ROCm-rccl/tools/topo_expl/models/topo_8p_940.xml", Architecture::cdna3);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::mesh);
  EXPECT_EQ(node.scale_up.domain_gpus, 8);
  EXPECT_EQ(node.scale_up.bandwidth.si(), 7 * 48e9);
  EXPECT_EQ(node.nic.count, 8);
  EXPECT_EQ(node.nic.bandwidth.si(), 50e9);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(RealTopology, OlderAmdNodesHaveTheirNarrowerLinks) {
  const ImportedNode rome =
      read("ROCm-rccl/tools/topo_expl/models/topo_8p_rome.xml", Architecture::cdna3);
  EXPECT_EQ(rome.gpus, 8);
  EXPECT_EQ(rome.scale_up.bandwidth.si(), 2 * 24e9);
  const ImportedNode sixteen =
      read("ROCm-rccl/tools/topo_expl/models/topo_16p1h.xml", Architecture::cdna3);
  EXPECT_EQ(sixteen.gpus, 16);
}

TEST_F(RealTopology, LinksThatLeadNowhereAreLeftOut) {
  const ImportedNode node = read("Azure-azhpc-images/topology/ncv4-topo.xml", Architecture::ampere);
  EXPECT_EQ(node.gpus, 4);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::pcie);
  EXPECT_THAT(node.warnings, Contains(HasSubstr("4 links lead to the GPU itself")));
  EXPECT_THAT(node.warnings, Contains(HasSubstr("Gen4 x16 is assumed")));
  EXPECT_EQ(node.nic.count, 1);
  EXPECT_EQ(node.nic.bandwidth.si(), 12.5e9);
}

TEST(NcclTopology, LinksIntoASwitchAreOneDomain) {
  const ImportedNode node = read_nccl_topology(R"(<system version="1">
    <pci busid="a" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu sm="90"><nvlink target="s1" count="10" tclass="0x068000"/><nvlink target="s2" count="8" tclass="0x068000"/></gpu></pci>
    <pci busid="b" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu sm="90"><nvlink target="s1" count="18" tclass="0x068000"/></gpu></pci>
    <pci busid="c" class="0x020700"><nic><net name="mlx5_0" speed="400000" gdr="1"/></nic></pci>
    <nic><net name="eth0" speed="100000" gdr="0"/></nic>
  </system>)",
                                               "topo.xml", Architecture::ampere);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::nvswitch);
  EXPECT_EQ(node.scale_up.domain_gpus, 2);
  EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(),
                   18 * 20.6e9);  // sm 90 is Hopper, whatever the caller said
  EXPECT_EQ(node.nic.count, 1);   // GPU memory is not reachable from eth0
}

TEST(NcclTopology, ErrorsNameTheLine) {
  EXPECT_THAT(message_of("<system>\n<cpu>\n</system>"), HasSubstr("topo.xml:3:"));
  EXPECT_THAT(message_of("<graphs/>"), HasSubstr("has a 'system' element at its root"));
  EXPECT_THAT(message_of("<system/>"), HasSubstr("topo.xml:1:2: the file describes no GPU"));
  EXPECT_THAT(message_of("<system>\n<pci busid=\"a\" class=\"0x030200\"/>\n<pci busid=\"a\" "
                         "class=\"0x030200\"/></system>"),
              HasSubstr("topo.xml:3:2: busid \"a\" is used twice"));
  EXPECT_THAT(
      message_of("<system>\n<pci busid=\"a\" class=\"0x030200\" link_speed=\"fast\"/></system>"),
      HasSubstr("topo.xml:2:2: link_speed=\"fast\" is no number"));
  EXPECT_THAT(message_of(""), HasSubstr("topo.xml:1:1: not well-formed XML"));
}

TEST(NcclTopology, DeepNestingIsRefused) {
  std::string text = "<system>";
  for (int i = 0; i < 100000; ++i) {
    text += "<pci busid=\"" + std::to_string(i) + "\" class=\"0x060400\">";
  }
  for (int i = 0; i < 100000; ++i) {
    text += "</pci>";
  }
  EXPECT_THAT(message_of(text + "</system>"),
              HasSubstr("nested deeper than any machine's PCI tree"));
}

}  // namespace
}  // namespace headway::import
