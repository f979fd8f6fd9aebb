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

}  // namespace
}  // namespace headway::validation
