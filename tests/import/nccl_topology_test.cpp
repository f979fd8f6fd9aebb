// NCCL and RCCL topology files: nodes on switches, of clouds and of AMD, and broken ones.
#include "sim/import/network/nccl_topology.h"

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

std::string nccl_message(std::string_view text) {
  try {
    read_nccl_topology(text, "topo.xml", Architecture::hopper);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

ImportedNode read(const std::string& name, Architecture architecture) {
  return read_nccl_topology(text_of(kData + "topology/" + name), name, architecture);
}

// Each GPU has 5 + 4 + 4 + 5 = 18 links into four switches. Of ten cards the two for management do
// not reach GPU memory. The second socket lists its cards from the last to the first, so a GPU's
// card is found by the PCI switch that both hang on, whatever its name.
TEST(NcclTopology, EightGpusOnSwitchesHaveTheirCards) {
  const ImportedNode node = read("switched.xml", Architecture::ampere);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::nvswitch);
  EXPECT_EQ(node.scale_up.domain_gpus, 8);
  EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(), 18 * 25e9);  // sm 90, whatever the caller said
  EXPECT_TRUE(node.scale_up.in_switch_reduction);
  EXPECT_EQ(node.nic.count, 8);
  EXPECT_EQ(node.nic.bandwidth.si(), 50e9);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_TRUE(node.warnings.empty()) << node.warnings.front();
}

// 16 GT/s x 16 lanes x 128/130 / 8 = 31.5 GB/s: the largest card that fits has 200 Gbps. Two GPUs
// share the card of their switch.
TEST(NcclTopology, AVirtualMachineWithoutLinksIsJoinedByPcie) {
  const ImportedNode node = read("virtual.xml", Architecture::hopper);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::pcie);
  EXPECT_EQ(node.nic.count, 4);
  EXPECT_EQ(node.nic.bandwidth.si(), 25e9);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(node.warnings, Contains(HasSubstr("the file has no links between GPUs")));
  EXPECT_THAT(node.warnings, Contains(HasSubstr("200 Gbps is assumed")));
}

// One link to each of seven others, 64 GB/s each.
TEST(NcclTopology, AMeshOfAmdGpusHasSevenLinks) {
  const ImportedNode node = read("mesh.xml", Architecture::cdna3);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::mesh);
  EXPECT_EQ(node.scale_up.domain_gpus, 8);
  EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(), 7 * 64e9);
  EXPECT_EQ(node.nic.count, 8);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

/// GPUs in a ring of this AMD chip, `count` links to each of two neighbours.
std::string ring_of(const char* gcn, int gpus, int count) {
  std::string text = "<system version=\"1\">\n";
  for (int i = 0; i < gpus; ++i) {
    text += fmt::format(
        "<pci busid=\"0000:{:02x}:00.0\" class=\"0x030000\" link_speed=\"16.0 GT/s PCIe\" "
        "link_width=\"16\"><gpu dev=\"{}\" gcn=\"{}\">",
        i, i, gcn);
    for (const int peer : {(i + 1) % gpus, (i + gpus - 1) % gpus}) {
      text += fmt::format("<xgmi target=\"0000:{:02x}:00.0\" count=\"{}\" tclass=\"0x030000\"/>",
                          peer, count);
    }
    text += "</gpu></pci>\n";
  }
  return text + "</system>\n";
}

// Two neighbours: 2 links of 46 GB/s (gfx908), 50 (gfx90a) or 64 (gfx942).
TEST(NcclTopology, LinksOfAmdChipsHaveTheirGenerationsRate) {
  for (const auto& [gcn, rate] : {std::pair{"908", 46e9}, {"gfx90a", 50e9}, {"gfx942", 64e9}}) {
    const ImportedNode node =
        read_nccl_topology(ring_of(gcn, 4, 1), "ring.xml", Architecture::cdna3);
    EXPECT_EQ(node.gpus, 4);
    EXPECT_DOUBLE_EQ(node.scale_up.bandwidth.si(), 2 * rate) << gcn;
  }
}

TEST(NcclTopology, LinksThatLeadNowhereAreLeftOut) {
  const ImportedNode node = read_nccl_topology(
      "<system version=\"1\">"
      "<pci busid=\"1\" class=\"0x030200\" link_speed=\"\" link_width=\"0\"><gpu sm=\"80\">"
      "<nvlink target=\"1\" count=\"12\" tclass=\"0x030200\"/></gpu></pci>"
      "<pci busid=\"2\" class=\"0x030200\" link_speed=\"\" link_width=\"0\"><gpu sm=\"80\">"
      "<nvlink target=\"9\" count=\"12\" tclass=\"0x030200\"/></gpu></pci>"
      "<nic><net name=\"eth0\" speed=\"100000\" gdr=\"0\"/></nic></system>",
      "vm.xml", Architecture::ampere);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::pcie);
  EXPECT_THAT(node.warnings, Contains(HasSubstr("2 links lead to the GPU itself")));
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
                   18 * 25e9);   // sm 90 is Hopper, whatever the caller said
  EXPECT_EQ(node.nic.count, 1);  // GPU memory is not reachable from eth0
}

TEST(NcclTopology, ErrorsNameTheLine) {
  EXPECT_THAT(nccl_message("<system>\n<cpu>\n</system>"), HasSubstr("topo.xml:3:"));
  EXPECT_THAT(nccl_message("<graphs/>"), HasSubstr("has a 'system' element at its root"));
  EXPECT_THAT(nccl_message("<system/>"), HasSubstr("topo.xml:1:2: the file describes no GPU"));
  EXPECT_THAT(nccl_message("<system>\n<pci busid=\"a\" class=\"0x030200\"/>\n<pci busid=\"a\" "
                           "class=\"0x030200\"/></system>"),
              HasSubstr("topo.xml:3:2: busid \"a\" is used twice"));
  EXPECT_THAT(
      nccl_message("<system>\n<pci busid=\"a\" class=\"0x030200\" link_speed=\"fast\"/></system>"),
      HasSubstr("topo.xml:2:2: link_speed=\"fast\" is no number"));
  EXPECT_THAT(nccl_message(""), HasSubstr("topo.xml:1:1: not well-formed XML"));
}

TEST(NcclTopology, DeepNestingIsRefused) {
  std::string text = "<system>";
  for (int i = 0; i < 100000; ++i) {
    text += "<pci busid=\"" + std::to_string(i) + "\" class=\"0x060400\">";
  }
  for (int i = 0; i < 100000; ++i) {
    text += "</pci>";
  }
  EXPECT_THAT(nccl_message(text + "</system>"),
              HasSubstr("nested deeper than any machine's PCI tree"));
}

}  // namespace
}  // namespace headway::import
