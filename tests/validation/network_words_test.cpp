// Cards of a node in a source's words for its network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// The stated run without the columns of its cards.
Cells worded(const char* words, const char* gpu = "H100-80G-SXM") {
  return {{"network", words}, {"nics_per_node", ""}, {"nic_gbps", ""}, {"gpu", gpu}};
}

// Gigabits a second of a node of eight, whose catalogue entry has eight cards of 400.
TEST(NetworkWords, CardsAreReadHoweverTheyAreWritten) {
  struct Case {
    const char* words;
    int count;
    double rate;
  };
  for (const Case& c : {Case{"8x NDR-400 IB", 8, 400},
                        Case{"Azure ND A100 v4 8x HDR", 8, 200},
                        Case{"4x Slingshot-11 200Gbps per node", 4, 200},
                        Case{"Slingshot-11, 4 NICs per node", 4, 200},
                        Case{"4x200 Gbps", 4, 200},
                        Case{"4x Slingshot-11 NICs", 4, 200},
                        Case{"8x ConnectX-7 NICs", 8, 400},
                        Case{"4 ConnectX-6 HDR NICs", 4, 200},
                        Case{"100 GbE, Andromeda", 1, 100},
                        Case{"4x HDR100", 4, 100},
                        Case{"400Gbps x 8", 8, 400},
                        Case{"OCI RoCE v2 RDMA 8x2x200 Gbps", 8, 400},
                        Case{"1x HDR100", 1, 100},
                        Case{"single 100G NIC", 1, 100},
                        Case{"dual 100G NICs", 2, 100},
                        Case{"10 Gb Ethernet", 1, 10},
                        Case{"100 GbE", 1, 100},
                        Case{"TCP/IP 25Gbps", 1, 25},
                        Case{"25 Gbps", 1, 25},
                        Case{"200 Gbps IB (shared by 8 GPUs)", 1, 200},
                        Case{"400G (shared by 4 GPUs)", 2, 400},
                        Case{"200 Gb/s", 8, 200},
                        Case{"50 GB/s InfiniBand", 8, 400},
                        Case{"InfiniBand HDR", 8, 200},
                        Case{"RoCEv2 200G", 8, 200},
                        Case{"200 Gb/s RDMA per GPU", 8, 200},
                        Case{"1600 Gbps RoCE per node", 8, 200},
                        Case{"800 Gb/s per node (4x HDR-200 IB)", 4, 200},
                        Case{"1.6 Tbps per node", 8, 200},
                        Case{"3.2 Tbps", 8, 400},
                        Case{"AWS EFA 1600", 8, 200},
                        Case{"EFA 400 Gbps", 8, 50},
                        Case{"InfiniBand", 8, 400},
                        Case{"AWS EFAv2", 8, 400},
                        Case{"", 8, 400}}) {
    const auto node = scenario(worded(c.words)).cluster.node;
    EXPECT_EQ(node.nic.count, c.count) << c.words;
    EXPECT_NEAR(node.nic.bandwidth.si() * 8e-9, c.rate, 1e-9) << c.words;
    EXPECT_THAT(predicted(worded(c.words)).assumed, Contains("network")) << c.words;
  }
}

// A server of cards in slots has one; a rate that words give is of each card of the node.
TEST(NetworkWords, CardsThatAreNotCountedAreTheNodesOwn) {
  const auto node = scenario(worded("InfiniBand HDR", "RTX 4090")).cluster.node;
  EXPECT_EQ(node.nic.count, 1);
  EXPECT_EQ(node.nic.bandwidth.si(), 25e9);
}

TEST(NetworkWords, ColumnsSpeakBeforeWords) {
  const auto node = scenario({{"network", "100 GbE"}}).cluster.node;
  EXPECT_EQ(node.nic.count, 8);
  EXPECT_EQ(node.nic.bandwidth.si(), 50e9);
  EXPECT_EQ(predicted({{"network", "100 GbE"}}).status, "ok");
  EXPECT_THAT(predicted({{"network", "TCP/IP"}}).status, HasSubstr("TCP is read as a transport"));
}

struct CardsCase {
  const char* words;
  int count;
  double rate;
};

void expect_cards(const char* gpu, std::initializer_list<CardsCase> cases) {
  for (const CardsCase& c : cases) {
    const auto node = scenario(worded(c.words, gpu)).cluster.node;
    EXPECT_EQ(node.nic.count, c.count) << c.words;
    EXPECT_NEAR(node.nic.bandwidth.si() * 8e-9, c.rate, 1e-9) << c.words;
  }
}

// Figures of what is no card's are left; the catalogue's node has eight cards of 200.
TEST(NetworkWords, RatesOfNvlinkPcieMemoryAndSwitchesAreNotTheCards) {
  expect_cards("A100-SXM4-80GB", {{"NVLink 600 GB/s, 25 GbE", 1, 25},
                                  {"25 GbE (NVLink 600 GB/s inside)", 1, 25},
                                  {"NVLink (600 GB/s), 100 GbE", 1, 100},
                                  {"NVSwitch 600GB/s, 8x200G HDR", 8, 200},
                                  {"NVLink 900GB/s + 400Gb IB", 8, 400},
                                  {"200 Gb/s; NVLink 300 GB/s", 8, 200},
                                  {"HDR 200 Gb/s NVLink 600 GB/s", 8, 200},
                                  {"PCIe 4.0 x16 (64 GB/s), 10 GbE", 1, 10},
                                  {"PCIe Gen4 x16 64GB/s, 100G RoCE", 8, 100},
                                  {"PCIe Gen3 (16 GB/s), 1x 100Gb", 1, 100},
                                  {"no NVLink, PCIe Gen3 x8", 8, 200},
                                  {"8x A100 80GB per node, 100GbE", 1, 100},
                                  {"40 GB A100s, 100 Gb/s IB", 8, 100},
                                  {"NVLink 300GB/s intra, 4x EDR", 4, 100},
                                  {"HDR InfiniBand (200 Gb/s), 512 GB RAM", 8, 200},
                                  {"100 GbE, 1 TB RAM per node", 1, 100},
                                  {"2x AMD EPYC, 4x HDR", 4, 200},
                                  {"10 GB Ethernet", 1, 10},
                                  {"12.8Tbps leaf", 8, 200},
                                  {"25.6 Tb/s switches, 8x400G", 8, 400},
                                  {"bisection 10 TB/s; 8x100G", 8, 100},
                                  {"NVLink Switch 1.8 TB/s", 8, 200},
                                  {"800 Gb/s (4x HDR) per node, NVLink3 600GB/s", 4, 200}});
}

TEST(NetworkWords, CardsAreCountedByGpusAndByFactors) {
  expect_cards("A100-SXM4-80GB", {{"10GigE", 1, 10},
                                  {"gigabit ethernet", 1, 1},
                                  {"2x OPA", 2, 100},
                                  {"2x Omni-Path", 2, 100},
                                  {"1 x 100G OPA", 1, 100},
                                  {"Omni-Path", 8, 100},
                                  {"Omni-Path 100", 8, 100},
                                  {"OPA-100", 8, 100},
                                  {"Slingshot 10", 8, 100},
                                  {"Slingshot-10", 8, 100},
                                  {"Slingshot 11 (4x200)", 4, 200},
                                  {"4x Slingshot-11, 200 Gbps", 4, 200},
                                  {"4x EDR", 4, 100},
                                  {"NVLink within node, 4x HDR across nodes", 4, 200},
                                  {"1 HDR NIC per 4 GPUs", 2, 200},
                                  {"one NIC per GPU, 100 Gbps", 8, 100},
                                  {"2 NICs per GPU, 100 Gbps", 8, 200},
                                  {"4 ConnectX-6 HDR", 4, 200},
                                  {"Omni-Path 100 Gb/s, 1 HFI", 1, 100},
                                  {"2-rail HDR, rail-optimized", 2, 200},
                                  {"100G per 2 GPUs", 4, 100},
                                  {"4x NDR-400 per 4-GPU tray", 8, 400},
                                  {"8 GPUs per node, 64 nodes, IB 200", 8, 200},
                                  {"IB, 2x8 GPUs", 8, 200},
                                  {"200 Gbps/GPU", 8, 200},
                                  {"200Gbps*8", 8, 200},
                                  {"1,600 Gbps", 8, 200},
                                  {"3,200 Gbps", 8, 400},
                                  {"3200Gbps InfiniBand", 8, 400},
                                  {"3.2 Tbps/node", 8, 400},
                                  {"400GB/s", 8, 400}});
  for (const char* words : {"2x OPA", "Omni-Path", "Omni-Path 100", "OPA-100"}) {
    EXPECT_EQ(scenario(worded(words)).cluster.fabric.efficiency,
              catalogue().fabrics.at("omni-path-100").efficiency)
        << words;
  }
}

TEST(NetworkWords, InstancesAreNamesAndThoseOfTheCatalogueHaveItsCards) {
  expect_cards("H100-SXM5-80GB", {{"GPUDirect-TCPXO (a3-megagpu-8g)", 8, 200},
                                  {"a3-megagpu-8g", 8, 200},
                                  {"A3 Mega", 8, 200},
                                  {"a3-highgpu-8g, GPUDirect-TCPX", 4, 200},
                                  {"AWS p5.48xlarge", 8, 400},
                                  {"8x400G (a3-megagpu-8g)", 8, 400},
                                  {"BM.GPU.H100.8 RDMA", 8, 400},
                                  {"ND96isr_H100_v5, NDR", 8, 400},
                                  {"p4d 4x100G EFA", 4, 100}});
  for (const auto& [words, fabric] :
       {std::pair("a3-megagpu-8g", "gpudirect-tcpxo"), std::pair("a3-highgpu-8g", "gpudirect-tcpx"),
        std::pair("p5.48xlarge", "efa")}) {
    EXPECT_EQ(scenario(worded(words)).cluster.fabric.efficiency,
              catalogue().fabrics.at(fabric).efficiency)
        << words;
    EXPECT_EQ(predicted(worded(words)).status, "ok-assumed") << words;
  }
  EXPECT_EQ(predicted(worded("a2-ultragpu-2g", "A100-SXM4-80GB")).status,
            "ok-assumed: not understood in network: a2-ultragpu-2g");
  EXPECT_EQ(predicted(worded("a3-megagpu-8g", "A100-SXM4-80GB")).status,
            "ok-assumed: not understood in network: a3-megagpu-8g");
  EXPECT_EQ(scenario(worded("a3-megagpu-8g", "A100-SXM4-80GB")).cluster.node.nic.count, 8);
}

// Clouds' nodes of A100, H200 and B200, of which none but Azure's, Oracle's and Google's newer ones
// has the cards of NVIDIA's own node.
TEST(NetworkWords, InstancesOfTheCloudsHaveTheirDocumentedCards) {
  expect_cards("A100-SXM4-80GB", {{"p4d.24xlarge", 4, 100},
                                  {"AWS p4d, EFA", 4, 100},
                                  {"p4de.24xlarge EFA 400 Gbps", 4, 100},
                                  {"EFA", 4, 100},
                                  {"EFA 400 Gbps", 4, 100},
                                  {"GCP a2-highgpu-8g", 1, 100},
                                  {"GCP a2-ultragpu-8g", 1, 100},
                                  {"Azure ND A100 v4", 8, 200},
                                  {"Azure NDm A100 v4", 8, 200},
                                  {"ND96asr_v4", 8, 200},
                                  {"Standard_ND96amsr_A100_v4", 8, 200},
                                  {"BM.GPU4.8", 8, 200},
                                  {"OCI BM.GPU.A100-v2.8", 8, 200}});
  expect_cards("H100-SXM5-80GB", {{"Azure ND H100 v5", 8, 400},
                                  {"Standard_ND96isr_H100_v5", 8, 400},
                                  {"BM.GPU.H100.8", 8, 400}});
  expect_cards("H200", {{"p5en.48xlarge", 8, 400}, {"ND H200 v5", 8, 400}});
  expect_cards("B200", {{"p6-b200.48xlarge", 8, 400}, {"a4-highgpu-8g", 8, 400}});
  for (const auto& [words, gpu] :
       {std::pair("p4d.24xlarge", "A100-40G-SXM"), std::pair("p5en.48xlarge", "H200"),
        std::pair("p6-b200.48xlarge", "B200")}) {
    EXPECT_EQ(scenario(worded(words, gpu)).cluster.fabric.node_latency,
              catalogue().fabrics.at("efa").node_latency)
        << words;
  }
  for (const char* words : {"p4d.24xlarge", "Azure NDm A100 v4", "BM.GPU4.8", "a2-highgpu-8g"}) {
    EXPECT_EQ(predicted(worded(words, "A100-40G-SXM")).status, "ok-assumed") << words;
  }
  EXPECT_EQ(scenario(worded("a2-megagpu-16g", "A100-40G-SXM")).cluster.node.nic.count, 1);
}

TEST(NetworkWords, OfALongCellTheFirstThousandCharactersAreRead) {
  std::string cell = "4x HDR";
  for (int i = 0; i < 100000; ++i) {
    cell += " 100 Gbps";
  }
  EXPECT_THAT(predicted(worded(cell.c_str())).status,
              HasSubstr("all behind its first thousand characters"));
}

TEST(NetworkWords, OversubscriptionNarrowsTheLeaves) {
  for (const auto& [words, ratio] :
       {std::pair("1:4 oversubscribed 100G", 4.0), std::pair("4x oversubscription, IB HDR", 4.0),
        std::pair("HDR, 2:1 oversubscription", 2.0), std::pair("8x200 HDR, 3:1 taper", 3.0),
        std::pair("8x200 HDR, 100:1 oversubscribed", 100.0),
        std::pair("NDR, oversubscription of 3", 3.0),
        std::pair("8x ConnectX-7 400 Gb/s (1:1)", 1.0), std::pair("NDR, no oversubscription", 1.0),
        std::pair("RoCE 400G, 3-layer Clos (1:7 oversubscribed agg)", 1.0)}) {
    EXPECT_EQ(scenario(worded(words)).cluster.fabric.leaf_oversubscription, ratio) << words;
    EXPECT_EQ(predicted(worded(words)).status, "ok-assumed") << words;
  }
  EXPECT_THAT(predicted(worded("NDR, oversubscribed")).status,
              HasSubstr("not understood in network: oversubscription"));
}

// Told, and the interval is wider, though the network is assumed anyway.
TEST(NetworkWords, WhatIsNotUnderstoodIsToldAndWidens) {
  const double known = width(predicted(worded("8x200G")));
  for (const auto& [words, told] :
       {std::pair("8x200G zorp", "zorp"), std::pair("8x200G 1600", "1600"),
        std::pair("8x200G 3dtorus", "3dtorus"), std::pair("8x200G, 2400G per GPU", "2400 g"),
        std::pair("8x200G, 512 GB", "512 gb"), std::pair("8x200G, 1:2 NIC:GPU", "1:2")}) {
    const auto p = predicted(worded(words));
    EXPECT_EQ(p.status, std::string("ok-assumed: not understood in network: ") + told);
    EXPECT_THAT(p.assumed, testing::IsSupersetOf({"network", "words of network"})) << words;
    EXPECT_GT(width(p), known) << words;
  }
  EXPECT_EQ(predicted(worded("12.8 Tbps")).status,
            "skipped:network '12.8 Tbps' has 1600 Gbps for each of 8 cards: none is so fast");
  EXPECT_EQ(predicted(worded("ConnectX-9, 1600 Gbps per GPU")).status, "ok-assumed");
}

}  // namespace
}  // namespace headway::validation
