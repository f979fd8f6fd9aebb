// ibnetdiscover files: a large fabric gives its counts, a small one its shape, broken ones the
// line.
#include "sim/import/network/ibnetdiscover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"

#include "tests/import/infiniband_fabric.h"

namespace headway::import {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string ibnet_message(std::string_view text) {
  try {
    read_ibnetdiscover(text, "fabric.txt");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

/// Two leaves, one spine, two servers with two cards each: card r of a server is on leaf r.
const std::string kSmall = R"(# a comment
vendid=0x2c9
Switch	3 "S-1"		# "leaf 1" enhanced port 0 lid 1 lmc 0
[1]	"H-a1"[1](a1) 		# "node-a mlx5_0" lid 5 4xHDR
[2]	"H-b1"[1](b1) 		# "node-b HCA-1" lid 6 4xHDR
[3]	"S-3"[1]		# "spine" lid 3 4xHDR
[4]	"H-x"[1](x) 		# "Mellanox Technologies Aggregation Node" lid 9 4xHDR

Switch	3 "S-2"		# "leaf 2" enhanced port 0 lid 2 lmc 0
[1]	"H-a2"[1](a2) 		# "node-a mlx5_1" lid 7 4xHDR
[2]	"H-b2"[1](b2) 		# "node-b HCA-2" lid 8 4xHDR
[3]	"S-3"[2]		# "spine" lid 3 4xHDR

Switch	3 "S-3"		# "spine" enhanced port 0 lid 3 lmc 0
[1]	"S-1"[3]		# "leaf 1" lid 1 4xHDR
[2]	"S-2"[3]		# "leaf 2" lid 2 4xHDR

Ca	1 "H-a1"		# "node-a mlx5_0"
[1](a1) 	"S-1"[1]		# lid 5 lmc 0 "leaf 1" lid 1 4xHDR

Ca	1 "H-a2"		# "node-a mlx5_1"
[1](a2) 	"S-2"[1]		# lid 7 lmc 0 "leaf 2" lid 2 4xHDR

Ca	1 "H-b1"		# "node-b HCA-1"
[1](b1) 	"S-1"[2]		# lid 6 lmc 0 "leaf 1" lid 1 4xHDR

Ca	1 "H-b2"		# "node-b HCA-2"
[1](b2) 	"S-2"[2]		# lid 8 lmc 0 "leaf 2" lid 2 4xHDR

Ca	1 "H-x"		# "Mellanox Technologies Aggregation Node"
[1](x) 	"S-1"[4]		# lid 9 lmc 0 "leaf 1" lid 1 4xHDR
)";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Ibnetdiscover, ASmallFabricHasItsRailsAndOversubscription) {
  const ImportedFabric result = read_ibnetdiscover(kSmall, "fabric.txt");
  EXPECT_EQ(result.fabric.topology, network::Topology::rail_optimized);
  EXPECT_EQ(result.fabric.tiers, 2);
  EXPECT_EQ(result.nodes, 2);
  EXPECT_EQ(result.nics_per_node, 2);
  EXPECT_EQ(result.leaves, 2);
  EXPECT_EQ(result.spines, 1);
  EXPECT_EQ(result.fabric.ports_per_leaf, 2);           // the aggregation node is no server
  EXPECT_EQ(result.fabric.leaf_oversubscription, 2.0);  // two cards share one uplink
  EXPECT_EQ(result.fabric.link_bandwidth.si(), 25e9);   // 4 lanes of 50 Gbps
  EXPECT_THAT(result.hosts, testing::ElementsAre("node-a", "node-b"));
  EXPECT_TRUE(result.warnings.empty());
}

ImportedFabric written(const InfinibandFabric& fabric) {
  return read_ibnetdiscover(ibnetdiscover_text(fabric), "fabric.out");
}

// 8 pods x 4 rails = 32 leaves and 8 spines; 8 x 16 = 128 servers, whose 512 cards are all NDR: 4
// lanes of 100 Gbps. A leaf has 16 cards below and 8 x 2 cables above. The 40 aggregation nodes are
// no cards of servers.
TEST(Ibnetdiscover, AFabricOf40SwitchesHasItsRails) {
  const ImportedFabric result = written({});
  EXPECT_EQ(result.leaves, 32);
  EXPECT_EQ(result.spines, 8);
  EXPECT_EQ(result.cores, 0);
  EXPECT_EQ(result.fabric.tiers, 2);
  EXPECT_EQ(result.fabric.topology, network::Topology::rail_optimized);
  EXPECT_EQ(result.nics_per_node, 4);
  EXPECT_EQ(result.nodes, 128);
  EXPECT_EQ(result.hosts.size(), 128U);
  EXPECT_EQ(result.fabric.ports_per_leaf, 16);
  EXPECT_EQ(result.fabric.link_bandwidth.si(), 50e9);
  EXPECT_EQ(result.fabric.leaf_oversubscription, 1.0);
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
}

// One cable to each spine: 16 cards share 8 cables.
TEST(Ibnetdiscover, HalfOfTheCablesAreTwiceTheOversubscription) {
  EXPECT_EQ(written({.cables = 1}).fabric.leaf_oversubscription, 2.0);
  EXPECT_EQ(written({.spines = 2, .cables = 2}).fabric.leaf_oversubscription, 4.0);
}

// The same switches and cables, but all cards of a server on one leaf.
TEST(Ibnetdiscover, ServersOnOneLeafAreNoRails) {
  const ImportedFabric result = written({.on_rails = false});
  EXPECT_EQ(result.fabric.topology, network::Topology::fat_tree);
  EXPECT_EQ(result.leaves, 32);
  EXPECT_EQ(result.nodes, 128);
  EXPECT_EQ(result.fabric.ports_per_leaf, 16);
}

// Of 512 cards every 16th, 32 of them, never learnt its server: one card of 32 servers. The cards
// still tell how many servers there are: 512 / 4.
TEST(Ibnetdiscover, CardsWithoutAServersNameAreCounted) {
  const ImportedFabric result = written({.unnamed_every = 16});
  EXPECT_EQ(result.nics_per_node, 4);
  EXPECT_EQ(result.nodes, 128);
  EXPECT_EQ(result.fabric.topology, network::Topology::rail_optimized);
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr("32 of 512 network cards do not name their server; 128 servers")));
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr("32 of 128 named servers have another number of cards than 4")));
}

// What ibnetdiscover prints on a host whose only port is down.
TEST(Ibnetdiscover, AFileWithOneCardAloneIsNoFabric) {
  EXPECT_THAT(
      ibnet_message("#\n# Topology file: generated on Mon Jan  6 08:00:00 2025\n#\n"
                    "# Initiated from node beef01 port beef01\n\nvendid=0x2c9\ndevid=0x1021\n"
                    "sysimgguid=0xbeef01\ncaguid=0xbeef01\n"
                    "Ca\t1 \"H-beef01\"\t\t# \"worker001 HCA-1\"\n"),
      HasSubstr("fabric.txt:10:1: the file lists no switch, so it shows no fabric"));
}

TEST(Ibnetdiscover, AFabricCutInTheMiddleIsRefused) {
  const std::string whole = ibnetdiscover_text();
  EXPECT_THAT(ibnet_message(whole.substr(0, whole.rfind("\nvendid"))),
              HasSubstr("has no section in this file; is the file cut?"));
}

TEST(Ibnetdiscover, ACutFileNamesTheCableThatLosesItsEnd) {
  const std::string cut = kSmall.substr(0, kSmall.find("Switch	3 \"S-3\""));
  EXPECT_THAT(ibnet_message(cut),
              HasSubstr("fabric.txt:6:1: the cable's far end 'S-3' has no section "
                        "in this file; is the file cut?"));
}

TEST(Ibnetdiscover, BothEndsOfACableMustAgree) {
  EXPECT_THAT(ibnet_message(replaced("[1]	\"S-1\"[3]		# \"leaf 1\"",
                                     "[1]	\"S-1\"[9]		# \"leaf 1\"")),
              HasSubstr("fabric.txt:15:1: 'S-1' does not list this cable at its port 9"));
  EXPECT_THAT(ibnet_message(replaced("[2]	\"S-2\"[3]", "[1]	\"S-2\"[3]")),
              HasSubstr("port 1 of 'S-3' is listed twice"));
}

TEST(Ibnetdiscover, DamagedLinesAreNamed) {
  EXPECT_THAT(ibnet_message(replaced("[3]	\"S-3\"[1]		# \"spine\" lid 3 4xHDR",
                                     "[3]	\"S-3\"[1]		# \"spine\" lid 3 4xWOW")),
              HasSubstr("fabric.txt:6:1: '4xWOW' is no link speed"));
  EXPECT_THAT(ibnet_message(replaced("[3]	\"S-3\"[1]", "[3]	\"S-3")),
              HasSubstr("fabric.txt:6:1: a port is written"));
  EXPECT_THAT(ibnet_message("hello\n"),
              HasSubstr("fabric.txt:1:1: this line is none that ibnetdiscover prints"));
  EXPECT_THAT(ibnet_message("[1] \"S-1\"[2] # 4xNDR\n"),
              HasSubstr("a port outside any 'Switch' or 'Ca' section"));
  EXPECT_THAT(ibnet_message(""), HasSubstr("fabric.txt: the file lists no switch"));
}

// A server that tells its name and, after the blank, no card.
TEST(Ibnetdiscover, ACardWithoutANameHasNoServer) {
  EXPECT_EQ(ibnet_message(replaced("\"H-a1\"		# \"node-a mlx5_0\"",
                                   "\"H-a1\"		# \"node-a  \"")),
            "no error");
}

TEST(Ibnetdiscover, ADeviceMayBeListedOnce) {
  EXPECT_THAT(ibnet_message(kSmall + "\nCa	1 \"H-b2\"		# \"node-b HCA-2\"\n"),
              HasSubstr("device 'H-b2' is listed a second time"));
}

TEST(Ibnetdiscover, PodsOfAThreeTierFabricAreFound) {
  // Two pods, each one leaf with two servers and one spine; one core joins the spines.
  SwitchGraph graph;
  graph.link_bandwidth = core::BytesPerSecond(50e9);
  graph.switches = {{"leaf a", {{2, 2}}, 2},
                    {"leaf b", {{3, 2}}, 2},
                    {"spine a", {{0, 2}, {4, 1}}, 0},
                    {"spine b", {{1, 2}, {4, 1}}, 0},
                    {"core", {{2, 1}, {3, 1}}, 0}};
  graph.host_ports = {{"n1", 0}, {"n2", 0}, {"n3", 1}, {"n4", 1}};
  const ImportedFabric result = describe_fabric(graph, "test");
  EXPECT_EQ(result.fabric.tiers, 3);
  EXPECT_EQ(result.fabric.leaves_per_pod, 1);
  EXPECT_EQ(result.fabric.leaf_oversubscription, 1.0);
  EXPECT_EQ(result.fabric.spine_oversubscription,
            2.0);  // two cables from below share one to the core
  EXPECT_EQ(result.fabric.topology, network::Topology::fat_tree);
}

}  // namespace
}  // namespace headway::import
